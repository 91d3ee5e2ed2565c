"""The residuals of each policy of ``checkpoint``, and its text."""

import numpy as np
import pytest

from lawful.autodiff import (
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    grad,
    hessian,
    name_p,
    saved_residuals,
    vjp,
)
from lawful.batching import vmap
from lawful.core import alpha_equivalent, eval_closed_jaxpr, get_aval, parse_jaxpr
from lawful.ops import conv_general_dilated, cos, dot, dot_general, reduce_sum, sin
from lawful.staging import jit, make_jaxpr

X = np.array([0.3, -0.7])
W = np.array([[0.2, -0.5], [0.7, 0.1]])
POLICIES = {
    "everything_saveable": checkpoint_policies.everything_saveable,
    "nothing_saveable": checkpoint_policies.nothing_saveable,
    "dots_saveable": checkpoint_policies.dots_saveable,
    "dots_with_no_batch_dims_saveable": checkpoint_policies.dots_with_no_batch_dims_saveable,
    "save_only_these_names": checkpoint_policies.save_only_these_names("h", "a b"),
    "save_any_names_but_these": checkpoint_policies.save_any_names_but_these("h"),
    "save_anything_except_these_names": checkpoint_policies.save_anything_except_these_names("h"),
    "save_from_both_policies": checkpoint_policies.save_from_both_policies(
        checkpoint_policies.dots_saveable, checkpoint_policies.save_only_these_names("h")
    ),
    "one's own": lambda primitive, *avals, **params: primitive.name == "cos",
}


def model(w, x):
    h = checkpoint_name(sin(dot(w, x)), "h")
    g = checkpoint_name(sin(dot(w, h)), "g")
    return reduce_sum(g * g, (0,))


def kept(f, *args):
    """The residuals besides the arguments, by operation or name."""
    origins = [origin.split(" at ")[0] for _, origin in saved_residuals(f, *args)]
    return sorted(origin.removeprefix("output of ") for origin in origins if not origin.startswith("the argument"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nothing_saveable", []),
        ("everything_saveable", ["cos", "cos", "named 'g'", "named 'h'"]),
        ("dots_saveable", ["dot_general", "dot_general"]),
        ("dots_with_no_batch_dims_saveable", ["dot_general", "dot_general"]),
        ("save_only_these_names", ["named 'h'"]),
        ("save_any_names_but_these", ["named 'g'"]),
        ("save_anything_except_these_names", ["cos", "cos", "dot_general", "named 'g'"]),
        ("save_from_both_policies", ["dot_general", "dot_general", "named 'h'"]),
        ("one's own", ["cos", "cos"]),
    ],
)
def test_checkpoint_what_is_kept(name, expected):
    assert kept(checkpoint(model, policy=POLICIES[name]), W, X) == expected


def test_checkpoint_without_a_policy_nothing_is_kept():
    assert kept(checkpoint(model), W, X) == []


@pytest.mark.parametrize("name", POLICIES)
def test_checkpoint_derivatives_do_not_depend_on_the_policy(name, require_same):
    f = checkpoint(model, policy=POLICIES[name])
    require_same(f(W, X), model(W, X))
    require_same(grad(f, (0, 1))(W, X), grad(model, (0, 1))(W, X), 1e-12)
    require_same(hessian(f, (0, 1))(W, X), hessian(model, (0, 1))(W, X), 1e-12)
    xs = np.stack([X, 2.0 * X])
    require_same(vmap(grad(f), (None, 0))(W, xs), vmap(grad(model), (None, 0))(W, xs), 1e-12)
    require_same(jit(grad(f), backend="numpy")(W, X), grad(model)(W, X), 1e-12)


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "one's own"])
def test_checkpoint_policy_prints_and_parses(name):
    for f in (checkpoint(model, policy=POLICIES[name]), grad(checkpoint(model, policy=POLICIES[name]))):
        closed = make_jaxpr(f)(W, X)
        assert f"policy={name}" in str(closed) or f"policy=({name}, " in str(closed)
        parsed = parse_jaxpr(str(closed), closed.consts)
        assert alpha_equivalent(parsed, closed)
        assert get_aval(grad(lambda x, parsed=parsed: run(parsed, W, x))(X)) == get_aval(X)


def run(closed, *args):
    total = 0.0
    for out in eval_closed_jaxpr(closed, *args):
        total = total + reduce_sum(out, tuple(range(get_aval(out).ndim)))
    return total


def test_checkpoint_policies_are_compared_by_what_they_keep():
    assert checkpoint_policies.save_only_these_names("h") == checkpoint_policies.save_only_these_names("h")
    assert checkpoint_policies.save_only_these_names("h") != checkpoint_policies.save_only_these_names("g")
    assert checkpoint_policies.checkpoint_dots == checkpoint_policies.dots_saveable
    assert (
        checkpoint_policies.checkpoint_dots_with_no_batch_dims == checkpoint_policies.dots_with_no_batch_dims_saveable
    )
    both = checkpoint_policies.save_from_both_policies(lambda *_, **__: True, checkpoint_policies.dots_saveable)
    assert repr(both).startswith("save_from_both_policies(<function")
    assert repr(checkpoint_policies.save_any_names_but_these("a", "b")) == "save_any_names_but_these('a', 'b')"


