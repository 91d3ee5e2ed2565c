"""The function that vjp returns is a pytree of its residuals."""

from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import (
    linear_transpose,
    linearize,
    vjp,
)
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    get_aval,
)
from lawful.staging import jit as jit_by


def f(x: Any, y: Any) -> Any:
    return {"sum": ops.reduce_sum(ops.sin(x) * y, (0,)), "exp": ops.exp(x * y)}


@pytest.mark.parametrize(
    "make", [lambda f: vjp(f, 1.0)[1], lambda f: linear_transpose(f, 1.0)], ids=["vjp", "linear_transpose"]
)
def test_vjp_pullback_of_several_cotangents(make: Any) -> None:
    pullback = make(lambda x: 2.0 * x)
    for call in (
        lambda: pullback(1.0, 2.0),
        lambda: pullback(),
        lambda: pullback(ct=1.0),
        lambda: pullback(1.0, b=2.0),
    ):
        with pytest.raises(ArgumentTypeError, match="expected one cotangent, of the tree of the result"):
            call()


def weighted(x: dict[str, Any]) -> dict[str, Any]:
    return {"product": ops.mul(ops.sin(x["a"]), x["b"]), "double": ops.add(x["b"], x["b"]), "one": 1.0}


@pytest.mark.parametrize("backend", [None, "numpy"])
def test_vjp_function_is_a_pytree_of_residuals(backend: str | None) -> None:
    """Functions of `jit` return it and take it; another one of the same types is another program."""
    x = {"a": np.array([0.5, 2.0]), "b": np.array([1.0, -3.0])}
    ct = {"product": np.array([1.0, 2.0]), "double": np.array([0.5, 0.0]), "one": 3.0}
    (wanted,) = vjp(weighted, x)[1](ct)
    forward = jit_by(lambda x: vjp(weighted, x), backend=backend)
    backward = jit_by(lambda f_vjp, ct: f_vjp(ct), backend=backend)
    for f_vjp in (forward(x)[1], vjp(weighted, x)[1]):
        for (found,) in (f_vjp(ct), backward(f_vjp, ct), tree.map(np.asarray, f_vjp)(ct)):
            tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-15), found, wanted)
    assert all(get_aval(leaf).shape == (2,) for leaf in tree.leaves(vjp(weighted, x)[1]))
    assert tree.structure(vjp(weighted, x)[1]) != tree.structure(vjp(weighted, x)[1])


def test_vjp_function_as_argument_of_vjp_and_vmap() -> None:
    x, ct = np.array([0.5, 2.0]), np.array([3.0, -1.0])
    f_vjp = vjp(ops.sin, x)[1]
    np.testing.assert_array_equal(tree.map(lambda leaf: 2.0 * leaf, f_vjp)(ct)[0], 2.0 * f_vjp(ct)[0])
    out, pull = vjp(lambda g: g(ct)[0], f_vjp)
    np.testing.assert_array_equal(out, f_vjp(ct)[0])
    [[of_cosine]] = map(tree.leaves, pull(np.ones(2)))
    np.testing.assert_array_equal(of_cosine, ct)
    cts = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    (found,) = vmap(lambda g, ct: g(ct), in_axes=(None, 0))(f_vjp, cts)
    np.testing.assert_allclose(found, cts * np.cos(x), rtol=1e-15)


@pytest.mark.parametrize("make", [lambda x: vjp(ops.sin, x)[1], lambda x: linearize(ops.sin, x)[1]])
def test_vjp_function_that_vmap_returned_is_called_within_it(make: Any) -> None:
    x = np.array([0.5, 2.0, 1.0])
    functions = vmap(make)(x)
    with pytest.raises(ArgumentTypeError, match=r"expected residuals of the types .*, got f64\[3\] for f64\[\]; .*vm"):
        functions(1.0)
    found = tree.leaves(vmap(lambda g, v: g(v))(functions, np.ones(3)))
    np.testing.assert_allclose(found, [np.cos(x)], rtol=1e-15)


def test_vjp_function_leaves_are_read_only() -> None:
    f_vjp = vjp(ops.sin, np.array([0.5, 2.0]))[1]
    [leaf] = tree.leaves(f_vjp)
    with pytest.raises(ValueError, match="read-only"):
        leaf[0] = 9.0
    assert "linear program of 1 equations at" in repr(tree.structure(f_vjp))


@pytest.mark.parametrize("outer", [vjp, linearize], ids=["vjp", "linearize"])
@pytest.mark.parametrize("inner", [vjp, linearize], ids=["vjp", "linearize"])
def test_vjp_function_as_auxiliary_output(outer: Any, inner: Any) -> None:
    """Also once the derivative rules are cached."""

    def f(x: Any) -> Any:
        y, g = inner(ops.sin, x)
        return y, g

    x = np.array([0.5, 2.0])
    for _ in range(4):
        g = outer(f, x, has_aux=True)[2]
        np.testing.assert_allclose(tree.leaves(g(np.ones(2))), [np.cos(x)], rtol=1e-15)
