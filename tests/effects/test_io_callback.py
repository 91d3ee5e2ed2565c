"""`io_callback`: what is called, how often and in which order, under each transformation and in each construct."""

import itertools

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import checkpoint, grad, jvp, stop_gradient
from lawful.batching import vmap
from lawful.control_flow import cond, fori_loop, scan
from lawful.core import ArgumentTypeError, MissingRuleError
from lawful.custom_rules import custom_jvp
from lawful.staging import ShapeDtypeStruct, io_callback, jit, make_jaxpr

ONE = ShapeDtypeStruct((), np.int64)


@pytest.fixture(params=[None, "numpy", "xla"])
def compiled(request):
    """`jit` on each backend, and the function itself."""
    return (lambda f: f) if request.param is None else (lambda f: jit(f, backend=request.param))


@pytest.fixture
def seen():
    return []


def test_io_callback_is_called_each_time(compiled) -> None:
    count = itertools.count()
    f = compiled(lambda x: x + io_callback(lambda: next(count), ONE))
    assert [float(f(10.0)) for _ in range(3)] == [10.0, 11.0, 12.0]


def test_io_callback_without_a_result_is_called(compiled, seen) -> None:
    f = compiled(lambda x: (io_callback(lambda x: seen.append(float(x)), None, x), x * 2)[1])
    assert float(f(3.0)) == 6.0
    assert seen == [3.0]
    compiled(lambda x: (io_callback(lambda x: seen.append(float(x)), (), x), x)[1])(4.0)
    assert seen == [3.0, 4.0]


def test_io_callback_of_an_unused_result_is_called(compiled, seen) -> None:
    def f(x):
        io_callback(lambda x: (seen.append(float(x)), np.int64(1))[1], ONE, x)
        io_callback(lambda x: (seen.append(-float(x)), np.int64(1))[1], ONE, x)
        return x

    compiled(f)(2.0)
    assert seen == [2.0, -2.0]


def test_io_callbacks_of_equal_arguments_are_not_merged(compiled) -> None:
    count = itertools.count()
    f = compiled(lambda: [io_callback(lambda: next(count), ONE) for _ in range(4)])
    assert [int(x) for x in f()] == [0, 1, 2, 3]


def test_io_callback_takes_and_gives_trees(compiled) -> None:
    def split(pair, *, scale):
        return {"sum": pair[0] + pair[1], "scaled": pair[0] * scale}

    shapes = {"sum": ShapeDtypeStruct((2,), np.float64), "scaled": ShapeDtypeStruct((2,), np.float64)}
    out = compiled(lambda x, y: io_callback(split, shapes, (x, y), scale=3.0))(np.ones(2), np.arange(2.0))
    assert np.asarray(out["sum"]).tolist() == [1.0, 2.0]
    assert np.asarray(out["scaled"]).tolist() == [3.0, 3.0]


def test_io_callback_is_called_in_taken_branches_and_iterations(compiled, seen) -> None:
    def note(x):
        seen.append(float(x))
        return np.float64(x)

    shape = ShapeDtypeStruct((), np.float64)

    def f(p, x):
        y = cond(p, lambda x: io_callback(note, shape, x), lambda x: io_callback(note, shape, -x), x)
        z = fori_loop(0, 2, lambda i, c: io_callback(note, shape, c + 1.0), y)
        return scan(lambda c, e: (io_callback(note, shape, c + e), e), z, np.array([10.0, 20.0]))[0]

    assert float(compiled(f)(True, 1.0)) == 33.0
    assert seen == [1.0, 2.0, 3.0, 13.0, 33.0]
    seen.clear()
    assert float(compiled(f)(False, 1.0)) == 31.0
    assert seen == [-1.0, 0.0, 1.0, 11.0, 31.0]


@pytest.mark.parametrize("ordered", [False, True])
def test_io_callback_under_vmap_is_called_for_each_element(compiled, seen, ordered: bool) -> None:
    def note(x, y):
        seen.append(float(x))
        return np.float64(x + y)

    f = compiled(
        vmap(lambda x, y: io_callback(note, ShapeDtypeStruct((), np.float64), x, y, ordered=ordered), (0, None))
    )
    assert np.asarray(f(np.arange(3.0), 10.0)).tolist() == [10.0, 11.0, 12.0]
    assert seen == [0.0, 1.0, 2.0]


def test_io_callback_under_vmap_of_nothing_is_called_once(compiled) -> None:
    count = itertools.count()
    f = compiled(vmap(lambda x: x + io_callback(lambda: next(count), ONE)))
    assert np.asarray(f(np.zeros(3))).tolist() == [0.0, 0.0, 0.0]
    assert next(count) == 1


def test_io_callback_of_constants_is_left_alone_by_derivatives(compiled) -> None:
    count = itertools.count(1)
    f = compiled(grad(lambda x: x * io_callback(lambda x: float(next(count)) + 0 * x, np.float64(0), stop_gradient(x))))
    assert [float(f(5.0)) for _ in range(2)] == [1.0, 2.0]


def test_io_callback_has_no_derivative() -> None:
    def f(x):
        return io_callback(lambda x: x * 2, np.float64(0), x)

    for derive in (lambda: grad(f)(1.0), lambda: jvp(f, (1.0,), (1.0,)), lambda: jit(grad(f))(1.0)):
        with pytest.raises(MissingRuleError, match="stop_gradient"):
            derive()


def test_io_callback_with_a_derivative_of_the_user(compiled) -> None:
    @custom_jvp
    def doubled(x):
        return io_callback(lambda x: x * 2, np.float64(0), x)

    doubled.defjvp(lambda primals, tangents: (doubled(*primals), 2.0 * tangents[0]))
    assert float(compiled(grad(lambda x: doubled(x) ** 2))(3.0)) == 24.0


def test_io_callback_under_checkpoint_is_called_again(seen) -> None:
    def f(x):
        y = lnp.sin(x)
        io_callback(lambda y: seen.append(1), None, stop_gradient(y))
        return lnp.sin(y)

    grad(checkpoint(f))(1.0)
    assert len(seen) == 2


def test_io_callback_is_ordered_with_other_effects(compiled, seen) -> None:
    from lawful import debug

    def f(x):
        debug.callback(lambda: seen.append("first"))
        y = io_callback(lambda x: (seen.append("second"), x)[1], np.float64(0), x)
        debug.callback(lambda: seen.append("third"))
        return y

    compiled(f)(1.0)
    assert seen == ["first", "second", "third"]


def test_io_callback_mistakes_are_explained(compiled) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected f64\[\] at result, got f64\[2\]"):
        compiled(lambda x: io_callback(lambda x: np.ones(2), np.float64(0), x))(1.0)
    with pytest.raises(ArgumentTypeError, match="io_callback"):
        io_callback(3, np.float64(0))

    def fail(x):
        raise ValueError("planted")

    failing = compiled(lambda x: io_callback(fail, np.float64(0), x))
    with pytest.raises(ValueError, match="planted") as caught:
        failing(1.0)
    assert "in the io_callback of fail" in caught.value.__notes__[0]


def test_io_callback_in_a_jaxpr() -> None:
    text = str(make_jaxpr(lambda x: io_callback(np.sin, np.float64(0), x))(1.0))
    assert "b:f64[] = io_callback[callback=<sin> ordered=False] a" in text
