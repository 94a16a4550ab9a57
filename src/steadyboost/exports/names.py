"""What columns, classes, tests and answers are called."""

from typing import Any


def feature_names(model: Any) -> list[str]:
    """Those of the training table, or x0, x1 ..."""
    known = getattr(model, "feature_names_in_", None)
    return (
        [f"x{f}" for f in range(model.n_features_in_)] if known is None else list(map(str, known))
    )
