"""Functions of users get Arrays, as under JAX: rules, functions as arguments, and results of methods of tracers."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
import lawful.jax.scipy as jsp
from lawful.autodiff import grad
from lawful.jax import lax
from lawful.jax.custom_batching import custom_vmap, sequential_vmap
from lawful.jax.custom_derivatives import CustomVJPPrimal, SymbolicZero

X: Any = np.arange(2.0)


def test_custom_jvp_rule_gets_arrays() -> None:
    @jax.custom_jvp
    def f(x: Any) -> Any:
        return x.at[0].set(1.0)

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        return f(*primals), primals[0].at[0].set(9.0) * tangents[0].at[1].get()

    assert f(X).tolist() == [1.0, 1.0]
    _, tangent = jax.jvp(lambda x: f(jnp.cos(x) * 0.0 + 1.0 + x), (X,), (X + 1.0,))
    assert tangent.tolist() == [18.0, 4.0]
    assert jax.grad(lambda x: f(2.0 * x).sum())(X).tolist() == [0.0, 22.0]


def test_custom_jvp_rules_of_single_arguments_get_arrays() -> None:
    f = jax.custom_jvp(lambda x, y: x.sum() * y)
    f.defjvps(lambda t, ans, x, y: (t.at[0].mul(ans.astype(float)) * x.at[0].set(3.0)).sum(), None)
    assert np.allclose(jax.grad(lambda x: f(jnp.exp(x), 2.0))(X), [3.0 * 2.0 * (1.0 + np.e), np.e**2])


def test_custom_vjp_rules_get_arrays() -> None:
    @jax.custom_vjp
    def f(x: Any, scale: Any) -> Any:
        return {"out": x["in"].at[0].mul(scale.astype(float))}

    def forward(x: Any, scale: Any) -> Any:
        return f(x, scale), (x, scale)

    def backward(residuals: Any, ct: Any) -> Any:
        x, scale = residuals
        return {"in": ct["out"].at[0].set(x["in"].at[1].get()), "none": None}, scale.astype(ct["out"].dtype)

    f.defvjp(forward, backward)
    x = {"in": X, "none": None}
    assert f(x, 3.0)["out"].tolist() == [0.0, 1.0]
    found, scale = jax.grad(lambda x, s: f({**x, "in": jnp.exp(x["in"])}, s)["out"].sum(), (0, 1))(x, 3.0)
    assert np.allclose(found["in"], [np.e, np.e])
    assert scale == 3.0


def test_custom_vjp_rule_gets_weak_cotangents_of_numbers() -> None:
    """The cotangent of a Python number yields to the dtype of an array, as it does under jit."""
    seen: list[Any] = []
    f = jax.custom_vjp(lambda x: x * 2.0)

    def backward(_: None, ct: Any) -> Any:
        seen.append((ct.weak_type, (ct * jnp.ones(2, jnp.float32)).dtype.name))
        return (ct / 0.0,)

    f.defvjp(lambda x: (f(x), None), backward)
    assert jax.grad(f)(1.0) == jax.jit(jax.grad(f))(1.0) == jnp.inf
    assert jax.grad(f)(np.float64(1.0)) == jnp.inf
    assert seen == [(True, "float32"), (True, "float32"), (False, "float64")]


def test_custom_vjp_symbolic_zeros_gets_arrays() -> None:
    f = jax.custom_vjp(lambda x, y: x.at[0].set(y))

    def forward(x: CustomVJPPrimal, y: CustomVJPPrimal) -> Any:
        assert x.perturbed
        assert not y.perturbed
        return x.value.at[0].set(y.value), None

    def backward(_: None, ct: Any) -> Any:
        return None if type(ct) is SymbolicZero else ct.at[0].set(5.0), None

    f.defvjp(forward, backward, symbolic_zeros=True)
    assert jax.grad(lambda x: f(jnp.sin(x), 2.0).sum())(X).tolist()[0] == 5.0


@pytest.mark.parametrize("kind", [jax.custom_jvp, jax.custom_vjp])
def test_rules_get_nondiff_arguments_as_they_are(kind: Any) -> None:
    setting: Any = np.arange(3)
    seen: list[Any] = []

    def noted(x: Any, result: Any) -> Any:
        seen.append(x)
        return result

    f = kind(lambda setting, x: x * (type(setting) is np.ndarray), nondiff_argnums=(0,))
    if kind is jax.custom_jvp:
        f.defjvp(lambda setting, primals, tangents: noted(setting, (f(setting, *primals), tangents[0])))
    else:
        f.defvjp(
            lambda setting, x: noted(setting, (f(setting, x), None)),
            lambda s, _, ct: noted(s, (ct,)),
        )
    assert jax.grad(lambda x: f(setting, x).sum())(X).tolist() == [1.0, 1.0]
    assert seen
    assert all(x is setting for x in seen)


def test_custom_vmap_rules_get_arrays() -> None:
    f = custom_vmap(lambda x: x.at[0].set(1.0))
    f.def_vmap(lambda size, batched, x: (x.at[:, 0].set(size), batched[0]))
    assert f(X).tolist() == [1.0, 1.0]
    assert jax.vmap(f)(np.ones((3, 2))).tolist() == [[3.0, 1.0]] * 3
    assert sequential_vmap(lambda x: x.at[0].set(5.0))(X).tolist() == [5.0, 1.0]


def test_custom_gradient_gets_arrays() -> None:
    f = jax.custom_gradient(lambda x: (x.at[0].set(2.0), lambda ct: (ct.at[0].set(7.0),)))
    assert f(X).tolist() == [2.0, 1.0]
    assert jax.grad(lambda x: f(3.0 * x).sum())(X).tolist() == [21.0, 3.0]


def test_decorated_function_keeps_its_names() -> None:
    def named(x: Any) -> Any:
        """Docstring."""
        return x

    f = jax.custom_jvp(named)
    assert (f.__name__, f.__doc__, f.__wrapped__) == ("named", "Docstring.", named)
    assert isinstance(f, jax.custom_jvp)
    rule = lambda primals, tangents: (primals[0], tangents[0])  # noqa: E731
    assert f.defjvp(rule) is rule


METHODS: dict[str, Callable[[Any], Any]] = {
    "comparison": lambda x: (x > 0.0).at[0].set(True),
    "equality": lambda x: (x != 1.0).at[0].set(True),
    "argsort": lambda x: x.argsort().at[0].set(1),
    "argmax": lambda x: x.argmax().at[()].set(1),
    "astype": lambda x: x.astype(int).at[0].add(1),
    "all": lambda x: x.all().at[()].set(True),
    "round": lambda x: round(x).at[0].add(1.0),
    "searchsorted": lambda x: x.searchsorted(0.5).at[()].add(1),
    "nonzero": lambda x: x.nonzero()[0].at[0].add(1),
    "floor_divide": lambda x: (x // 2.0).at[0].add(1.0),
}


@pytest.mark.parametrize("name", METHODS)
def test_known_results_of_tracers_are_arrays(name: str) -> None:
    value = METHODS[name]
    found = jax.grad(lambda x: jnp.sum(x * value(x)))(X)
    assert np.allclose(found, value(jnp.asarray(X)))
    assert np.allclose(jax.jvp(value, (X,), (X,))[0], value(jnp.asarray(X)))


def test_known_results_of_tracers_elsewhere_are_numpys() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(type(x > 0.0))
        return x.sum()

    grad(f)(X)
    jax.grad(f)(X)
    grad(f)(X)
    assert seen == [np.ndarray, jax.Array, np.ndarray]


FUNCTIONS: dict[str, Callable[[], Any]] = {
    "apply_along_axis": lambda: jnp.apply_along_axis(lambda v: v.at[0].set(5.0), 0, np.ones((2, 1)))[:, 0],
    "apply_over_axes": lambda: (
        jnp.apply_over_axes(lambda v, axis: v.at[0].set(9.0).sum(axis), np.ones(2), [0])[0] * [0.5, 0.1]
    ),
    "piecewise": lambda: jnp.piecewise(X, [X < 1.0], [lambda v: v.at[...].set(5.0), 1.0]),
    "fromfunction": lambda: jnp.fromfunction(lambda i: i.astype(float), (2,)).at[:].set(jnp.array([5.0, 1.0])),
    "associative_scan": lambda: lax.associative_scan(lambda a, b: a.at[:].add(b), np.array([5.0, -4.0])),
    "cg": lambda: jsp.sparse.linalg.cg(lambda v: v.at[:].mul(2.0), np.array([10.0, 2.0]))[0],
    "gmres": lambda: jsp.sparse.linalg.gmres(lambda v: v.at[:].mul(2.0), np.array([10.0, 2.0]))[0],
    "bicgstab": lambda: jsp.sparse.linalg.bicgstab(lambda v: v.at[:].mul(2.0), np.array([10.0, 2.0]))[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_arguments_get_arrays(name: str) -> None:
    assert np.allclose(FUNCTIONS[name](), [5.0, 1.0])


def test_pad_by_a_function_of_rows() -> None:
    def mode(row: Any, widths: Any, axis: int, kwargs: Any) -> Any:
        return row.at[: widths[0]].set(kwargs["value"]).at[row.size - widths[1] :].set(axis)

    def pad(x: Any) -> Any:
        return jnp.pad(x, ((1, 0), (0, 2)), mode, value=7.0)

    expected = [[7.0, 7.0, 1.0, 1.0], [1.0, 2.0, 1.0, 1.0]]
    assert pad(np.array([[1.0, 2.0]])).tolist() == expected
    assert jax.jit(pad)(np.array([[1.0, 2.0]])).tolist() == expected


LOOPS: dict[str, Callable[[], Any]] = {
    "while_loop": lambda: lax.while_loop(
        lambda c: c.at[0].get() < 5.0, lambda c: c.at[0].add(1.0), np.array([0.0, 1.0])
    ),
    "fori_loop": lambda: lax.fori_loop(0, 5, lambda i, c: c.at[0].add(1.0), np.array([0.0, 1.0])),
    "scan": lambda: lax.scan(
        lambda c, x: (c.at[0].add(x.at[()].get()), None), np.array([0.0, 1.0]), np.array([2.0, 3.0])
    )[0],
    "map": lambda: lax.map(lambda x: x.at[0].add(1.0), np.array([[4.0], [0.0]]))[:, 0],
    "cond": lambda: lax.cond(True, lambda c: c.at[0].add(5.0), lambda c: c, np.array([0.0, 1.0])),
    "switch": lambda: lax.switch(0, [lambda c: c.at[0].add(5.0), lambda c: c], np.array([0.0, 1.0])),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_without_jit_give_arrays(name: str) -> None:
    with jax.disable_jit():
        assert LOOPS[name]().tolist() == [5.0, 1.0]
    assert LOOPS[name]().tolist() == [5.0, 1.0]


def test_signature_of_a_compiled_function_is_its_own() -> None:
    """Also for ``follow_wrapped=False``, by which libraries bind the arguments of a function that they wrap."""

    def f(x: float, *, n: int = 1) -> float:
        return x * n

    for g in (jax.jit(f), jax.jit(jax.jit(f)), jax.pmap(f)):
        for follow_wrapped in (True, False):
            assert inspect.signature(g, follow_wrapped=follow_wrapped) == inspect.signature(f)
    assert inspect.signature(jax.jit(type("Model", (), {"__call__": lambda self, x: x})())).parameters.keys() == {"x"}
