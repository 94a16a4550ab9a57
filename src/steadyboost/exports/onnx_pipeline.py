"""The steps of a pipeline before its booster, in ONNX: skl2onnx converts them."""

from onnx import ModelProto, TensorProto, compose, helper
from sklearn.pipeline import Pipeline

from steadyboost.exports.extras import explained
from steadyboost.exports.onnx_columns import MATRIX, NUMBERS
from steadyboost.exports.onnx_graph import OPSETS

PREFIX = "steps_"  # of names in the graph of the steps
SEEN = "steadyboost_matrix"  # the matrix that the booster sees


def front_of(pipeline: Pipeline, dtype: str) -> ModelProto:
    """All steps but the last, from a matrix ``X`` to the matrix that the booster sees."""
    try:
        import skl2onnx  # slow to import, and of no use without a pipeline
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    except ModuleNotFoundError as error:
        raise explained(error, "to_onnx of a pipeline") from error

    kind = DoubleTensorType if dtype == "float64" else FloatTensorType
    shape = [None, pipeline.n_features_in_]
    front = skl2onnx.convert_sklearn(
        pipeline[:-1], initial_types=[(MATRIX, kind(shape))], target_opset={"": OPSETS[""]}
    )
    # Operators that an older version of a set has are in the newer, too.
    del front.opset_import[:]
    front.opset_import.extend(helper.make_opsetid(*one) for one in OPSETS.items())
    return front


def number_kind(front: ModelProto) -> str:
    """The type of the numbers that the steps hand on."""
    kind = front.graph.output[0].type.tensor_type.elem_type
    known = {code: name for name, code in NUMBERS.items()}
    if kind not in known:
        raise ValueError(
            f"The step before the booster gives {TensorProto.DataType.Name(kind)} in ONNX, where "
            "numbers are needed; put a step after it that makes numbers."
        )
    return known[kind]


def joined(front: ModelProto, booster: ModelProto) -> ModelProto:
    """One model of both, with the outputs of the booster."""
    front.ir_version = booster.ir_version
    steps = compose.add_prefix(front, PREFIX, rename_inputs=False)
    booster.graph.input[0].name = SEEN
    for node in booster.graph.node:
        for place, name in enumerate(node.input):
            if name == MATRIX:
                node.input[place] = SEEN
    return compose.merge_models(
        steps,
        booster,
        io_map=[(steps.graph.output[0].name, SEEN)],
        producer_name=booster.producer_name,
        producer_version=booster.producer_version,
    )
