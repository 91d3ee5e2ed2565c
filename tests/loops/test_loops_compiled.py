"""Loops compile to one `while` each: whatever the trip count, and with the values that they have without XLA."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import tree
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import associative_scan, cond, fori_loop, map, scan, while_loop
from lawful.core import as_dtype, get_aval, parse_jaxpr
from lawful.staging import jit, make_jaxpr

W = np.random.default_rng(0).normal(size=(3, 3)) * 0.5
H = np.array([0.3, -0.2, 0.5])
XS = np.random.default_rng(1).normal(size=(4, 3))


def newton(a: Any, **options: Any) -> Any:
    return while_loop(lambda x: lnp.abs(x * x - a) > 1e-9, lambda x: 0.5 * (x + a / x), a, **options)


def in_each_other(h: Any) -> Any:
    """A scan in a while loop in a choice."""

    def often(h: Any) -> Any:
        def body(s: Any) -> Any:
            n, h = s
            return n + 1, scan(lambda c, x: (lnp.sin(W @ c) + x, None), h, XS)[0]

        return while_loop(lambda s: s[0] < 2, body, (0, h))[1]

    return cond(h[0] > 0.0, often, lambda h: h * 2.0, h)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "scan": lambda h: scan(lambda c, x: (lnp.tanh(W @ c + x), c), h, XS),
    "reversed scan": lambda h: scan(lambda c, x: (lnp.tanh(W @ c + x), c), h, XS, reverse=True, unroll=3),
    "scan with checkpoints": lambda h: scan(lambda c, x: (lnp.tanh(W @ c + x), c), h, XS, checkpoints=2, reverse=True),
    "scan of integers": lambda h: scan(lambda c, n: ((c[0] + n, c[1] * c[0]), c[0]), (0, h), np.arange(4))[0][1],
    "scan of nothing": lambda h: scan(lambda c, x: (c * x, c), h, XS[:0])[0],
    "while": lambda h: while_loop(lambda c: lnp.sum(c * c) > 0.05, lambda c: lnp.sin(W @ c), h),
    "newton": lambda h: vmap(newton)(h * h + 1.0),
    "newton with a tape": lambda h: vmap(lambda a: newton(a, max_iters=9))(h * h + 1.0),
    "newton with two states": lambda h: vmap(lambda a: newton(a, checkpoints=2))(h * h + 1.0),
    "fori": lambda h: fori_loop(0, 4, lambda i, c: lnp.sin(W @ c) * i, h),
    "fori to a value": lambda h: fori_loop(
        0, lnp.astype(lnp.sum(h * h) + 3.0, int), lambda i, c: lnp.sin(W @ c) + i, h
    ),
    "map": lambda h: map(lambda x: lnp.sin(W @ x) * h, XS, batch_size=3),
    "associative scan": lambda h: associative_scan(lnp.multiply, XS * h, axis=0),
    "in each other": in_each_other,
    "batched": lambda h: vmap(in_each_other)(lnp.stack([h, -h, h * 0.5])),
}
every_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)


def total(program: Callable[..., Any]) -> Callable[..., Any]:
    return lambda h: sum(lnp.sum(lnp.sin(y)) for y in tree.leaves(program(h)))


TRANSFORMED: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "itself": lambda f: f,
    "its tangents": lambda f: lambda h: jvp(f, (h,), (h * 0.5,))[1],
    "its gradient": lambda f: grad(total(f)),
    "its batches": lambda f: lambda h: vmap(f)(lnp.stack([h, h * 0.5])),
    "its second derivative": lambda f: lambda h: jvp(grad(total(f)), (h,), (h,))[1],
    "gradients of a batch": lambda f: lambda h: vmap(grad(total(f)))(lnp.stack([h, h * 0.5])),
    "the gradient of its gradient": lambda f: grad(lambda h: lnp.sum(grad(total(f))(h) * h)),
}


# XLA takes a second or so for each of the others.
QUICK = ("itself", "its gradient", "gradients of a batch", "its second derivative")


@every_program
@pytest.mark.parametrize("name", TRANSFORMED)
def test_loops_both_backends_give_what_no_backend_gives(program: Any, name: str) -> None:
    function = TRANSFORMED[name](program)
    expected = function(H)
    for backend in ("numpy", "xla") if name in QUICK else ("numpy",):
        found = jit(function, backend=backend)(H)
        for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
            assert get_aval(x) == get_aval(y)
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-10, atol=1e-10)


@every_program
@pytest.mark.parametrize("transformed", TRANSFORMED.values(), ids=TRANSFORMED)
def test_loops_jaxprs_are_printed_and_parsed(program: Any, transformed: Any) -> None:
    closed = make_jaxpr(transformed(program))(H)
    assert str(parse_jaxpr(str(closed), closed.consts)) == str(closed)


def stablehlo(function: Callable[..., Any], *args: Any) -> str:
    return jit(function, backend="xla").lower(*args).as_text()


def test_each_loop_is_one_while() -> None:
    def scanned(xs: Any) -> Any:
        return scan(lambda c, x: (lnp.sin(c) + x, c), 0.0, xs)

    def looped(x: Any) -> Any:
        return while_loop(lambda c: c < 9.0, lambda c: c * 2.0, x)

    xs = np.ones(5)
    assert stablehlo(scanned, xs).count("stablehlo.while") == 1
    assert stablehlo(looped, 1.0).count("stablehlo.while") == 1
    # Forwards, and backwards.
    assert stablehlo(grad(lambda xs: scanned(xs)[0]), xs).count("stablehlo.while") == 2
    assert stablehlo(lambda x: cond(x > 0.0, looped, lambda x: x, x), 1.0).count("stablehlo.case") == 1


@pytest.mark.parametrize("options", [{}, {"unroll": 4}, {"checkpoints": 8}], ids=str)
def test_loops_program_size_does_not_depend_on_trip_count(options: Any) -> None:
    """So the time to compile them does not depend on the trip count."""

    def scanned(xs: Any) -> Any:
        return scan(lambda c, x: (lnp.sin(c) * x, c), 1.0, xs, **options)[0]

    def counted(x: Any, n: int) -> Any:
        return fori_loop(0, n, lambda i, c: lnp.sin(c) + i, x, **options)

    for transformed in (lambda f: f, grad, lambda f: grad(lambda *args: jvp(f, args, args)[1])):
        few, many = (stablehlo(transformed(scanned), np.ones(n)) for n in (40, 4000))
        assert few.replace("40", "n").count("\n") == many.count("\n")
    few, many = (stablehlo(grad(lambda x, n=n: counted(x, n)), 1.0) for n in (40, 4000))
    assert few.count("\n") == many.count("\n")


def test_an_unrolled_scan_has_no_loop() -> None:
    assert "while" not in stablehlo(lambda xs: scan(lambda c, x: (lnp.sin(c) * x, c), 1.0, xs, unroll=True), np.ones(3))


def temporaries(function: Callable[..., Any], *args: Any) -> int:
    """The bytes that a compiled program needs beside its arguments and results."""
    stats = jit(function, backend="xla").lower(*args).compile().memory_analysis()
    return int(stats.temp_size_in_bytes)


SIZE = 1000
STATE = SIZE * 8


def powers(x: Any, n: Any, **options: Any) -> Any:
    return lnp.sum(while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, lnp.sin(s[1]) * 1.1), (0, x), **options)[1])


def test_memory_of_reversing_a_while_loop_is_the_states_stored() -> None:
    """The trip count is an argument: memory cannot depend on it."""
    x = np.ones(SIZE)
    for states in (1, 4, 32):
        bytes_needed = temporaries(grad(lambda x, n, k=states: powers(x, n, checkpoints=k)), x, 5)
        assert states * STATE <= bytes_needed <= (states + 6) * STATE + 50_000
    assert temporaries(grad(lambda x, n: powers(x, n, max_iters=50)), x, 5) <= 56 * STATE


def test_while_grad_batched_memory() -> None:
    """A batch of while loops needs memory for the stored states of each."""
    batch, ns = np.ones((16, SIZE)), np.arange(16)
    assert temporaries(vmap(grad(powers)), batch, ns) <= 16 * 40 * STATE


@pytest.mark.parametrize("trip_count", [100, 3000])
@pytest.mark.parametrize("carries", [1, 3, 16])
def test_scan_checkpoints_memory(trip_count: int, carries: int) -> None:
    """The memory of a scan with checkpoints does not grow with its trip count."""

    def body(c: Any, _: Any) -> Any:
        return lnp.sin(lnp.sin(lnp.sin(c)) * 1.1), None

    def function(h: Any) -> Any:
        return lnp.sum(scan(body, h, None, trip_count, checkpoints=carries)[0])

    assert temporaries(grad(function), np.ones(SIZE)) <= (carries + 8) * STATE


def test_memory_of_a_scan_is_what_the_backward_pass_needs() -> None:
    """A recurrent network stores the state of each iteration, and no intermediate values."""

    def function(w: Any, h: Any) -> Any:
        return lnp.sum(scan(lambda c, _: (lnp.tanh(w @ c), None), h, None, 50)[0])

    assert temporaries(grad(function), np.ones((100, 100)) * 0.01, np.ones(100)) <= (2 * 50 + 20) * 800 + 100 * 800 * 3


BYTES = 1 << 16  # up to which a stack begins as a constant


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [24, BYTES, BYTES + 1024], ids=["small", "largest constant", "larger"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "bfloat16", "float32", "float64", "complex128"])
def test_scan_stacks_hold_results_of_each_iteration(dtype: str, size: int, reverse: bool) -> None:
    kind = as_dtype(dtype)
    flipped = np.logical_not if dtype == "bool" else np.negative

    @jit
    def stacked(xs: Any) -> Any:
        return scan(lambda c, x: (c, lnp.asarray(flipped(x), kind)), 0, xs, reverse=reverse)[1]

    count = size // kind.itemsize
    numbers = np.random.default_rng(0).integers(0, 2, count).astype(kind)
    for parts in [(), (2,), (count,), (1, 1)]:
        xs = numbers[: count // np.prod(parts, dtype=int) * np.prod(parts, dtype=int)].reshape(-1, *parts)
        found = np.asarray(stacked(xs))
        assert found.dtype == kind
        assert np.array_equal(found, flipped(xs))


def test_loops_no_function_fills_a_small_stack() -> None:
    def stacked(length: int) -> str:
        program = jit(lambda x: scan(lambda c, _: (c * 2.0, c), x, None, length=length)[1])
        return str(program.lower(np.float64(1.0)).compile().as_text())

    assert "broadcast" not in stacked(BYTES // 8)
    assert "broadcast" in stacked(BYTES // 8 + 1)  # it takes no room in the program
