"""King and rook against king: every position with its exact distance to mate."""

from __future__ import annotations

import numpy as np

_LABELS = (
    "draw zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen"
)
# Square s has file s // 8 and rank s % 8, so that rising squares run a1, a2, ..., h8.
_FILE, _RANK = np.divmod(np.arange(64), 8)


def make_krkopt() -> tuple[np.ndarray, np.ndarray]:
    """Compute the UCI chess set "king and rook against king": 28,056 positions.

    White has king and rook, Black a king and the move. The label is the number of moves
    White needs to mate against best play, 'zero' for a mated Black, or 'draw'. Positions
    that mirror images of the board turn into each other occur once. The labels come from
    retrograde analysis, and rows are in the order of the UCI file.

    Returns
    -------
    X : ndarray of str, shape (28056, 6)
        File ('a' to 'h') and rank ('1' to '8') of white king, white rook, black king.
    y : ndarray of str, shape (28056,)
        'draw', 'zero', 'one', ..., 'sixteen'.

    Examples
    --------
    >>> from steadyboost.lab.datasets import make_krkopt
    >>> X, y = make_krkopt()
    >>> "".join(X[0]), str(y[0]), X.shape
    ('a1b3c2', 'draw', (28056, 6))
    """
    depth = _moves_to_mate()
    squares = np.argwhere(_legal() & _canonical())
    label = depth[tuple(squares.T)] + 1
    order = np.lexsort((*squares.T[::-1], label))
    squares = squares[order]
    X = np.empty((len(squares), 6), dtype="<U1")
    X[:, 0::2] = np.array(list("abcdefgh"))[_FILE[squares]]
    X[:, 1::2] = np.array(list("12345678"))[_RANK[squares]]
    return X, np.array(_LABELS.split())[label[order]]


def _king_steps() -> np.ndarray:
    """Mark the pairs of squares (64, 64) that are one king's move apart."""
    files = np.abs(_FILE[:, None] - _FILE)
    ranks = np.abs(_RANK[:, None] - _RANK)
    return np.maximum(files, ranks) == 1


def _rook_lines() -> np.ndarray:
    """Mark (white king, rook, square) where the rook sees the square past its own king.

    The black king blocks nothing: it may not retreat along the line of a check, and with
    White to move it never stands on that line.
    """
    king, rook, square = np.ix_(range(64), range(64), range(64))
    lines = np.zeros((64, 64, 64), dtype=bool)
    for along, across in ((_FILE, _RANK), (_RANK, _FILE)):
        on_line = (across[rook] == across[square]) & (rook != square)
        from_rook = along[king] - along[rook]
        from_square = along[king] - along[square]
        between = (across[king] == across[rook]) & (from_rook * from_square < 0)
        lines |= on_line & ~between
    return lines


def _legal() -> np.ndarray:
    """Mark legal (white king, rook, black king) with Black to move."""
    wk, wr, bk = np.ix_(range(64), range(64), range(64))
    apart = ~_king_steps() & ~np.eye(64, dtype=bool)
    return apart[wk, bk] & (wk != wr) & (wr != bk)


def _canonical() -> np.ndarray:
    """Mark one of each set of mirror images: white king in the triangle a1-d1-d4.

    A white king on the diagonal leaves one mirror, settled by the black king and, if that
    is on the diagonal too, by the rook.
    """
    wk, wr, bk = np.ix_(range(64), range(64), range(64))
    below, diagonal = _RANK <= _FILE, _RANK == _FILE
    triangle = below[wk] & (_FILE[wk] <= 3)
    settled_by_rook = below[bk] & (~diagonal[bk] | below[wr])
    return triangle & (~diagonal[wk] | settled_by_rook)


def _moves_to_mate() -> np.ndarray:
    """Return the number of white moves to mate with Black to move, -1 for a draw.

    Works backwards: Black has lost where every legal move leads into a position already
    known as won for White, and White wins where some move leads to a loss of Black.
    Counting such moves is a product of 0/1 arrays over the target squares.
    """
    steps, lines, legal = _king_steps(), _rook_lines(), _legal()
    step_count, line_count = steps.astype(np.float32), lines.astype(np.float32)
    king_next_to = steps | np.eye(64, dtype=bool)
    # An unprotected rook's own square is safe: taking it draws, as `won` is never set there.
    safe = ~king_next_to[:, None, :] & ~lines
    stalemate = ~lines & (safe @ step_count == 0)
    depth = np.full((64, 64, 64), -1)
    won = np.zeros((64, 64, 64), dtype=bool)
    while True:
        escapes = (safe & ~won) @ step_count
        lost = legal & ~stalemate & (escapes == 0)
        if not (lost & (depth < 0)).any():
            return depth
        depth[lost & (depth < 0)] = depth.max() + 1
        lost_count = lost.astype(np.float32)
        by_king = (step_count @ lost_count.reshape(64, -1)).reshape(64, 64, 64)
        won = legal & (by_king + line_count @ lost_count > 0)
