"""`pure_callback` under transformations: the arguments that `vmap` passes, agreement with JAX, custom derivatives."""

from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from lawful.autodiff import grad, jvp, stop_gradient, value_and_grad
from lawful.batching import vmap
from lawful.control_flow import cond, scan, while_loop
from lawful.core import MissingRuleError
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.laws import check, quick
from lawful.ops import cos
from lawful.staging import ShapeDtypeStruct, jit, pure_callback

OURS = SimpleNamespace(vmap=vmap, pure_callback=pure_callback, jit=jit, Struct=ShapeDtypeStruct)
THEIRS = SimpleNamespace(
    vmap=jax.vmap, pure_callback=jax.pure_callback, jit=jax.jit, Struct=jax.ShapeDtypeStruct
)  # fmt: skip
METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")

X = np.arange(6.0).reshape(2, 3)
Y = np.array([10.0, 20.0, 30.0])
Z = np.arange(24.0).reshape(4, 2, 3)


def combined(lib: Any, method: str, shapes: list[Any]) -> Any:
    """A function of vectors that also takes stacks of them, and records the shapes of its arguments."""

    def python(x: Any, y: Any) -> Any:
        shapes.append((np.shape(x), np.shape(y)))
        x, y = np.asarray(x), np.asarray(y)
        return {"product": x * y, "sum": (x + 2.0 * y).sum(-1)}

    def f(x: Any, y: Any) -> Any:
        struct = {"product": lib.Struct(x.shape, np.float64), "sum": lib.Struct((), np.float64)}
        return lib.pure_callback(python, struct, x, y, vmap_method=method)

    return f


BATCHES = {
    "both": (lambda lib, f: lib.vmap(f), (X, X + 1)),
    "the first": (lambda lib, f: lib.vmap(f, in_axes=(0, None)), (X, Y)),
    "the second": (lambda lib, f: lib.vmap(f, in_axes=(None, 0)), (Y, X)),
    "of batches": (lambda lib, f: lib.vmap(lib.vmap(f)), (Z, Z + 1)),
    "of batches of one each": (
        lambda lib, f: lib.vmap(lib.vmap(f, in_axes=(None, 0)), in_axes=(0, None)), (X, X + 1)
    ),
    "last dimension": (lambda lib, f: lib.vmap(f, in_axes=(1, None), out_axes=-1), (X.T, Y)),
}  # fmt: skip


