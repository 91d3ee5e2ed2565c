"""Functions with transformations around them, and the functions of flat arguments that are made of these."""

from collections.abc import Generator
from typing import Any

import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.jax import api_util
from lawful.jax.experimental.sparse import BCOO, BCSR
from lawful.jax.extend import linear_util
from lawful.jax.extend.core.primitives import call_p, closed_call_p, jit_p


@linear_util.transformation
def scaled(factor: Any, *args: Any) -> Generator[Any, Any, None]:
    results = yield args, {}
    yield [factor * x for x in results]


def test_transformations_of_generators_compose() -> None:
    function = linear_util.wrap_init(lambda x: [x + 1.0])
    assert scaled(scaled(function, 2.0), 3.0).call_wrapped(1.0) == [12.0]


def test_wrap_init_takes_keyword_arguments() -> None:
    function = linear_util.wrap_init(jnp.sum, {"axis": 0}, debug_info=None)
    assert function.call_wrapped(jnp.ones((2, 1))).tolist() == [2.0]
    assert linear_util.wrap_init(test_wrap_init_takes_keyword_arguments).__name__.startswith("test_wrap_init")


def test_flatten_fun_is_traced_and_gives_the_tree() -> None:
    leaves, in_tree = jax.tree.flatten(((1.0,), {"y": 2.0}))
    info = api_util.debug_info("test", max, (1.0,), {"y": 2.0})
    function = linear_util.wrap_init(lambda x, y: {"sum": x + y}, debug_info=info)
    flat, out_tree = api_util.flatten_fun(function, in_tree)
    jaxpr = jax.make_jaxpr(flat.call_wrapped)(*leaves)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["add"]
    assert out_tree() == jax.tree.structure({"sum": 0.0})


def test_flatten_fun_nokwargs_gives_the_tree() -> None:
    flat, out_tree = api_util.flatten_fun_nokwargs(
        linear_util.wrap_init(lambda x, y: (y, [x])), jax.tree.structure((0, 0))
    )
    with pytest.raises(linear_util.StoreException, match="call first"):
        out_tree()
    assert flat.call_wrapped(1.0, 2.0) == [2.0, 1.0]
    assert out_tree() == jax.tree.structure((0, [0]))


def test_call_primitives_are_keys() -> None:
    assert len({call_p, closed_call_p, jit_p}) == 3


@pytest.mark.parametrize("sparse", [BCOO, BCSR])
def test_no_array_is_sparse(sparse: Any) -> None:
    assert not isinstance(jnp.ones(2), sparse)
    with pytest.raises(NotImplementedError, match="sparse"):
        sparse((jnp.ones(1), jnp.zeros((1, 1))), shape=(2,))
    with pytest.raises(AttributeError, match="sparse arrays are not part of lawful"):
        sparse.fromdense(jnp.ones(2))
