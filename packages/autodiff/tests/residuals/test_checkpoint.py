"""``checkpoint``: the same values and derivatives; the backward pass computes intermediate values again."""

import functools

import numpy as np
import pytest

from lawful import debug
from lawful.autodiff import (
    checkpoint,
    checkpoint_policies,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    remat,
    value_and_grad,
    vjp,
)
from lawful.batching import vmap
from lawful.core import Primitive, check_jaxpr, eval_closed_jaxpr
from lawful.ops import cos, dot, exp, reduce_sum, sin
from lawful.staging import cse_jaxpr, dce_jaxpr, inline_jaxpr, jit, make_jaxpr, partial_eval_jaxpr

X = np.array([0.3, -0.7, 1.1])
W = np.array([[0.2, -0.5, 1.0], [0.7, 0.1, -0.3], [-0.4, 0.6, 0.8]])
SCALES = np.array([[1.0], [2.0]])


def total(x):
    return reduce_sum(x, (0,))


def model(w, x):
    h = sin(dot(w, x))
    return total(cos(dot(w, h)) * exp(x))


def nested(wrap):
    def function(w, x):
        inner = wrap(lambda h: sin(dot(w, h)))
        middle = wrap(lambda h: inner(cos(inner(h))))
        return total(middle(middle(x)))

    return function


