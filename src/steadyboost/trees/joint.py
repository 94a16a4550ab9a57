"""Columns of few bins, joined so that one addition serves several of them.

Two columns of 4 and 13 bins are one of 52, whose histogram has those of both as marginal sums.
Sums are of integers, so nothing is lost. The bin of a joint column is
``bin_a + n_a * (bin_b + n_b * ...)``.
"""

import numpy as np

from steadyboost.trees.histogram import label_stride
from steadyboost.trees.jit import kernel, plain

MAX_WIDTH = 256  # bins of a joint column: it fits a byte
MAX_CELLS = 4096  # bins times channels: a histogram of several such columns stays in the cache
PAYS = 2  # additions saved for each one that taking the margins costs

Joint = tuple[np.ndarray, ...]  # packed bins, numbers of the columns, offsets, members

NOT_JOINED: Joint = (
    np.empty((0, 0), dtype=np.uint32),
    np.empty(0, dtype=np.int64),
    np.zeros(1, dtype=np.int64),
    np.empty((0, 3), dtype=np.int64),
)


@kernel
def _join(packed, member, shift, out):
    """Add a column's bins, times its stride, to the byte of a joint column."""
    _, feature, stride = member
    words, own_shift = packed[feature >> 2], np.uint32(8 * (feature & 3))
    for i in range(len(out)):
        bin_ = (words[i] >> own_shift) & np.uint32(255)
        out[i] += (bin_ * np.uint32(stride)) << np.uint32(shift)


def plan(widths: np.ndarray, n_channels: int) -> tuple[np.ndarray, list[int]]:
    """Which columns to join: (column, feature, stride) of each, and the widths of the joint ones.

    The widest first, each into the first joint column that has room.
    """
    limit = min(MAX_WIDTH, MAX_CELLS // n_channels)
    joined: list[int] = []
    members = []
    for feature in np.argsort(-widths, kind="stable").tolist():
        width = int(widths[feature])
        room = (c for c, taken in enumerate(joined) if taken * width <= limit)
        column = next(room, len(joined))
        if column == len(joined):
            joined.append(1)
        members.append((column, feature, joined[column]))
        joined[column] *= width
    return np.array(members, dtype=np.int64).reshape(-1, 3), joined


def join_columns(packed: np.ndarray, widths: np.ndarray, n_channels: int) -> Joint:
    """Columns joined as planned; NOT_JOINED where none can be, or too few rows to pay for it."""
    members, joined = plan(widths, n_channels)
    n = packed.shape[1]
    if not pays(n, len(widths) - len(joined), sum(joined) * n_channels):
        return NOT_JOINED
    out = np.zeros(((len(joined) + 3) // 4, n), dtype=np.uint32)
    for member in members:
        _join(packed, tuple(member), 8 * (member[0] % 4), out[member[0] // 4])
    return out, np.arange(len(joined)), np.cumsum([0, *joined]), members


def pays(n_rows: int, n_saved: int, n_cells: int) -> bool:
    """Whether joint columns with so many cells save more additions than their margins cost."""
    return n_rows * n_saved > PAYS * n_cells


@plain
def joint_pays(joint, n_rows, n_features, n_channels):
    """Whether to use joint columns for so many rows."""
    _, columns, offsets, members = joint
    if len(members) != n_features:  # not all of them are needed
        return False
    return n_rows * (n_features - len(columns)) > PAYS * offsets[-1] * n_channels


@plain
def take_margins(joint, joint_hist, offsets, n_channels, hist):
    """Add up histograms of single columns from those of joint ones, which are label by label."""
    _, _, joint_offsets, members = joint
    for k in range(len(members)):
        column, feature, stride = members[k]
        width = offsets[feature + 1] - offsets[feature]
        first, end, step = joint_offsets[column], joint_offsets[column + 1], stride * width
        for c in range(n_channels):
            own = joint_hist[c * label_stride(joint_offsets[-1]) :][first:end]
            for bin_ in range(width):
                total, place = np.int64(0), bin_ * stride
                if stride * step < len(own):  # the longer loop is the inner one
                    for low in range(place, place + stride):
                        for cell in range(low, len(own), step):
                            total += own[np.uint64(cell)]
                else:
                    for start in range(place, len(own), step):
                        for cell in range(start, start + stride):
                            total += own[np.uint64(cell)]
                hist[(offsets[feature] + bin_) * n_channels + c] += total


@plain
def add_vectors(joint, joint_sums, offsets, n_channels, sums):
    """As ``take_margins`` where the channels of a cell are neighbours, as they are if many."""
    _, _, joint_offsets, members = joint
    for k in range(len(members)):
        column, feature, stride = members[k]
        width = offsets[feature + 1] - offsets[feature]
        first, end = joint_offsets[column], joint_offsets[column + 1]
        for start in range(first, end, stride * width):
            for bin_ in range(width):
                out = sums[(offsets[feature] + bin_) * n_channels :]
                for low in range(stride):
                    cell = (start + bin_ * stride + low) * n_channels
                    for c in range(n_channels):
                        out[c] += joint_sums[cell + c]


@kernel
def split_joint(joint, sums, starts):
    """The sums of single features, from those of columns that join them."""
    n_channels = sums.shape[1]
    out = np.zeros((starts[-1], n_channels))
    add_vectors(joint, sums.ravel(), starts, n_channels, out.ravel())
    return out