def test_checkpoint_policy_is_a_function_of_an_equation():
    (eqn,) = make_jaxpr(dot)(W, X).eqns
    avals = [atom.aval for atom in eqn.invars]
    assert checkpoint_policies.dots_saveable(eqn.primitive, *avals, **eqn.params) is True
    assert checkpoint_policies.save_only_these_names("h")(eqn.primitive, *avals, **eqn.params) is False
    assert checkpoint_policies.save_only_these_names("h")(name_p, get_aval(X), name="h") is True


def test_checkpoint_policy_gets_types_and_parameters():
    asked = []

    def policy(primitive, *avals, **params):
        asked.append((primitive.name, avals, params))
        return False

    vjp(checkpoint(lambda x: sin(checkpoint_name(x, "h")), policy=policy), X)
    assert ("name", (get_aval(X),), {"name": "h"}) in asked
    assert {name for name, _, _ in asked} == {"name", "sin", "cos"}


def test_checkpoint_batch_dimensions_tell_products_apart():
    def f(a, b):
        return sin(dot_general(a, b, (((2,), (1,)), ((0,), (0,)))))

    a = np.ones((2, 3, 4)), np.ones((2, 4, 3))
    assert kept(checkpoint(f, policy=checkpoint_policies.dots_saveable), *a) == ["dot_general"]
    assert kept(checkpoint(f, policy=checkpoint_policies.dots_with_no_batch_dims_saveable), *a) == []
    # A product gets batch dimensions by being mapped inside, and has none where the whole is mapped outside.
    inside = checkpoint(vmap(lambda w, x: sin(dot(w, x))), policy=POLICIES["dots_with_no_batch_dims_saveable"])
    assert kept(inside, np.ones((3, 2, 2)), np.ones((3, 2))) == []


def test_checkpoint_convolutions_are_products():
    def f(x, w):
        return sin(conv_general_dilated(x, w, (1,), "VALID"))

    args = np.ones((1, 1, 5)), np.ones((1, 1, 2))
    assert kept(checkpoint(f, policy=checkpoint_policies.dots_saveable), *args) == ["conv_general_dilated"]
    assert kept(checkpoint(f, policy=checkpoint_policies.dots_with_no_batch_dims_saveable), *args) == []


# Calls inside


def test_checkpoint_policy_looks_into_compiled_functions(primitives_of):
    f = checkpoint(jit(model, backend="numpy"), policy=checkpoint_policies.dots_saveable)
    assert kept(f, W, X) == ["dot_general", "dot_general"]
    # Neither of the two products is computed again; the gradient has two by each of its factors.
    products = [primitives_of(make_jaxpr(grad(g))(W, X))["dot_general"] for g in (f, checkpoint(jit(model)), model)]
    assert products[0] == products[2] < products[1]


def test_checkpoint_policy_looks_into_functions_called_twice(require_same):
    inner = jit(lambda w, x: checkpoint_name(sin(dot(w, x)), "h"), backend="numpy")

    def f(w, x):
        return reduce_sum(inner(w, inner(w, x)), (0,))

    g = checkpoint(f, policy=POLICIES["save_only_these_names"])
    assert kept(g, W, X) == ["named 'h'"]  # the second one is the result, which no derivative needs
    require_same(grad(g)(W, X), grad(f)(W, X), 1e-12)


def test_checkpoint_outer_policy_covers_inner_functions(primitives_of):
    inner = checkpoint(lambda w, x: sin(dot(w, x)))

    def f(w, x):
        return cos(inner(w, cos(inner(w, x))))

    assert kept(checkpoint(f, policy=checkpoint_policies.dots_saveable), W, X) == ["dot_general", "dot_general"]
    assert kept(checkpoint(f), W, X) == []
    # The inner one does not compute its residuals again either.
    outer = checkpoint(f, policy=checkpoint_policies.dots_saveable)
    found, plainly = (
        primitives_of(make_jaxpr(lambda w, x, g=g: vjp(g, w, x)[1](x))(W, X))["dot_general"]
        for g in (outer, lambda w, x: cos(sin(dot(w, cos(sin(dot(w, x)))))))
    )
    assert found == plainly


def test_checkpoint_nested_policies(primitives_of):
    """The inner policy applies in the backward pass of the outer checkpoint."""

    def f(policy):
        inner = checkpoint(lambda w, x: sin(sin(dot(w, x))), policy=policy)
        return checkpoint(lambda w, x: reduce_sum(inner(w, inner(w, x)), (0,)))

    assert kept(f(checkpoint_policies.dots_saveable), W, X) == []
    counts = [
        primitives_of(make_jaxpr(grad(f(policy)))(W, X))["dot_general"]
        for policy in (None, checkpoint_policies.dots_saveable)
    ]
    assert counts[1] < counts[0]
