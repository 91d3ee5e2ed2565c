"""Elementwise equations on large arrays, which the NumPy backend evaluates block by block."""

import itertools
import re
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from lawful import ops
from lawful.core import plain
from lawful.debug import callback
from lawful.staging import jit, make_jaxpr, numpy_backend, numpy_function
from lawful.staging._fast import blocks, groups

pytestmark = pytest.mark.fast

#: Whole blocks, and a rest that is too short for one.
SIZE = 1 << 17 | 37


@np.errstate(all="ignore")
def numbers(dtype: Any, size: int = SIZE) -> Any:
    """Returns elements that reach the branches of NumPy's loops, each at all positions of a vector."""
    rng = np.random.default_rng(0)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, size, dtype, endpoint=True)
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        return (numbers(real) + np.complex64(1j) * numbers(real)[::-1]).astype(dtype)
    x = rng.normal(size=size)
    x[::7] *= 1e4
    x[::11] = rng.uniform(-1, 1, x[::11].size)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, -1e-40, 1e300, 1e22, 88.8, -745.0, 1.0, -1.0]
    where = rng.integers(0, size, size // 50)
    x[where] = rng.choice(special, where.size)
    return x.astype(dtype)


def assert_same_bits(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype, one.strides) == (other.shape, other.dtype, other.strides)
        assert one.tobytes() == other.tobytes()


def grouped_and_plain(f: Callable[..., Any], *args: Any) -> tuple[list[Any], list[Any]]:
    """Returns what a program gives by groups, and without; there must be a group."""
    program = numpy_backend.lower(make_jaxpr(f)(*args), name="f")
    assert "blocks_" in program.as_text()
    found = program(*args)
    with plain():
        expected = numpy_backend.lower(make_jaxpr(f)(*args), name="f")
        assert "blocks_" not in expected.as_text()
        return found, expected(*args)


def cases() -> list[Any]:
    found = []
    for ufunc in sorted(groups._BY_ELEMENTS, key=lambda ufunc: ufunc.__name__):
        for types in ufunc.types:
            operands, result = types.split("->")
            if set(types) <= set("?bBhHiIlLefdFD->") and len(set(operands)) == 1:
                found.append(pytest.param(ufunc, operands, result, id=f"{ufunc.__name__}-{types}"))
    return found


@pytest.mark.parametrize(("ufunc", "operands", "result"), cases())
def test_blocks_of_ufunc_have_the_same_bits(ufunc: np.ufunc, operands: str, result: str) -> None:
    """NumPy gives the same bits for blocks, also with a scalar operand and, where it is allowed, into an operand."""
    args = [numbers(code)[:: 1 if i == 0 else -1].copy() for i, code in enumerate(operands)]
    if ufunc is np.power and operands[0] in "bhil":
        args[1] = np.abs(args[1]) % 8
    scalar = np.dtype(operands[-1]).type(2)
    with np.errstate(all="ignore"):
        for given_args in [args] if len(args) == 1 else [args, [args[0], scalar], [scalar, args[1]]]:
            expected = ufunc(*given_args)
            assert expected.dtype == np.dtype(result)
            found = np.empty_like(expected)
            stops = [*range(blocks._LEAST_BLOCK, SIZE, blocks._LEAST_BLOCK), SIZE]
            for start, stop in zip([0, *stops], stops, strict=False):
                parts = [x[start:stop] if np.ndim(x) else x for x in given_args]
                out = found[start:stop]
                if ufunc in blocks._IN_PLACE and result in "bBhHiIlLefd":
                    overwritten = next(i for i, x in enumerate(parts) if np.ndim(x))
                    if parts[overwritten].dtype == out.dtype:
                        parts[overwritten] = out
                        out[:] = given_args[overwritten][start:stop]
                ufunc(*parts, out=out)
            assert found.tobytes() == expected.tobytes()


_UNARY = ["neg", "sin", "cos", "exp", "tanh", "sqrt", "abs", "sign", "logistic", "square", "log1p", "rsqrt"]
_BINARY = ["add", "sub", "mul", "div", "max", "min", "pow", "atan2"]


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[tuple[str, tuple[int, ...], str]], list[int]]:
    """Draws steps, each an op and the values that it takes, and the values that are results."""
    count = draw(st.integers(2, 14))
    steps = []
    for known in range(3, 3 + count):
        kind = draw(st.sampled_from(["unary", "binary", "scalar", "where", "power", "convert", "sum", "row"]))
        name = draw(st.sampled_from(_UNARY if kind == "unary" else _BINARY))
        recent = st.integers(max(0, known - 4), known - 1)  # of others, most would be dead code
        steps.append((name, tuple(draw(recent) for _ in range(3)), kind))
    return steps, [2 + count, *draw(st.lists(st.integers(3, 2 + count), max_size=2))]