everything = functools.partial(checkpoint, policy=checkpoint_policies.everything_saveable)
PAIRS = {
    "model": (checkpoint(model), model),
    "nested": (nested(checkpoint), nested(lambda f: f)),
    "nested, everything kept": (checkpoint(nested(everything)), nested(lambda f: f)),
    "no barrier": (checkpoint(model, prevent_cse=False), model),
    "twice": (checkpoint(checkpoint(model)), model),
    "compiled inside": (checkpoint(jit(model, backend="numpy")), model),
    "compiled outside": (jit(checkpoint(model), backend="numpy"), model),
    "dots kept": (checkpoint(model, policy=checkpoint_policies.dots_saveable), model),
    "everything kept": (everything(model), model),
}
TRANSFORMATIONS = {
    "itself": lambda f: f,
    "jit": lambda f: jit(f, backend="numpy"),
    "grad": lambda f: grad(f, (0, 1)),
    "value_and_grad": lambda f: value_and_grad(f),
    "jvp": lambda f: lambda w, x: jvp(f, (w, x), (w * w, x * x)),
    "jvp by one": lambda f: lambda w, x: jvp(lambda x: f(w, x), (x,), (x * x,)),
    "linearize": lambda f: lambda w, x: linearize(f, w, x)[1](w, x),
    "vjp": lambda f: lambda w, x: vjp(f, w, x)[1](np.float64(0.7)),
    "jvp of grad": lambda f: lambda w, x: jvp(grad(f), (w, x), (w * w, x * x)),
    "grad of jvp": lambda f: grad(lambda w, x: jvp(f, (w, x), (w * w, x * x))[1], (0, 1)),
    "grad of grad": lambda f: grad(lambda w, x: total(grad(f, 1)(w, x) * x), (0, 1)),
    "hessian": lambda f: hessian(f, 1),
    "reverse over reverse": lambda f: jacrev(jacrev(f, 1), 1),
    "forward over forward": lambda f: jacfwd(jacfwd(f, 1), 1),
    "third": lambda f: grad(lambda w, x: total(grad(lambda x: total(grad(f, 1)(w, x)))(x) * x), 1),
    "vmap": lambda f: lambda w, x: vmap(f, (None, 0))(w, x * SCALES),
    "vmap of grad": lambda f: lambda w, x: vmap(grad(f, (0, 1)), (None, 0))(w, x * SCALES),
    "grad of vmap": lambda f: grad(lambda w, x: total(vmap(f, (0, None))(w * np.ones((2, 1, 1)), x)), (0, 1)),
    "vmap of nothing mapped": lambda f: lambda w, x: vmap(lambda _: f(w, x), axis_size=2, in_axes=None)(x),
    "jit of grad": lambda f: jit(grad(f, (0, 1)), backend="numpy"),
    "grad of jit": lambda f: grad(jit(f, backend="numpy"), (0, 1)),
    "jit of vmap of jit of grad": lambda f: (
        lambda w, x: jit(vmap(jit(grad(f), backend="numpy"), (None, 0)), backend="numpy")(w, x * SCALES)
    ),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_checkpoint_function_under_every_transformation(name, transformation, require_same):
    checkpointed, plain = (TRANSFORMATIONS[transformation](f) for f in PAIRS[name])
    require_same(checkpointed(W, X), plain(W, X), 1e-12)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_checkpoint_programs_are_well_typed(name, transformation):
    closed = make_jaxpr(TRANSFORMATIONS[transformation](PAIRS[name][0]))(W, X)
    check_jaxpr(closed)
    for rewritten in (cse_jaxpr(closed), inline_jaxpr(closed), dce_jaxpr(closed, (True,) * len(closed.out_avals))):
        check_jaxpr(rewritten)


# Counts of computations


@pytest.fixture
def counted():
    """A sine that counts its evaluations in ``counted.runs``."""
    primitive = Primitive("counted_sine")

    @primitive.def_impl
    def impl(x):
        counted.runs += 1
        return np.sin(x)

    primitive.def_abstract_eval(lambda x: x)
    primitive.def_jvp(lambda primals, tangents: (primitive.bind(*primals), tangents[0] * cos(primals[0])))

    def counted(x):
        return primitive.bind(x)

    counted.runs = 0
    return counted


def runs(counted, function):
    counted.runs = 0
    function()
    return counted.runs


def test_checkpoint_backward_pass_computes_values_again(counted):
    def f(x):
        return cos(counted(x))

    for g, expected in ((f, (1, 0)), (checkpoint(f), (1, 1)), (everything(f), (1, 0))):
        _, pull = vjp(g, X)
        counted.runs = 0
        assert runs(counted, lambda g=g: vjp(g, X)) == expected[0]
        assert [runs(counted, lambda pull=pull: pull(X)) for _ in range(2)] == [expected[1]] * 2


def test_checkpoint_forward_mode_computes_nothing_again(counted):
    assert runs(counted, lambda: jvp(checkpoint(lambda x: cos(counted(x))), (X,), (X,))) == 1


def test_checkpoint_nested_recomputes_once_for_each_level(counted):
    """Innermost values are computed forward, again for the outer one, and again for the inner one."""
    inner = checkpoint(lambda x: cos(counted(x)))
    assert runs(counted, lambda: grad(lambda x: total(cos(inner(x))))(X)) == 2
    outer = checkpoint(lambda x: cos(inner(x)))
    assert runs(counted, lambda: grad(lambda x: total(outer(x)))(X)) == 3


def test_checkpoint_what_nothing_needs_is_not_computed_again(counted):
    f = checkpoint(lambda x: (x * x, counted(x)))
    assert runs(counted, lambda: grad(lambda x: total(f(x)[0]))(X)) == 1
    assert runs(counted, lambda: grad(lambda x: total(f(x)[1]))(X)) == 1  # the derivative of a sine is a cosine


def test_checkpoint_only_arguments_are_kept():
    _, pull = vjp(checkpoint(model), W, X)
    kept = pull.jaxpr.consts
    assert len(kept) == 2
    np.testing.assert_array_equal(kept[0], W)
    np.testing.assert_array_equal(kept[1], X)
    assert len(vjp(model, W, X)[1].jaxpr.consts) > 4


def test_checkpoint_residuals_of_many_layers():
    """The residuals of checkpointed layers do not grow with the work inside each layer."""

    def layer(x):
        for _ in range(6):
            x = sin(x) * cos(x)
        return x

    def layers(wrap, x):
        for _ in range(4):
            x = wrap(layer)(x)
        return x

    kept = {
        name: sum(x.nbytes for x in vjp(functools.partial(layers, wrap), X)[1].jaxpr.consts)
        for name, wrap in (("plain", lambda f: f), ("checkpoint", checkpoint))
    }
    assert kept["checkpoint"] == 4 * X.nbytes  # the argument of each layer
    assert kept["plain"] >= 4 * 6 * 2 * X.nbytes


def test_checkpoint_compiled_programs_compute_again(primitives_of):
    def count(f):
        return primitives_of(make_jaxpr(grad(f))(X))["sin"]

    def f(x):
        return total(sin(sin(sin(x))))

    # The sines of the derivative need the inner two again.
    assert (count(f), count(checkpoint(f)), count(everything(f))) == (3, 5, 3)
    assert count(jit(checkpoint(f), backend="numpy")) == 5
    assert count(checkpoint(jit(f, backend="numpy"))) == 5


@pytest.mark.parametrize("prevent_cse", [True, False])
def test_checkpoint_common_subexpression_elimination_leaves_it(prevent_cse, primitives_of):
    def f(x):
        for _ in range(3):
            x = checkpoint(lambda x: sin(sin(sin(x))), prevent_cse=prevent_cse)(x)
        return total(x)

    closed = make_jaxpr(grad(f))(X)
    before = primitives_of(closed)["sin"]
    assert before == 15
    assert primitives_of(cse_jaxpr(closed))["sin"] == before
    assert primitives_of(cse_jaxpr(inline_jaxpr(closed)))["sin"] == before


def test_checkpoint_prevent_cse_of_single_arguments():
    """It is True if it is for one of them."""
    for tree_of_switches, wanted in (((False, True), True), (({"w": False}, False), False)):
        f = checkpoint(lambda x, y: sin(x["w"]) * y, prevent_cse=tree_of_switches)
        (eqn,) = make_jaxpr(f)({"w": 1.0}, 2.0).eqns
        assert eqn.params["prevent_cse"] is wanted


# The primitive


def test_checkpoint_prints_as_a_call():
    assert str(make_jaxpr(checkpoint(sin))(X)) == (
        "{ lambda ; a:f64[3]. let\n"
        "    b:f64[3] = checkpoint[\n"
        "      differentiated=False\n"
        "      policy=None\n"
        "      prevent_cse=True\n"
        "      jaxpr={ lambda ; a:f64[3]. let b:f64[3] = sin a in (b,) }\n"
        "    ] a\n"
        "  in (b,) }"
    )


def test_checkpoint_marks_recomputed_values_as_differentiated():
    closed = make_jaxpr(lambda w, x: vjp(checkpoint(model), w, x)[1](1.0))(W, X)
    marks = [eqn.params["differentiated"] for eqn in closed.eqns if eqn.primitive.name == "checkpoint"]
    assert marks == [False, True]


def test_checkpoint_dead_results_are_not_computed(primitives_of):
    closed = make_jaxpr(checkpoint(lambda x, y: (sin(x), cos(y), exp(x))))(X, X)
    smaller = dce_jaxpr(closed, (False, True, False), keep_inputs=False)
    assert primitives_of(smaller) == {"checkpoint": 1, "cos": 1}
    assert len(smaller.jaxpr.invars) == 1


def test_partial_eval_jaxpr_of_checkpoint(primitives_of):
    """The known part is computed once; the unknown part recomputes what it needs of it."""
    closed = make_jaxpr(checkpoint(lambda x, y: (exp(sin(x)), sin(x) * y)))(X, X)
    split = partial_eval_jaxpr(closed, (False, True))
    assert split.unknown_out == (False, True)
    assert split.residual_count == 1  # x alone
    assert primitives_of(split.known) == {"checkpoint": 1, "sin": 1, "exp": 1}
    assert primitives_of(split.unknown) == {"checkpoint": 1, "sin": 1, "mul": 1}
    known, residual = eval_closed_jaxpr(split.known, X)
    np.testing.assert_allclose(known, np.exp(np.sin(X)))
    np.testing.assert_allclose(eval_closed_jaxpr(split.unknown, residual, W[0]), [np.sin(X) * W[0]])


def test_checkpoint_transposed_where_it_is_linear():
    (x_bar,) = linear_transpose(checkpoint(lambda x: dot(W, x)), X)(X)
    np.testing.assert_allclose(x_bar, W.T @ X)


# Arguments and results


def test_checkpoint_keeps_structures_types_and_weakness(require_same):
    def f(a, *, scale):
        return {"s": a["p"][0] * scale, "i": a["n"] + 1, "w": scale * 2.0, "none": None}, (a["n"],)

    args = ({"p": [np.ones(2, np.float32)], "n": np.arange(3)},)
    require_same(checkpoint(f)(*args, scale=2.0), f(*args, scale=2.0))
    require_same(checkpoint(sin)(1.0), sin(1.0))
    require_same(checkpoint(lambda x: x)(2), 2)


def test_checkpoint_static_arguments():
    @functools.partial(checkpoint, static_argnums=(1,))
    def f(x, power, label="a"):
        return x**power if label == "a" else -x

    assert grad(f)(3.0, 2) == 6.0
    assert grad(f)(3.0, power=3) == 27.0
    g = checkpoint(lambda x, label: {"plus": x, "minus": -x}[label], static_argnames="label")
    assert grad(g)(3.0, "minus") == -1.0
    assert grad(checkpoint(lambda n, x: x * n, static_argnums=-2), 1)(2, 3.0) == 2.0


def test_checkpoint_its_other_name():
    assert remat is checkpoint
    assert checkpoint(model).__name__ == "model"


def test_checkpoint_closes_over_enclosing_tracers():
    def f(x):
        g = checkpoint(lambda y: sin(x * y))
        return g(x) + jvp(checkpoint(lambda y: x * sin(y)), (x,), (1.0,))[1]

    def plain(x):
        return sin(x * x) + x * cos(x)

    for derivative in (lambda f: f, grad, lambda f: grad(grad(f)), lambda f: jit(grad(f), backend="numpy")):
        np.testing.assert_allclose(derivative(f)(0.7), derivative(plain)(0.7), rtol=1e-12)


def test_checkpoint_reads_closure_at_each_call():
    """A variable that the function closes over is read at each call."""
    scale = 2.0
    f = checkpoint(lambda x: x * scale)
    assert f(3.0) == 6.0
    scale = 5.0
    assert f(3.0) == 15.0


def test_checkpoint_later_changes_of_arrays_change_no_derivative():
    x, w = X.copy(), W.copy()
    _, pull = vjp(checkpoint(lambda x: sin(dot(w, sin(x)))), x)
    expected = pull(X)
    x[:] = w[:] = 0.0
    np.testing.assert_array_equal(pull(X), expected)


def test_checkpoint_results_share_no_memory():
    x = X.copy()
    y, z = checkpoint(lambda x: (x, x))(x)
    assert not np.shares_memory(y, x)
    assert not np.shares_memory(y, z)
    y[:] = 0.0
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("f", [lambda y: y, sin, lambda y: sin(sin(y))])
def test_checkpoint_recomputes_no_effects_for_an_unused_result(f):
    """The linear program computes the call again for its results, and for them only."""
    calls = []

    def program(x):
        checkpoint(lambda y: (debug.callback(calls.append, y), f(y))[1])(x)
        return x

    push = linearize(program, 1.0)[1]
    assert push(2.0) == push(3.0) - 1.0
    assert push.jaxpr.eqns == []
    assert grad(program)(1.0) == 1.0
    assert calls == [1.0, 1.0]
