"""Functions of several primitives: traced rules give what the functions give, whatever decides what they apply."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, jacrev, jvp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, clear_caches, plain
from lawful.ops import Composite, composite
from lawful.ops import numpy_reduction as reduction
from lawful.staging import make_jaxpr


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    clear_caches()


def vary(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    return np.linspace(0.5, 2.0, int(np.prod(shape))).reshape(shape).astype(dtype)[()]


REDUCTIONS = (reduction.sum, reduction.prod, reduction.max, reduction.min, reduction.mean, reduction.var)
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{
        f"{reduce.__name__} {settings} {shape}": (partial(reduce, **settings), (vary(shape),))
        for reduce in REDUCTIONS
        for shape, settings in [
            ((3,), {}),
            ((2, 3), {"axis": -1}),
            ((2, 3), {"axis": (0, 1), "keepdims": True}),
            ((), {}),
        ]
    },
    "std": (reduction.std, (vary((3,)),)),
    "sum in another dtype": (lambda x: reduction.sum(x, dtype=np.float32), (vary((3,)),)),
    "variance of a sample": (lambda x: reduction.var(x, ddof=1), (vary((3,)),)),
    **{
        f"matmul {a} {b}": (ops.matmul, (vary(a), vary(b)))
        for a, b in [((2, 3), (3, 2)), ((3,), (3,)), ((2, 2, 3), (3,)), ((2, 1, 2, 3), (4, 3, 1)), ((0, 3), (3, 2))]
    },
    "dot": (ops.dot, (vary((2, 3)), vary((4, 3, 2)))),
    "dot of a scalar": (ops.dot, (vary(()), vary((2,)))),
    "where": (lambda x, y: ops.where(x > 1.0, x, y), (vary((2, 3)), vary((3,)))),
    "where with a number": (lambda x: ops.where(x > 1.0, x, 0.5), (vary((3,)),)),
    "where with a number, narrow": (lambda x: ops.where(x > 1.0, 0.1, x), (vary((3,), np.float32),)),
    "an element": (lambda x: x[1], (vary((3,)),)),
    "a row": (lambda x: x[-1], (vary((3, 2)),)),
    "the only row": (lambda x: x[0], (vary((1, 2)),)),
    "a row of nothing": (lambda x: x[2], (vary((3, 0)),)),
    "rows": (lambda x: x[np.array([2, -1, 0, 2])], (vary((3, 2)),)),
    "rows, and a column": (lambda x: x[np.array([[2], [-1]]), 1], (vary((3, 2)),)),
    "pairs of positions": (lambda x: x[np.array([1, 0]), :, np.array([1, 0], "uint8")], (vary((2, 3, 2)),)),
    "places of intervals": (lambda x: x[1:, None, np.array([1, 0, 1])], (vary((3, 2)),)),
    "what is chosen": (lambda x: x[np.array([True, False, True])], (vary((3, 2)),)),
    "nothing is chosen": (lambda x: x[np.array([], int)], (vary((3, 2)),)),
    "an interval, backwards": (lambda x: x[None, :0:-1, ..., 1], (vary((4, 2, 2)),)),
    "nothing": (lambda x: x[1:1], (vary((3,)),)),
    "matmul of two dtypes": (ops.matmul, (vary((2, 3)), vary((3,), np.float32))),
}
every_call = pytest.mark.parametrize(("function", "args"), CALLS.values(), ids=CALLS)


def plainly(run: Callable[[], Any]) -> Any:
    """Returns what something gives on the plain interpreters."""
    with plain():
        return run()


@every_call
def test_composite_transformed_eagerly_it_is_the_function(function: Any, args: Any) -> None:
    runs = [
        lambda: [jacrev(function, i)(*args) for i in range(len(args))],
        lambda: jvp(function, args, args),
        lambda: vmap(function)(*[np.stack([x, 2 * x]) for x in args]),
        lambda: vmap(function, (0, *[None] * (len(args) - 1)))(np.stack([args[0]] * 2), *args[1:]),
        lambda: jacrev(jacrev(function))(*args),
    ]
    for run in runs:
        expected = plainly(run)
        for found in (run(), run()):
            for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
                assert np.asarray(x).dtype == np.asarray(y).dtype
                np.testing.assert_allclose(x, y, rtol=1e-14, atol=1e-14)


@every_call
def test_composite_programs_have_the_equations_of_the_function(function: Any, args: Any) -> None:
    expected = plainly(lambda: str(make_jaxpr(function)(*args)))
    jacrev(function)(*args)
    assert str(make_jaxpr(function)(*args)) == expected


class Counted:
    """A function that notes how often it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.calls = 0
        self.__name__ = "counted"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self.function(*args, **kwargs)