def run_chain(steps: Any, results: Any, *args: Any) -> list[Any]:
    values = list(args)
    for name, (i, j, k), kind in steps:
        x, y, z = values[i], values[j], values[k]
        if kind == "unary":
            values.append(getattr(ops, name)(x))
        elif kind == "binary":
            values.append(getattr(ops, name)(x, y))
        elif kind == "scalar":
            values.append(getattr(ops, name)(x, 0.5))
        elif kind == "where":
            values.append(ops.where(ops.lt(x, y), y, z))
        elif kind == "power":
            values.append(ops.integer_pow(x, 3))
        elif kind == "convert":
            values.append(ops.convert_element_type(ops.convert_element_type(x, np.int32), np.float64))
        elif kind == "sum":  # a result of the group that another equation needs
            values.append(ops.mul(x, ops.reduce_sum(y, tuple(range(y.ndim)))))
        else:  # a row, repeated by the ufunc
            values.append(ops.add(x, ops.broadcast_in_dim(ops.reduce_max(y, (0,)), y.shape, tuple(range(1, y.ndim)))))
    return [values[i] for i in results]


def check_chain(steps: Any, results: Any, shape: tuple[int, ...], least_bytes: int) -> None:
    with np.errstate(all="ignore"):
        args = [numbers("d")[: int(np.prod(shape))].reshape(shape) * factor for factor in (1.0, 0.3, -2.0)]
    f = lambda *args: run_chain(steps, results, *args)  # noqa: E731
    program = make_jaxpr(f)(*args)
    before, groups.LEAST_BYTES = groups.LEAST_BYTES, least_bytes
    try:
        found = numpy_backend.lower(program, name="f")(*args)
        with np.errstate(all="ignore"):
            of_body = numpy_function(program)(*args)  # as for the body of a loop, with equations that nothing uses
    finally:
        groups.LEAST_BYTES = before
    with plain():
        expected = numpy_backend.lower(program, name="f")(*args)
    assert_same_bits(found, expected)
    assert_same_bits(of_body, expected)


@given(chains(), st.sampled_from([(24_001,), (101, 173), (9_000,)]))
def test_blocks_of_programs_have_the_same_bits(chain: Any, shape: tuple[int, ...]) -> None:
    check_chain(*chain, shape, 1 << 10)


search = settings(max_examples=200, database=None, deadline=None, derandomize=True, phases=(Phase.generate,))


def is_counterexample(chain: Any) -> bool:
    try:
        check_chain(*chain, (9_000,), 1 << 10)
    except AssertionError:
        return True
    return False


def test_blocks_reject_a_buffer_that_is_still_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The property above finds the fault that a result overwrites an operand which a later equation uses."""

    def overwrite(self: Any, dtype: Any, overwritten: Any) -> str:
        if dtype not in self.buffers:
            self.buffers.append(dtype)
        return f"b{self.buffers.index(dtype)}"

    monkeypatch.setattr(blocks._Writer, "_buffer", overwrite)
    find(chains(), is_counterexample, settings=search)


def test_blocks_reject_a_lost_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The property above finds the fault that the last elements are not computed."""
    by_blocks = blocks.Blocks._by_blocks

    def without_rest(self: Any, flat: Any) -> Any:
        results = by_blocks(self, flat)
        for out in results:
            out.reshape(-1)[-1:] = 77
        return results

    monkeypatch.setattr(blocks.Blocks, "_by_blocks", without_rest)
    find(chains(), is_counterexample, settings=search)


def test_blocks_with_a_result_that_nothing_uses() -> None:
    """It overwrites an operand that dies: their buffer is free once, not twice."""

    def f(x: Any) -> Any:
        ops.mul(ops.add(x, 1.0), 2.0)
        y, z = ops.mul(x, 3.0), ops.mul(x, 5.0)
        return ops.add(ops.sin(y), ops.cos(z))

    x = np.linspace(-1.0, 1.0, SIZE)
    assert_same_bits(numpy_function(make_jaxpr(f)(x))(x), [f(x)])


def polynomial(x: Any, y: Any) -> Any:
    z = ops.mul(ops.add(x, y), x)
    return ops.sub(ops.mul(z, z), ops.mul(y, 0.5))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "c16", "c8", "i8", "i4", "u1"])
def test_blocks_of_every_dtype(dtype: str) -> None:
    x = np.tile(numbers(dtype), 8)
    assert_same_bits(*grouped_and_plain(lambda x: ops.sub(ops.mul(ops.add(x, x), x), x), x))


@pytest.mark.parametrize("order", ["transposed", "reversed", "every other", "broadcast", "column broadcast"])
def test_blocks_of_noncontiguous_arguments(order: str) -> None:
    x = numbers("d", 600 * 800).reshape(600, 800)
    arguments = {
        "transposed": lambda: (np.asfortranarray(x), x),
        "reversed": lambda: (x[::-1], x),
        "every other": lambda: (x[:, ::2], x[:, 1::2]),
        "broadcast": lambda: (np.broadcast_to(2.0, x.shape), x),
        "column broadcast": lambda: (np.broadcast_to(x[:, :1], x.shape), x),
    }[order]()
    assert_same_bits(*grouped_and_plain(polynomial, *arguments))