@pytest.mark.parametrize("compiled", [False, True], ids=["evaluated", "compiled"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("batch", BATCHES)
def test_pure_callback_function_is_given_what_it_is_given_in_jax(batch: str, method: str, compiled: bool) -> None:
    transform, args = BATCHES[batch]
    found = []
    for lib in (OURS, THEIRS):
        shapes: list[Any] = []
        function = transform(lib, combined(lib, method, shapes))
        function = lib.jit(function) if compiled else function
        found.append((jax.tree.map(np.asarray, dict(function(*args))), sorted(shapes)))
    (ours, our_shapes), (theirs, their_shapes) = found
    assert our_shapes == their_shapes
    for name, expected in theirs.items():
        np.testing.assert_array_equal(ours[name], expected)
        assert ours[name].dtype == expected.dtype


@pytest.mark.parametrize("method", METHODS)
def test_pure_callback_batch_of_nothing(method: str) -> None:
    out = vmap(combined(OURS, method, []))(X[:0], X[:0])
    assert (out["product"].shape, out["sum"].shape) == ((0, 3), (0,))


def test_pure_callback_elements_are_computed_in_order() -> None:
    seen: list[float] = []

    def python(x: Any) -> Any:
        seen.append(float(x))
        return x

    f = vmap(lambda x: pure_callback(python, ShapeDtypeStruct((), x.dtype), x, vmap_method="sequential"))
    for function in (f, jit(f)):
        seen.clear()
        function(np.arange(5.0))
        assert seen == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_pure_callback_vmap_without_method_says_which_there_are() -> None:
    f = vmap(lambda x: pure_callback(np.sin, ShapeDtypeStruct((), x.dtype), x))
    with pytest.raises(MissingRuleError, match="vmap of pure_callback of sin: expected a vmap_method, got None; give"):
        f(Y)
    assert vmap(lambda x, y: pure_callback(np.sin, y, y) * x, in_axes=(0, None))(Y, 0.0).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("transform", [grad, lambda f: lambda x: jvp(f, (x,), (1.0,))])
@pytest.mark.parametrize("compiled", [lambda f: f, jit])
def test_pure_callback_derivative_is_refused_with_the_cure(transform: Any, compiled: Any) -> None:
    f = compiled(lambda x: pure_callback(np.sin, ShapeDtypeStruct((), np.float64), x))
    with pytest.raises(
        MissingRuleError, match=r"does not exist: .*lawful\.custom_rules\.custom_jvp or custom_vjp"
    ) as caught:
        transform(f)(2.0)
    assert str(caught.value).startswith(__file__)


def test_pure_callback_of_undifferentiated_values() -> None:
    struct = ShapeDtypeStruct((), np.float64)
    assert grad(lambda x: pure_callback(np.sin, struct, stop_gradient(x)) * x)(2.0) == np.sin(2.0)
    assert grad(lambda x, n: x * pure_callback(np.square, n, n))(2.0, np.int64(3)) == 9.0


def struct_of(x: Any) -> Any:
    return ShapeDtypeStruct(np.shape(x), x.dtype if hasattr(x, "dtype") else np.float64)


def sine_by_python(x: Any) -> Any:
    return pure_callback(np.sin, struct_of(x), x, vmap_method="expand_dims")


@custom_jvp
def with_jvp(x: Any) -> Any:
    return sine_by_python(x)


with_jvp.defjvp(lambda xs, dots: (with_jvp(xs[0]), cosine_by_python(xs[0]) * dots[0]))


@custom_jvp
def cosine_by_python(x: Any) -> Any:
    return pure_callback(np.cos, struct_of(x), x, vmap_method="broadcast_all")


cosine_by_python.defjvp(lambda xs, dots: (cosine_by_python(xs[0]), -with_jvp(xs[0]) * dots[0]))


@custom_vjp
def with_vjp(x: Any) -> Any:
    return sine_by_python(x)


with_vjp.defvjp(lambda x: (sine_by_python(x), x), lambda x, ct: (cos(x) * ct,))


@pytest.mark.parametrize("function", [with_jvp, with_vjp], ids=["custom_jvp", "custom_vjp"])
def test_pure_callback_with_derivative_of_ones_own_all_laws_hold(function: Any) -> None:
    report = check(function, np.array([0.5, 1.5]), effort=quick)
    # Equations with Python functions as parameters have no text.
    assert {failure.law for failure in report.failures} <= {"print_parse"}, report


def test_pure_callback_in_choices_and_loops() -> None:
    struct = ShapeDtypeStruct((), np.float64)

    def double(x: Any) -> Any:
        return pure_callback(lambda x: 2.0 * x, struct, x, vmap_method="sequential")

    def f(x: Any) -> Any:
        x = cond(x > 1.0, double, lambda x: x, x)
        x, ys = scan(lambda c, y: (double(c) + y, double(y)), x, np.arange(3.0))
        return while_loop(lambda x: pure_callback(lambda x: x < 100.0, np.bool_(), x), double, x), ys

    expected = f(np.float64(1.5))
    for function in (jit(f), jit(f, backend="numpy")):
        out = function(np.float64(1.5))
        np.testing.assert_array_equal(np.asarray(out[0]), expected[0])
        np.testing.assert_array_equal(np.asarray(out[1]), expected[1])


def test_pure_callback_runs_optimizer_in_python() -> None:
    """A function in Python that runs compiled programs, in a program that differentiates around it."""

    @jit
    def objective(x: Any, target: Any) -> Any:
        return ((x - target) ** 2).sum()

    descend = jit(value_and_grad(objective))

    def minimize(target: Any) -> Any:
        x = np.zeros_like(target)
        for _ in range(60):
            _, slope = descend(x, target)
            x = x - 0.25 * np.asarray(slope)
        return x

    @custom_jvp
    def argmin(target: Any) -> Any:
        return pure_callback(minimize, struct_of(target), target, vmap_method="sequential")

    argmin.defjvp(lambda xs, dots: (argmin(xs[0]), dots[0]))
    out = jit(vmap(grad(lambda t: (argmin(t) ** 2).sum())))(X)
    np.testing.assert_allclose(np.asarray(out), 2 * X, rtol=1e-12, atol=1e-12)
