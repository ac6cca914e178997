"""Sets of points as 64-bit words, and the generator of random numbers."""

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

from junqi.kernels.jit import njit

U0 = np.uint64(0)
U1 = np.uint64(1)
U32 = np.uint64(32)
U63 = np.uint64(63)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27 = np.uint64(27)
_S30 = np.uint64(30)
_S31 = np.uint64(31)

_WORD = ir.IntType(64)
HAS_DEPOSIT = bool(binding.get_host_cpu_features().get("bmi2"))


@intrinsic
def popcount(_context: Any, _word: Any) -> Any:
    """The number of points in a set."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def first(_context: Any, _word: Any) -> Any:
    """The smallest point of a set that is not empty."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


@intrinsic
def _leading_zeros(_context: Any, _word: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


@intrinsic
def _deposit(_context: Any, _bits: Any, _mask: Any) -> Any:
    """The bits of the first word laid out over the points of the second (x86's PDEP)."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        signature = ir.FunctionType(_WORD, [_WORD, _WORD])
        function = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", fnty=signature)
        return builder.call(function, arguments)

    return types.uint64(types.uint64, types.uint64), generate


@njit
def last(word):
    """The largest point of a set that is not empty."""
    return U63 - _leading_zeros(word)


@njit
def nth_by_deposit(word, n):
    """`nth` where the processor has an instruction for it."""
    return first(_deposit(U1 << n, word))


@njit
def nth_by_loop(word, n):
    """`nth` everywhere else."""
    while n > U0:
        word &= word - U1
        n -= U1
    return first(word)


# The n-th point of a set, counted from 0; the set has more than n points.
nth = nth_by_deposit if HAS_DEPOSIT else nth_by_loop


@njit
def random_state(seed):
    """The generator's state for a seed; neighbouring seeds give unrelated streams."""
    return scramble(np.uint64(seed) * _GOLDEN + _MIX1)


@njit
def advance(state):
    """The next state of the generator, which is splitmix64."""
    return state + _GOLDEN


@njit
def scramble(state):
    """The 64 random bits of a state."""
    z = (state ^ (state >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@njit
def below(bits, n):
    """A number from 0 to n - 1, made of the upper half of 64 random bits."""
    return ((bits >> U32) * n) >> U32