def test_blocks_of_arguments_in_the_other_byte_order() -> None:
    x = numbers("d")
    program = numpy_function(make_jaxpr(polynomial)(x, x))
    with np.errstate(all="ignore"):
        assert_same_bits(program(x.astype(">f8"), x), program(x, x))


def test_blocks_take_scalar_arguments() -> None:
    x = numbers("d")
    f = lambda x, s: ops.mul(ops.add(x, s), ops.add(s, 1.0))  # noqa: E731
    for scalar in (np.float64(3.0), 3.0, np.array(3.0)):
        assert_same_bits(*grouped_and_plain(lambda x, s: ops.add(f(x, s), s), x, scalar))


def test_blocks_results_share_no_memory() -> None:
    x = numbers("d")
    f = jit(lambda x: (ops.sin(ops.add(x, 1.0)), ops.add(ops.add(x, 1.0), 2.0), x), backend="numpy")
    results = f(x)
    assert all([out.base is None and out.flags.writeable for out in results])
    assert not any([np.shares_memory(a, b) for a, b in itertools.combinations([*results, x], 2)])


def test_blocks_warn_as_numpy_does() -> None:
    """Floating-point errors are reported as often as without blocks, in each of NumPy's modes."""
    x = np.full(SIZE, 2.0)
    x[-3] = -1.0
    closed = make_jaxpr(lambda x: ops.add(ops.log(ops.sqrt(x)), x))(x)
    program = numpy_function(closed)
    with plain():
        single = numpy_function(make_jaxpr(lambda x: ops.add(ops.log(ops.sqrt(x)), x))(x))
    for function in (program, single):
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
            warnings.simplefilter("always")
            function(x)
        assert [str(warning.message) for warning in caught] == ["invalid value encountered in sqrt"]
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="sqrt"):
            function(x)
    with np.errstate(all="raise"):
        assert_same_bits(program(np.abs(x)), single(np.abs(x)))


def test_blocks_keep_the_order_of_effects() -> None:
    x = np.ones(SIZE)
    seen: list[float] = []

    def f(x: Any) -> Any:
        y = ops.mul(ops.add(x, 1.0), x)
        callback(lambda v: seen.append(float(v[0])), y)
        z = ops.mul(ops.add(y, 1.0), y)
        callback(lambda v: seen.append(float(v[0])), z)
        return z

    jit(f, backend="numpy")(x)
    assert seen == [2.0, 6.0]


def peak(call: Callable[[], Any]) -> int:
    """Returns the most bytes that a call had allocated at a time."""
    call()
    tracemalloc.start()
    call()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_blocks_peak_memory() -> None:
    """Results inside of a group take no memory of their own."""
    x = np.ones(10**6)

    def f(x: Any) -> Any:
        for _ in range(5):
            x = ops.sub(ops.mul(ops.add(x, 1.0), x), ops.mul(x, 0.5))
        return x

    compiled = jit(f, backend="numpy")
    with plain():
        single = jit(lambda x: f(x), backend="numpy")
        single(x)
    assert peak(lambda: compiled(x)) < 0.6 * peak(lambda: single(x))


def test_blocks_peak_memory_of_independent_chains() -> None:
    """An operand that dies in one of them is freed before the results of the next one are allocated."""
    args = [np.ones(SIZE) for _ in range(8)]

    def f(*args: Any) -> list[Any]:
        sums = [ops.cumsum(x, 0) for x in args]
        return [ops.add(ops.mul(x, 2.0), x) for x in sums]

    grouped = numpy_backend.lower(make_jaxpr(f)(*args), name="f")
    assert grouped.as_text().count(" = blocks_") == len(args)
    with plain():
        single = numpy_backend.lower(make_jaxpr(f)(*args), name="f")
    assert peak(lambda: grouped(*args)) < 1.2 * peak(lambda: single(*args))


def test_blocks_source_shows_the_equations() -> None:
    x = np.ones(SIZE)
    program = numpy_backend.lower(make_jaxpr(polynomial)(x, x), name="f")
    lines = program.as_text().splitlines()
    sources = program.line_sources()
    assert len(lines) == len(sources)
    first = polynomial.__code__.co_firstlineno
    found = {
        re.split("_| = N", line)[0].strip(): source.line for line, source in zip(lines, sources, strict=True) if source
    }
    assert found == {
        "[v1] = blocks": first + 1,
        "add": first + 1,
        "multiply": first + 2,
        "subtract": first + 2,
        "v0": first + 1,
    }


def test_blocks_small_arrays_have_none() -> None:
    x = np.ones(1000)
    assert "blocks_" not in jit(polynomial, backend="numpy").lower(x, x).as_text()


def test_blocks_in_plain_mode_evaluate_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was compiled with groups uses none of them inside ``plain()``."""
    x = np.ones(SIZE)
    f = jit(polynomial, backend="numpy")
    expected = f(x, x)
    monkeypatch.setattr(blocks.Blocks, "_by_blocks", None)
    with plain():
        assert_same_bits([f(x, x)], [expected])
