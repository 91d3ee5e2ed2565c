"""A name is the identity: of values, types, weakness, trees and derivatives."""

import numpy as np
import pytest

from lawful.autodiff import checkpoint_name, grad, jvp, linear_transpose, name_p
from lawful.batching import vmap
from lawful.core import alpha_equivalent, parse_jaxpr
from lawful.ops import sin
from lawful.staging import cse_jaxpr, jit, make_jaxpr

X = np.array([0.3, -0.7])


@pytest.mark.parametrize("x", [1.0, 2, True, 1j, np.float32(3.0), X, np.zeros((0, 2)), np.array([True, False])])
def test_checkpoint_name_values_pass_as_they_are(x, require_same):
    require_same(checkpoint_name(x, "h"), x)
    require_same(jit(lambda x: checkpoint_name(x, "h"), backend="numpy")(x), x)


def test_checkpoint_name_leaves_of_trees_are_named():
    closed = make_jaxpr(lambda x: checkpoint_name({"a": x, "b": (x, None)}, "a name"))(X)
    assert [eqn.params for eqn in closed.eqns] == [{"name": "a name"}] * 2
    assert "name[name='a name'] a" in str(closed)
    assert alpha_equivalent(parse_jaxpr(str(closed)), closed)


def test_checkpoint_name_tangents_have_no_name(primitives_of, require_same):
    def f(x):
        return sin(checkpoint_name(x, "h"))

    require_same(jvp(f, (X,), (X,)), jvp(sin, (X,), (X,)))
    require_same(vmap(grad(f))(X), vmap(grad(sin))(X))
    assert primitives_of(make_jaxpr(lambda x: jvp(f, (x,), (x,)))(X))["name"] == 1
    require_same(linear_transpose(lambda x: checkpoint_name(x, "h"), X)(2.0 * X), (2.0 * X,))


def test_checkpoint_name_names_tell_values_apart():
    closed = make_jaxpr(lambda x: (checkpoint_name(x, "h"), checkpoint_name(x, "g"), checkpoint_name(x, "h")))(X)
    assert [eqn.params["name"] for eqn in cse_jaxpr(closed).eqns] == ["h", "g"]
    assert name_p.name == "name"
