"""Fixtures for tests of rules: calls drawn from a declaration, and a trace that checks the type of every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful.core import (
    ClosedJaxpr,
    Interval,
    Jaxpr,
    JaxprEqn,
    Primitive,
    ShapedArray,
    Trace,
    Tracer,
    Var,
    as_dtype,
    current,
    get_aval,
    is_inexact,
    kind,
    new_trace,
    register_array_type,
    set_current,
)

Call = tuple[list[Any], dict[str, Any], "Seeded"]

EVERY_DTYPE = {
    "b": ("bool",),
    "i": ("int8", "int16", "int32", "int64"),
    "u": ("uint8", "uint16", "uint32", "uint64"),
    "f": ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn"),
    "c": ("complex64", "complex128"),
}
DOUBLES = {"f": ("float64",), "c": ("complex128",)}


class Seeded:
    """Draws from a seeded generator; dtypes from ``names``, or any of a dtype kind that has none there."""

    def __init__(self, seed: int, names: dict[str, tuple[str, ...]]) -> None:
        self.random = np.random.default_rng(seed)
        self.names = names

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.integer(0, len(choices) - 1)]

    def shape(self, min_ndim: int = 0, max_ndim: int = 3) -> tuple[int, ...]:
        return tuple(self.integer(0, 4) for _ in range(self.integer(min_ndim, max_ndim)))

    def dtype(self, kinds: str) -> np.dtype[Any]:
        names = [name for letter in kinds for name in self.names.get(letter, ())]
        return as_dtype(self.one_of(names or [name for letter in kinds for name in EVERY_DTYPE[letter]]))

    def array(self, aval: ShapedArray, interval: Interval) -> np.ndarray[Any, Any]:
        shape, dtype = aval.shape, aval.dtype
        if dtype.kind == "b":
            return self.random.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            low, high = (
                max(round(end), 0) if dtype.kind == "u" else round(end) for end in (interval.low, interval.high)
            )
            return self.random.integers(low, high + 1, shape).astype(dtype)
        x = self.random.uniform(interval.low, interval.high, shape)
        if dtype.kind == "c":
            x = x + 1j * self.random.uniform(interval.low, interval.high, shape)
        return np.asarray(x).astype(dtype)

    def arrays(self, primitive: Primitive, avals: Sequence[ShapedArray]) -> list[Any]:
        assert primitive.declaration is not None
        domain = primitive.declaration.domain
        return [self.array(aval, domain[min(i, len(domain) - 1)]) for i, aval in enumerate(avals)]


def drawn_calls(
    primitive: Primitive, names: dict[str, tuple[str, ...]] = EVERY_DTYPE, draws: int = 60
) -> Iterator[Call]:
    assert primitive.declaration is not None
    for seed in range(draws):
        choose = Seeded(seed, names)
        avals, params = primitive.declaration.sample(choose)
        yield choose.arrays(primitive, avals), params, choose


@pytest.fixture
def calls() -> Callable[..., Iterator[Call]]:
    """``calls(primitive, names, draws)`` yields drawn ``(arrays, params, choose)`` of a primitive."""
    return drawn_calls


@pytest.fixture
def doubles() -> dict[str, tuple[str, ...]]:
    """The widest inexact dtypes, in which rounding cannot hide an error."""
    return DOUBLES


class StrictTrace(Trace):
    """Evaluates each call, and checks the value against the type of the abstract evaluation rule."""

    __slots__ = ("names", "params")

    def __init__(self, *, stages: bool) -> None:
        super().__init__(current.trace, "strict")
        self.evaluates_constants = not stages
        self.names: list[str] = []
        self.params: list[dict[str, Any]] = []

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        self.names.append(primitive.name)
        self.params.append(params)
        hash(tuple(params.items()))  # the parameters of a jaxpr are hashable
        aval = primitive.rule("abstract_eval")(*map(get_aval, args), **params)
        assert self.parent is not None
        with set_current(self.parent):
            out = primitive.bind(*args, **params)
        for value, expected in zip(out, aval, strict=True) if primitive.multiple_results else [(out, aval)]:
            assert get_aval(value) == expected, f"{primitive} gives {get_aval(value)}, its type says {expected}"
        return out


@pytest.fixture
def strictly() -> Callable[..., AbstractContextManager[StrictTrace]]:
    """A context, ``strictly(stages=True)``, that checks the type of every call, also of constants."""

    @contextmanager
    def strictly(*, stages: bool = True) -> Iterator[StrictTrace]:
        trace = StrictTrace(stages=stages)
        with new_trace(trace):
            yield trace

    return strictly


class AbstractTracer(Tracer):
    """A tracer with a type and no value."""

    __slots__ = ("aval", "source")

    def __init__(self, aval: ShapedArray) -> None:
        self._trace = current.trace
        self.aval = aval
        self.source = None


register_array_type(AbstractTracer, aval=lambda x: x.aval)


@pytest.fixture
def abstract() -> Callable[..., Tracer]:
    """``abstract(shape, dtype, weak_type)`` is a tracer with a type and no value."""
    return lambda shape, dtype, weak_type=False: AbstractTracer(ShapedArray(shape, dtype, weak_type))


def evaluate_compiled(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
    backend = pytest.importorskip("lawful.xla_backend").Backend()
    avals = [get_aval(x) for x in args]
    invars = [Var(aval) for aval in avals]
    out = Var(primitive.rule("abstract_eval")(*avals, **params))
    jaxpr = Jaxpr((), tuple(invars), (JaxprEqn(primitive, tuple(invars), (out,), params),), (out,))
    (result,) = backend.lower(ClosedJaxpr(jaxpr, ()), name=primitive.name).compile()(*args)
    return np.asarray(result)


@pytest.fixture
def compiled() -> Callable[..., Any]:
    """``compiled(primitive, args, params)`` evaluates one equation through XLA."""
    return evaluate_compiled


@pytest.fixture
def assert_same() -> Callable[[Any, Any], None]:
    """``assert_same(got, want)`` compares type and value: exactly, or up to rounding with ``rounded=True``."""

    def assert_same(got: Any, want: Any, *, rounded: bool = False) -> None:
        assert get_aval(got) == get_aval(want)
        dtype = get_aval(want).dtype
        if rounded and is_inexact(dtype):
            digits = ml_dtypes.finfo(dtype).eps if kind(dtype) == "f" else np.finfo(dtype).eps
            wide = np.complex128 if kind(dtype) == "c" else np.float64
            got, want = np.asarray(got).astype(wide), np.asarray(want).astype(wide)
            np.testing.assert_allclose(got, want, rtol=8 * float(digits), atol=8 * float(digits))
        else:
            np.testing.assert_array_equal(got, want)

    return assert_same