@pytest.mark.fast
def test_composite_python_runs_once_for_the_same_types() -> None:
    counted = Counted(lambda x, y, *, twice=False: ops.sin(x) * y * (2.0 if twice else 1.0))
    apply = Composite(counted, 2)
    for x in (1.0, 2.0, 3.0, 4.0):
        assert grad(lambda x: apply(x, 3.0 * x))(np.float64(x)) == pytest.approx(3 * (np.cos(x) * x + np.sin(x)))
    assert counted.calls == 2, "the first time, and for the traced rule"
    for _ in range(3):
        grad(lambda x: apply(x, x, twice=True))(np.float64(1.0))
        grad(lambda x: apply(x, x, twice=1))(np.float64(1.0))
    assert counted.calls == 6, "1 is not True"
    vmap(lambda x: apply(x, x))(np.ones(3))
    assert counted.calls == 6, "the types are those that it knows"
    apply(np.float64(1.0), 2.0)
    assert counted.calls == 7, "there is nothing to trace"


def test_composite_what_is_a_setting_is_told_by_its_type() -> None:
    apply = composite()(lambda x, scale: x * np.float64(scale))
    for scale in (1, True, 0.0, -0.0, 2, "3"):
        assert str(grad(lambda x, scale=scale: apply(x, scale))(np.float64(1.0))) == str(float(scale))


@pytest.mark.parametrize("settings", [(0.5,), (np.float32(0.5),), (1j,), ((1, 0.5),)], ids=str)
def test_composite_nothing_is_derived_for_settings_that_vary(settings: tuple[Any, ...]) -> None:
    counted = Counted(lambda x, _: x * 2.0)
    apply = Composite(counted)
    for _ in range(2):
        assert grad(lambda x: apply(x, *settings))(np.float64(1.0)) == 2.0
    assert counted.calls == 2


def test_composite_decorator_needs_its_parentheses() -> None:
    with pytest.raises(ArgumentTypeError, match=r"write @composite\(\) above the function"):
        composite(lambda x: x)  # type: ignore[arg-type]


def test_composite_unhashable_or_traced_settings() -> None:
    """Unhashable and traced settings reach the function unchanged."""
    counted = Counted(lambda x, other: x * other[0])
    apply = Composite(counted)
    assert grad(lambda x: apply(x, [2.0]))(np.float64(3.0)) == 2.0
    assert grad(lambda x: apply(x, [2.0]))(np.float64(3.0)) == 2.0
    assert counted.calls == 2
    scaled = Composite(lambda x, other: x * other)
    assert [float(grad(lambda x: scaled(x, x))(np.float64(x))) for x in (3.0, 4.0)] == [6.0, 8.0]
    assert [float(grad(lambda x, y=y: scaled(x, y))(np.float64(3.0))) for y in (np.float64(5.0), 7.0)] == [5.0, 7.0]


def test_composite_sequence_of_arrays() -> None:
    apply = composite(sequence=True)(lambda arrays, power: sum([x**power for x in arrays]))
    for count in (2, 3):
        found = grad(lambda x, count=count: apply([x] * count, 2))(np.float64(3.0))
        assert found == 6.0 * count
    assert grad(lambda x: apply((x, x), 3))(np.float64(1.0)) == 6.0


def test_composite_results_may_be_trees() -> None:
    apply = composite()(lambda x: {"double": x * 2.0, "parts": (ops.sin(x), 3)})
    for _ in range(2):
        out, tangent = jvp(lambda x: apply(x)["parts"][0] + apply(x)["double"], (0.0,), (1.0,))
        assert (out, tangent) == (0.0, 3.0)
    assert grad(lambda x: x * apply(x)["parts"][1])(np.float64(1.0)) == 3.0


def test_composite_function_that_looks_at_values_is_called() -> None:
    """As one that drops zeros where they are known."""

    def looks(x: Any) -> Any:
        known = x.concrete() if isinstance(x, Tracer) else x
        return x * (1.0 if known is None else float(known > 2.0))

    apply = Composite(looks, looks=True)
    assert [float(grad(apply)(np.float64(x))) for x in (1.0, 3.0)] == [0.0, 1.0]


