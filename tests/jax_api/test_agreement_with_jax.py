"""Functions that JAX has under other names, beside JAX: values, both derivatives, batches, compiled."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import lawful.jax
from lawful import batching, linalg, nn, ops
from lawful.autodiff import jvp, vjp
from lawful.batching import vmap
from lawful.staging import jit

RANDOM = np.random.default_rng(0)
A, B, V = RANDOM.normal(size=(4, 4)), RANDOM.normal(size=(4, 3)), RANDOM.normal(size=5)
P = A @ A.T + np.eye(4)
X = np.array([-6.5, -3.0, -1.0, -0.4, 0.0, 0.3, 1.0, 2.5, 6.0, 7.5])
MASK = np.array([True, False, True, True, True, False, True, True, True, True])
QUERY, KEYS, VALUES = (
    RANDOM.normal(size=(2, 5, 4, 3)),
    RANDOM.normal(size=(2, 6, 2, 3)),
    RANDOM.normal(size=(2, 6, 2, 3)),
)
SIZES = np.array([1, 0, 3])
IMAGE, KERNEL = RANDOM.normal(size=(2, 3, 6, 5)), RANDOM.normal(size=(4, 3 * 2 * 3, 5, 3))


def parts(x: Any) -> list[Any]:
    return jax.tree.leaves(x)


def agree(ours: Any, theirs: Any, rtol: float = 1e-9) -> None:
    for x, y in zip(parts(ours), parts(theirs), strict=True):
        assert np.shape(x) == np.shape(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=rtol / 10)


ACTIVATIONS = (
    "celu elu gelu glu hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid mish relu relu6 selu sigmoid silu "
    "soft_sign softplus sparse_plus sparse_sigmoid squareplus softmax log_softmax logmeanexp standardize"
)

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[Any, ...]]] = {
    **{name: (getattr(nn, name), getattr(jax.nn, name), (X,)) for name in ACTIVATIONS.split()},
    "gelu exact": (lambda x: nn.gelu(x, False), lambda x: jax.nn.gelu(x, False), (X,)),
    "log1mexp": (nn.log1mexp, jax.nn.log1mexp, (np.abs(X) + 0.1,)),
    "softmax where": (lambda x: nn.softmax(x, where=MASK), lambda x: jax.nn.softmax(x, where=MASK), (X,)),
    "logmeanexp where": (lambda x: nn.logmeanexp(x, where=MASK), lambda x: jax.nn.logmeanexp(x, where=MASK), (X,)),
    "standardize stable": (
        lambda x: nn.standardize(x, algorithm="stable"),
        lambda x: jax.nn.standardize(x, algorithm="stable"),
        (X,),
    ),
    "attention": (nn.dot_product_attention, jax.nn.dot_product_attention, (QUERY, KEYS, VALUES)),
    "attention causal": (
        lambda *x: nn.dot_product_attention(*x, is_causal=True, local_window_size=2),
        lambda *x: jax.nn.dot_product_attention(*x, is_causal=True, local_window_size=2),
        (QUERY, KEYS, VALUES),
    ),
    "solve_triangular": (
        lambda a, b: linalg.solve_triangular(a, b, trans=1),
        lambda a, b: jax.scipy.linalg.solve_triangular(a, b, trans=1),
        (A, B),
    ),
    "cho_solve": (
        lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b),
        lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b),
        (P, B),
    ),
    "lu_solve": (
        lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1),
        lambda a, b: jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(a), b, trans=1),
        (A, B),
    ),
    "solve pos": (
        lambda a, b: linalg.solve(a @ a.mT + b @ b.mT, b, assume_a="pos"),
        lambda a, b: jax.scipy.linalg.solve(a @ a.mT + b @ b.mT, b, assume_a="pos"),
        (A, B),
    ),
    "expm": (linalg.expm, jax.scipy.linalg.expm, (3 * A,)),
    "block_diag": (linalg.block_diag, jax.scipy.linalg.block_diag, (A, B)),
    "toeplitz": (linalg.toeplitz, jax.scipy.linalg.toeplitz, (V, V[::-1])),
    "mulhi": (
        lambda x: ops.mulhi((x * 1e18).astype(int), 3 * 10**9) + 0 * x,
        lambda x: jax.lax.mulhi((x * 1e18).astype(int), np.int64(3 * 10**9)) + 0 * x,
        (X,),
    ),
    "one_minus_square": (ops.one_minus_square, jax.lax.one_minus_square, (X,)),
    "polynomial": (
        lambda x: ops.polynomial(x, [1.0, 2.0, 3.0]),
        lambda x: jax.lax.polynomial(x, [1.0, 2.0, 3.0]),
        (X,),
    ),
    "index_take": (
        lambda a: ops.index_take(a, (np.array([0, 3]), np.array([2, 1])), (0, 1)),
        lambda a: jax.lax.index_take(a, (np.array([0, 3]), np.array([2, 1])), (0, 1)),
        (A,),
    ),
    "broadcast": (lambda a: ops.broadcast(a, (2, 3)), lambda a: jax.lax.broadcast(a, (2, 3)), (A,)),
    "ragged_dot": (
        lambda a, b: ops.ragged_dot(a, b, SIZES),
        lambda a, b: jax.lax.ragged_dot(a, b, SIZES),
        (A, RANDOM.normal(size=(3, 4, 2))),
    ),
    "patches": (
        lambda x: ops.conv_general_dilated_patches(x, (2, 3), (1, 2), ((0, 0), (1, 2))),
        lambda x: jax.lax.conv_general_dilated_patches(x, (2, 3), (1, 2), ((0, 0), (1, 2))),
        (IMAGE,),
    ),
    "local": (
        lambda x, k: ops.conv_general_dilated_local(x, k, (1, 1), "VALID", (2, 3)),
        lambda x, k: jax.lax.conv_general_dilated_local(x, k, (1, 1), "VALID", (2, 3)),
        (IMAGE, KERNEL),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_jax(name: str) -> None:
    ours, theirs, args = FUNCTIONS[name]
    # JAX computes weights of attention in float32.
    rtol = 1e-5 if "attention" in name else 1e-9
    out = ours(*args)
    tangents = tuple(RANDOM.normal(size=x.shape) for x in args)
    seed = RANDOM.normal(size=np.shape(out))

    def wanted(*args: Any) -> Any:
        return jax.jvp(theirs, args, tangents), jax.vjp(theirs, *args)[1](seed)

    (value, tangent), cotangents = jax.jit(wanted)(*args)  # one program: to compile op by op takes longer
    agree(out, value, rtol)
    agree(jit(ours)(*args), out)
    agree(jvp(ours, args, tangents)[1], tangent, rtol)
    agree(vjp(ours, *args)[1](seed), cotangents, rtol)
    stacked = [np.stack([x, 0.9 * x]) for x in args]
    agree(vmap(ours)(*stacked), np.stack([ours(*args), ours(*[0.9 * x for x in args])]))


EXCHANGES: dict[str, tuple[Callable[[Any], Callable[[Any], Any]], tuple[int, ...]]] = {
    "all_gather": (lambda lib: lambda x: lib.all_gather(x, "i", axis=1), (4, 3)),
    "all_gather tiled": (lambda lib: lambda x: lib.all_gather(x, "i", tiled=True), (4, 3)),
    "all_to_all": (lambda lib: lambda x: lib.all_to_all(x, "i", 1, 0), (4, 3, 4)),
    "all_to_all tiled": (lambda lib: lambda x: lib.all_to_all(x, "i", 0, 1, tiled=True), (4, 8, 3)),
    "ppermute": (lambda lib: lambda x: lib.ppermute(x, "i", [(0, 1), (1, 3), (2, 0), (3, 2)]), (4, 3)),
    "pshuffle": (lambda lib: lambda x: lib.pshuffle(x, "i", [1, 2, 3, 0]), (4, 3)),
    "pswapaxes": (lambda lib: lambda x: lib.pswapaxes(x, "i", 0), (4, 4)),
    "psum_scatter": (lambda lib: lambda x: lib.psum_scatter(x, "i"), (4, 4, 2)),
    "psum_scatter tiled": (
        lambda lib: lambda x: lib.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
        (4, 3, 8),
    ),
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_exchange_over_axis_agrees_with_jax(name: str) -> None:
    make, shape = EXCHANGES[name]
    x = RANDOM.normal(size=shape)
    ours, theirs = vmap(make(batching), axis_name="i"), jax.vmap(make(jax.lax), axis_name="i")
    out = ours(x)
    agree(out, theirs(x))
    agree(jit(ours)(x), out)
    seed = RANDOM.normal(size=out.shape)
    agree(vjp(ours, x)[1](seed), jax.vjp(theirs, x)[1](seed))


def test_all_gather_in_groups_is_gathering_within_each() -> None:
    x = RANDOM.normal(size=(4, 3))
    found = vmap(lambda v: batching.all_gather(v, "i", axis_index_groups=[[0, 2], [3, 1]]), axis_name="i")(x)
    agree(found, np.stack([x[[0, 2]], x[[3, 1]], x[[0, 2]], x[[3, 1]]]))


def test_make_jaxpr_axis_env_records_the_collectives_of_jax() -> None:
    def recorded(jax: Any) -> tuple[list[str], list[tuple[int, ...]]]:
        def function(x: Any) -> Any:
            return jax.lax.psum(x * 2.0, "i") + jax.lax.axis_index("j") * jax.lax.psum(1, ("i", "j"))

        closed, out = jax.make_jaxpr(function, axis_env=[("i", 4), ("j", 2)], return_shape=True)(np.ones(3))
        names = [eqn.primitive.name for eqn in closed.eqns]
        return sorted({"psum" if name.startswith("psum") else name for name in names}), [out.shape]

    ours, theirs = recorded(lawful.jax), recorded(jax)
    assert {"psum", "axis_index"} <= {*ours[0]} & {*theirs[0]}
    assert ours[1] == theirs[1]


def test_traced_lower_takes_the_platforms_of_jax() -> None:
    for module in (lawful.jax, jax):
        traced = module.jit(lambda x: x + 1.0).trace(np.float64(1.0))
        lowered = traced.lower(lowering_platforms=("cpu",))
        assert "stablehlo.add" in lowered.as_text()
        assert lowered.compile()(np.float64(1.0)) == 2.0
    with pytest.raises(ValueError, match=r"of backend 'xla', which has 'cpu' alone, got \('tpu'"):
        lawful.jax.jit(lambda x: x + 1.0).trace(1.0).lower(lowering_platforms=("tpu",))


INITIALIZERS = (
    "glorot_normal glorot_uniform he_normal he_uniform lecun_normal lecun_uniform normal uniform truncated_normal "
    "orthogonal delta_orthogonal"
)


@pytest.mark.parametrize("name", INITIALIZERS.split())
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_initializer_gives_the_numbers_of_jax(name: str, dtype: str) -> None:
    if dtype == "complex64" and name in ("truncated_normal", "uniform"):
        pytest.skip("JAX has these of real numbers only")
    shape = (3, 3, 4, 5)
    ours = getattr(nn.initializers, name)()(np.array([0, 7], np.uint32), shape, dtype)
    theirs = np.asarray(getattr(jax.nn.initializers, name)()(jax.random.PRNGKey(7), shape, dtype))
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=2e-5 if dtype != "float64" else 1e-9, atol=1e-6)
