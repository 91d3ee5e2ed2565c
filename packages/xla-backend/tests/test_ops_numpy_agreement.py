"""Every op of lawful.ops, compiled, gives what its NumPy implementation gives, over calls drawn from its declaration.

A new op is reached with no edit here.
"""

import math
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import settings

from lawful import ops
from lawful.core import Declaration, Interval, Primitive, ShapedArray, as_dtype, get_aval, is_inexact
from lawful.xla_backend import backend

DTYPES = {
    "b": ("bool",),
    "i": ("int8", "int16", "int32", "int64"),
    "u": ("uint8", "uint16", "uint32", "uint64"),
    "f": ("float16", "bfloat16", "float32", "float64"),
    "c": ("complex64", "complex128"),
}
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0)
#: Calls of each op: in its domain, and with special values. The profile "few" repeats tests in other surroundings.
COUNTS = (4, 3) if settings.default.max_examples > 4 else (3, 2)
PRIMITIVES = {
    p.name: p
    for p in (getattr(ops, name) for name in ops.__all__)
    if isinstance(p, Primitive) and p.declaration is not None
}


class Draw:
    """Draws from a seeded generator, as declarations ask for; four calls have as many dtypes, if there are."""

    def __init__(self, name: str, seed: int, special: bool) -> None:
        self.random = np.random.default_rng(seed)
        self.special = special
        # Another dtype comes first for each op. The step has no factor in common with the numbers of dtypes.
        self.place = zlib.crc32(name.encode()) + 11 * seed
        self.is_first_dtype = True

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.integer(0, len(choices) - 1)]

    def shape(self, min_ndim: int = 0, max_ndim: int = 3) -> tuple[int, ...]:
        return tuple(self.integer(0, 4) for _ in range(self.integer(min_ndim, max_ndim)))

    def dtype(self, kinds: str) -> np.dtype:
        # Of complex infinities and branch cuts at -0, NumPy's and XLA's formulas make different things.
        kinds = "f" if self.special and "f" in kinds else kinds
        names = [name for kind in kinds for name in DTYPES[kind]]
        if self.is_first_dtype:
            self.is_first_dtype = False
            return as_dtype(names[self.place % len(names)])
        return as_dtype(self.one_of(names))

    def array(self, aval: ShapedArray, interval: Interval) -> np.ndarray:
        shape, dtype = aval.shape, aval.dtype
        low, high = interval.low, interval.high
        if dtype.kind in "biu":
            low = math.ceil(low) if dtype.kind == "i" else max(math.ceil(low), 0)
            return np.asarray(self.random.integers(low, max(math.floor(high), low) + 1, shape)).astype(dtype)
        x = np.empty(shape, dtype)
        for part in (x.real, x.imag) if dtype.kind == "c" else (x,):
            part[...] = self.random.choice(SPECIAL, shape) if self.special else self.random.uniform(low, high, shape)
        return x


def is_undefined(args: list[np.ndarray], params: dict[str, Any]) -> bool:
    """Whether a call converts NaN or infinity to an integer, which has no answer."""
    to = params.get("new_dtype")
    return to is not None and to.kind in "iu" and not np.all(np.isfinite(args[0].astype(np.complex128)))


def is_unequal(declaration: Declaration, args: list[np.ndarray], params: dict[str, Any]) -> bool:
    """Whether a primitive that is not pointwise is declared to give something else on XLA at these arguments."""
    return not declaration.pointwise and any(one.point(*args, **params) for one in declaration.unequal)


def drawn_calls(primitive: Primitive, count: int, special: bool) -> Iterator[tuple[list[np.ndarray], dict[str, Any]]]:
    declaration = primitive.declaration
    for seed in range(count):
        draw = Draw(primitive.name, seed, special)
        avals, params = declaration.sample(draw)
        domain = declaration.domain
        args = [draw.array(aval, domain[min(i, len(domain) - 1)]) for i, aval in enumerate(avals)]
        if declaration.prepare is not None and not special:
            args = [np.asarray(x) for x in declaration.prepare(*args, **params)]
        if not is_undefined(args, params) and not is_unequal(declaration, args, params):
            yield args, params


def compiled_results(program, primitive: Primitive, calls) -> list[list[np.ndarray]]:
    """Returns the results of all calls, which are one program: compiling each alone would take long."""
    abstract_eval = primitive.rule("abstract_eval")
    counts = []

    def build(record, *variables):
        rest = iter(variables)
        outs = []
        for args, params in calls:
            operands = [next(rest) for _ in args]
            avals = abstract_eval(*[x.aval for x in operands], **params)
            out = record(primitive, *operands, out=avals, **params)
            outs.append(out if primitive.multiple_results else [out])
            counts.append(len(outs[-1]))
        return [x for out in outs for x in out]

    flat = [x for args, _ in calls for x in args]
    closed = program(build, *map(get_aval, flat))
    results = iter(backend.lower(closed, name=primitive.name).compile()(*flat))
    return [[next(results) for _ in range(count)] for count in counts]


def assert_agree(x: Any, y: Any, text: str) -> None:
    x, y = np.asarray(x), np.asarray(y)
    assert x.dtype == y.dtype, text
    assert x.shape == y.shape, text
    if not is_inexact(x.dtype):
        assert np.array_equal(x, y), f"{text}: {x} and {y}"
        return
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    eps = float(ml_dtypes.finfo(x.dtype).eps)
    np.testing.assert_allclose(x.astype(wide), y.astype(wide), rtol=32 * eps, atol=32 * eps, err_msg=text)


@pytest.mark.parametrize("special", [False, True], ids=["domain", "special values"])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_ops_compiled_is_numpys(program, name: str, special: bool) -> None:
    primitive = PRIMITIVES[name]
    calls = list(drawn_calls(primitive, COUNTS[special], special))
    for (args, params), outs in zip(calls, compiled_results(program, primitive, calls), strict=True):
        with np.errstate(all="ignore"):
            expected = primitive.rule("impl")(*args, **params)
        expected = expected if primitive.multiple_results else [expected]
        for out, value in zip(outs, expected, strict=True):
            assert_agree(out, value, f"{name} of {args} with {params}")