def test_composite_function_may_look_at_arrays_not_traced() -> None:
    def scaled(x: Any, scale: Any) -> Any:
        if not isinstance(scale, Tracer) and scale < 0:
            raise ArgumentValueError("a scale: expected at least 0, got less")
        return x * scale

    apply = Composite(scaled, 2, looks=True)
    assert grad(lambda x: apply(x, np.float64(2.0)))(np.float64(1.0)) == 2.0
    assert grad(lambda x: apply(x, x))(np.float64(1.0)) == 2.0
    with pytest.raises(ArgumentValueError, match="expected at least 0"):
        grad(lambda x: apply(x, np.float64(-2.0)))(np.float64(1.0))


@pytest.mark.parametrize("function", [ops.log, lambda x: ops.div(1.0, x)], ids=["log", "div, broadcast"])
def test_composite_warnings_that_a_function_silences_stay_silent(function: Any) -> None:
    def quiet(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(x)

    vmap(Composite(quiet))(np.zeros((2, 3)))  # a warning is an error here
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        vmap(Composite(ops.log))(np.array([0.0]))


INDICES = (
    *(0, -1, np.int64(1), (1, 2), (slice(None), -1), (..., 0), slice(1, 3), slice(1, None), slice(None, None, -1)),
    *(slice(None, 0, -1), slice(None, None, 2), slice(5, 1, -2), slice(1, 1), (None, 1), (slice(None), None), ...),
    *((1, slice(2), None, ..., slice(2, 0, -1)), np.array([2, 0, 2]), (np.array([0, 1]), slice(1, 3)), (0, 1, 1)),
    np.array([True, False, True, False]),
)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_composite_elements_are_read_as_by_numpy(index: Any) -> None:
    x, tangent = vary((4, 3, 2)), vary((4, 3, 2)) ** 2
    for _ in range(2):
        out, out_tangent = jvp(lambda x: x[index], (x,), (tangent,))
        np.testing.assert_array_equal(out, x[index])
        np.testing.assert_array_equal(out_tangent, tangent[index])
        np.testing.assert_array_equal(vmap(lambda x: x[index])(np.stack([x, tangent]))[1], tangent[index])
    cotangent = np.sin(x[index])
    expected = np.zeros_like(x)
    np.add.at(expected, index, cotangent)
    axes = tuple(range(cotangent.ndim))
    np.testing.assert_array_equal(grad(lambda x: reduction.sum(x[index] * cotangent, axes))(x), expected)


def test_composite_python_numbers_are_given_to_the_function() -> None:
    given: list[Any] = []

    def power(x: Any, y: Any) -> Any:
        given.append(y)
        return x**y  # of an integer that is known, another primitive

    apply = Composite(power, 2)
    for _ in range(2):
        gradient = grad(lambda x: apply(x, 2))(np.float32(3.0))
        assert (gradient, gradient.dtype) == (6.0, np.float32)
    assert given == [2, 2]


def test_composite_new_rule_takes_effect() -> None:
    op = ops.elementwise(
        "composite_test", "Returns x.", np.positive, lambda ctx, x: x, derivatives=(lambda t, ans, x: t,)
    )
    f = grad(composite()(lambda x: op(x) * 3.0))
    assert f(np.float64(1.0)) == 3.0
    op.primitive.def_jvp(lambda primals, tangents: (primals[0], ops.mul(tangents[0], 5.0)))
    assert f(np.float64(1.0)) == 15.0


def test_composite_mistake_is_told_as_by_the_function() -> None:
    for _ in range(2):
        with pytest.raises(ArgumentValueError, match=r"test_composites.*matmul: expected as many columns"):
            grad(lambda x: reduction.sum(ops.matmul(x, x)))(np.ones((2, 3)))


EQUAL_INDICES = (
    ((slice(1, 3),), (slice(1.0, 3),)),
    ((1, slice(0, 2)), (True, slice(0, 2))),
    ((slice(None), 1), (slice(None), True)),
    ((None, 1), (None, 1.0)),
)


@pytest.mark.parametrize(("known", "other"), EQUAL_INDICES, ids=str)
def test_composite_index_that_equals_another_is_not_taken_for_it(known: Any, other: Any) -> None:
    """The elements of an index are looked up once; as keys, 1, 1.0 and True are equal."""
    x = vary((3, 4))

    def chosen(index: Any) -> Any:
        return jvp(lambda x: x[index], (x,), (x,))

    assert known == other
    for _ in range(3):
        np.testing.assert_array_equal(chosen(known), [x[known]] * 2)
        try:
            expected = x[other]
        except (IndexError, TypeError):
            with pytest.raises(IndexError, match="expected"):
                chosen(other)
        else:
            np.testing.assert_array_equal(chosen(other), [expected] * 2)
