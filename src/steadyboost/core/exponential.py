"""An exponential that compiles to vector instructions.

numba calls the C library for ``exp``, one number at a time; boosting over (row, label) pairs is
made of exponentials. This one is a polynomial without branches, right to about 2e-16.
"""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest integer in the low bits


@intrinsic
def _bits(typing_context: Any, number: Any) -> Any:
    """The 64 bits of a float, as an integer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _float(typing_context: Any, bits: Any) -> Any:
    """The float that 64 bits stand for."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit(nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=True)
def exp(x: float) -> float:
    """e**x for x up to 709; below -708 as at -708, which is 3e-308.

    x = k ln 2 + r with |r| <= ln(2) / 2; a Taylor polynomial of degree 13 gives e**r, and k is
    added to its exponent.
    """
    x = max(x, -708.0)
    shifted = x * 1.4426950408889634 + _ROUND
    k = shifted - _ROUND
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.388888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return _float(_bits(p) + (_bits(shifted) << 52))  # type: ignore[call-arg]
