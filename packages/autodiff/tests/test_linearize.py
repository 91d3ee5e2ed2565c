"""`linearize`: the function runs once, and what is left is a linear program that repeats none of its work."""

import gc
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import jvp, linearize, linearize_jaxpr
from lawful.autodiff._fast.tape import Tape
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    NonArrayError,
    Primitive,
    UnexpectedTracerError,
    alpha_equivalent,
    check_jaxpr,
    current,
    eval_closed_jaxpr,
    float0,
    get_aval,
    parse_jaxpr,
)
from lawful.staging import PartialTrace, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

# The primitives of linear programs of these tests.
LINEAR = {"mul", "add", "sub", "neg", "convert_element_type", "broadcast_in_dim", "reduce_sum", "jit", "add_any"}


def f(x: Any, y: Any) -> Any:
    return ops.sin(x) * y + ops.exp(x * y)


POINT = (np.array([0.3, -1.2]), np.array([2.0, 0.5]))
TANGENT = (np.array([1.0, -2.0]), np.array([0.5, 3.0]))


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        call.calls += 1  # type: ignore[attr-defined]
        return function(*args)

    call.calls = 0  # type: ignore[attr-defined]
    return call


@pytest.mark.parametrize("wrap", [lambda g: g, jit, lambda g: jit(jit(g)), vmap], ids=["f", "jit", "jit jit", "vmap"])
def test_linearize_is_jvp(wrap: Any, require_same: Callable[..., None]) -> None:
    function = wrap(f)
    out, f_jvp = linearize(function, *POINT)
    expected, tangent = jvp(function, POINT, TANGENT)
    require_same(out, expected)
    require_same(f_jvp(*TANGENT), tangent, 1e-15)


def test_linearize_function_runs_once() -> None:
    function = counted(f)
    _, f_jvp = linearize(function, *POINT)
    for _ in range(5):
        f_jvp(*TANGENT)
    assert function.calls == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrap", [lambda g: g, jit, lambda g: jit(lambda *a: jit(g)(*a))], ids=["f", "jit", "jit jit"])
def test_linearize_linear_part_does_none_of_work_of_the_function(wrap: Any, primitives_of: Callable[..., Any]) -> None:
    def function(x: Any, y: Any) -> Any:
        for _ in range(3):
            x = ops.tanh(ops.sin(x) * ops.exp(-y))
        return {"sum": ops.reduce_sum(x * x, (0,)), "x": x}

    _, f_jvp = linearize(wrap(function), *POINT)
    used = set(primitives_of(f_jvp.jaxpr))
    assert used <= LINEAR, "no sin, cos, exp, tanh"
    assert used >= {"mul", "reduce_sum"}


def test_linearize_linear_part_of_a_linear_function_is_function() -> None:
    _, f_jvp = linearize(lambda x: 3.0 * x + 1.0, np.ones(2))
    assert [eqn.primitive.name for eqn in f_jvp.jaxpr.eqns if eqn.primitive.name != "broadcast_in_dim"] == ["mul"]


def test_linearize_linear_part_can_be_printed_and_parsed() -> None:
    _, f_jvp = linearize(lambda x: ops.sin(x) * np.float64(2.0), np.float64(0.0))
    text = str(f_jvp.jaxpr)
    assert text == "{ lambda ; a:f64[]. let\n    b:f64[] = mul a 1.0:f64[]\n    c:f64[] = mul b 2.0:f64[]\n  in (c,) }"
    assert alpha_equivalent(parse_jaxpr(text), f_jvp.jaxpr)
    assert repr(f_jvp) == f"LinearFunction({text})"
    check_jaxpr(f_jvp.jaxpr)


def test_linearize_linear_part_keeps_the_lines_of_the_function() -> None:
    _, f_jvp = linearize(f, *POINT)
    assert {eqn.source.function for eqn in f_jvp.jaxpr.eqns} == {"f"}
    assert {eqn.source.file for eqn in f_jvp.jaxpr.eqns} == {__file__}


def test_linearize_nothing_is_kept_for_result_not_differentiated() -> None:
    _, f_jvp, aux = linearize(lambda x: (3.0 * x, ops.sin(x)), POINT[0], has_aux=True)
    np.testing.assert_array_equal(aux, np.sin(POINT[0]))
    assert all(np.ndim(const) == 0 or set(np.ravel(const)) == {3.0} for const in f_jvp.jaxpr.consts)


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["f", "jit"])
def test_linearize_unused_residual_is_not_kept(wrap: Any) -> None:
    big = np.linspace(0.0, 1.0, 1000)

    def function(x: Any) -> Any:
        ops.exp(ops.sin(x))  # computed, and not part of the result
        return ops.sin(x)

    _, f_jvp = linearize(wrap(function), big)
    (residual,) = f_jvp.jaxpr.consts
    np.testing.assert_array_equal(residual, np.cos(big))


def test_linearize_residual_of_call_nothing_needs_is_not_kept() -> None:
    both = jit(lambda x: (ops.sin(x), ops.exp(x)))
    _, f_jvp = linearize(lambda x: both(x)[0], POINT[0])
    (residual,) = f_jvp.jaxpr.consts
    np.testing.assert_array_equal(residual, np.cos(POINT[0]))


def test_linearize_residual_that_is_used_twice_is_kept_once() -> None:
    def function(x: Any) -> Any:
        y = ops.sin(x)
        return y * y * (y + 1.0)

    _, f_jvp = linearize(function, POINT[0])
    assert len(f_jvp.jaxpr.consts) == len({const.tobytes() for const in f_jvp.jaxpr.consts})


def test_linearize_residuals_are_freed_with_the_linear_part() -> None:
    class Kept(np.ndarray):
        pass

    _, f_jvp = linearize(lambda x: ops.sin(x), POINT[0])
    ref = weakref.ref(f_jvp.jaxpr.consts[0])
    assert ref() is not None
    del f_jvp
    gc.collect()
    assert ref() is None


def test_linearize_result_is_linear() -> None:
    _, f_jvp = linearize(f, *POINT)
    u, v = TANGENT, (np.array([0.1, 7.0]), np.array([-1.0, 2.0]))
    combined = f_jvp(*(2.0 * a - 3.0 * b for a, b in zip(u, v, strict=True)))
    np.testing.assert_allclose(combined, 2.0 * f_jvp(*u) - 3.0 * f_jvp(*v), rtol=1e-13)


def test_linearize_pytrees_and_auxiliary_outputs(require_same: Callable[..., None]) -> None:
    def function(point: Any, scale: Any) -> Any:
        return {"y": [point["x"] * scale, point["z"]]}, (point["x"], "name")

    out, f_jvp, aux = linearize(function, {"x": np.ones(2), "z": 3.0}, 2.0, has_aux=True)
    require_same(out, {"y": [np.full(2, 2.0), 3.0]})
    require_same(aux[0], np.ones(2))
    assert aux[1] == "name"
    tangent = f_jvp({"x": np.array([1.0, 0.0]), "z": 5.0}, 10.0)
    require_same(tangent, {"y": [np.array([12.0, 10.0]), 5.0]})


def test_linearize_integers_have_tangents_of_float0(require_same: Callable[..., None]) -> None:
    out, f_jvp = linearize(lambda x, n: (x * n, n, x > 0.0), 2.0, 3)
    require_same(out, (6.0, 3, True))
    zero = np.zeros((), float0)
    require_same(f_jvp(1.0, zero), (3.0, zero, zero))
    with pytest.raises(ArgumentTypeError, match=r"expected a tangent of dtype float0 for ~i64\[\] at primals\[1\]"):
        f_jvp(1.0, 1)


def test_linearize_constant_result_has_a_tangent_of_zeros(require_same: Callable[..., None]) -> None:
    out, f_jvp = linearize(lambda x: (np.ones(3, np.float32), 2.0, x), 1.0)
    require_same(out, (np.ones(3, np.float32), 2.0, 1.0))
    assert not f_jvp.jaxpr.eqns
    assert len(f_jvp.jaxpr.out_avals) == 1
    require_same(f_jvp(5.0), (np.zeros(3, np.float32), 0.0, 5.0))


@pytest.mark.parametrize("x", [2.0, np.float32(2), np.ones(2, np.float16), 1j, np.complex64(1)], ids=repr)
def test_linearize_tangents_have_the_type_of_the_output(x: Any) -> None:
    for function in (lambda x: x * 3.0, ops.sin, lambda x: x):
        out, f_jvp = linearize(function, x)
        assert get_aval(f_jvp(x)) == get_aval(out) == get_aval(function(x))


@pytest.mark.parametrize(
    ("tangents", "words"),
    [
        ((np.ones(3),), "expected a tangent of type f64[2] at primals[0], got f64[3]"),
        ((np.ones(2, np.float32),), "expected a tangent of type f64[2] at primals[0], got f32[2]"),
        ((), "expected tangents of the same tree as the primals, PyTreeDef((*,)), got PyTreeDef(())"),
        (([np.ones(2)],), "got PyTreeDef(([*],))"),
    ],
)
def test_linearize_wrong_tangent_error(tangents: Any, words: str) -> None:
    _, f_jvp = linearize(lambda x: x * x, np.ones(2))
    with pytest.raises(ArgumentTypeError) as caught:
        f_jvp(*tangents)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")
    np.testing.assert_array_equal(f_jvp(np.ones(2)), [2.0, 2.0])


def test_linearize_refuses_non_arrays() -> None:
    with pytest.raises(NonArrayError, match=r"linearize: expected arrays or numbers .* at argument 1\[0\]"):
        linearize(lambda *args: 1.0, 1.0, ["a"])
    with pytest.raises(NonArrayError, match="linearize of <lambda>: expected a function that returns arrays"):
        linearize(lambda x: "a", 1.0)
    with pytest.raises(ArgumentTypeError, match=r"linearize: expected a function, got 1\.0"):
        linearize(1.0, 1.0)  # type: ignore[arg-type]


def test_linearize_python_control_flow_on_values_works() -> None:
    _, f_jvp = linearize(lambda x: x * x if x > 0.0 else -x, -3.0)
    assert f_jvp(1.0) == -1.0


def test_linearize_rule_written_for_jvp_is_enough() -> None:
    primitive = Primitive("autodifftest_cube")
    primitive.def_impl(lambda x: x * x * x)
    calls = []

    @primitive.def_jvp
    def rule(primals: Any, tangents: Any) -> Any:
        calls.append(1)
        (x,), (t,) = primals, tangents
        return primitive.bind(x), 3.0 * ops.mul(x, x) * t

    out, f_jvp = linearize(lambda x: primitive.bind(x), np.float64(2.0))
    assert (out, f_jvp(1.0), f_jvp(10.0)) == (8.0, 12.0, 120.0)
    assert len(calls) == 1


# With the other transformations.


def test_linearize_linear_part_can_be_transformed(require_same: Callable[..., None]) -> None:
    _, f_jvp = linearize(f, *POINT)
    expected = f_jvp(*TANGENT)
    require_same(jit(f_jvp)(*TANGENT), expected, 1e-15)
    require_same(jvp(f_jvp, TANGENT, TANGENT), (expected, expected), 1e-15)
    batch = [np.stack([t, 2.0 * t]) for t in TANGENT]
    require_same(vmap(f_jvp)(*batch), np.stack([expected, 2.0 * expected]), 1e-15)


def test_linearize_whole_inside_jit_vmap_and_jvp(require_same: Callable[..., None]) -> None:
    def pushed(x: Any, y: Any) -> Any:
        return linearize(f, x, y)[1](*TANGENT)

    expected = jvp(f, POINT, TANGENT)[1]
    require_same(jit(pushed)(*POINT), expected, 1e-15)
    batch = [np.stack([x, x]) for x in POINT]
    require_same(vmap(pushed)(*batch), np.stack([expected, expected]), 1e-15)
    second = jvp(lambda *p: jvp(f, p, TANGENT)[1], POINT, TANGENT)
    require_same(jvp(pushed, POINT, TANGENT), second, 1e-14)
    require_same(linearize(pushed, *POINT)[1](*TANGENT), second[1], 1e-14)


def test_linearize_of_jit_does_not_trace_the_function_again() -> None:
    function = counted(f)
    jitted = jit(function)
    jitted(*POINT)
    for _ in range(3):
        linearize(jitted, *POINT)[1](*TANGENT)
    assert function.calls == 1  # type: ignore[attr-defined]


def test_linearize_jaxpr_cuts_a_program_in_two(require_same: Callable[..., None]) -> None:
    closed = make_jaxpr(f)(*POINT)
    primal, linear, nonzeros = linearize_jaxpr(closed, (True, False))
    assert nonzeros == (True,)
    for part in (primal, linear):
        check_jaxpr(part)
        assert not part.consts
    out, *residuals = eval_closed_jaxpr(primal, *POINT)
    require_same(out, f(*POINT))
    (tangent,) = eval_closed_jaxpr(linear, *residuals, TANGENT[0])
    require_same(tangent, jvp(lambda x: f(x, POINT[1]), POINT[:1], TANGENT[:1])[1], 1e-15)
    assert linearize_jaxpr(closed, (True, False)) is linearize_jaxpr(closed, (True, False))


def test_linearize_jaxpr_gives_zero_tangents_where_asked_for(require_same: Callable[..., None]) -> None:
    closed = make_jaxpr(lambda x, y: (ops.sin(x), y, y > 0))(*POINT)
    assert linearize_jaxpr(closed, (True, False))[2] == (True, False, False)
    _, linear, nonzeros = linearize_jaxpr(closed, (True, False), (True, True, True))
    assert nonzeros == (True, True, False), "an integer has no other tangent than float0"
    residuals = [np.ones(aval.shape) for aval in linear.in_avals[:-1]]
    require_same(eval_closed_jaxpr(linear, *residuals, TANGENT[0])[1], np.zeros(2))


def test_linearize_leaked_tangent_error() -> None:
    """A tangent that a jvp rule leaks raises the error of a trace that has ended."""
    kept = []
    keep_p = Primitive("autodifftest_keep")
    keep_p.def_impl(lambda x: x)
    keep_p.def_abstract_eval(lambda x: x)
    keep_p.def_jvp(lambda primals, tangents: (kept.append(tangents[0]) or primals[0], tangents[0]))
    linearize(keep_p.bind, 1.0)
    with pytest.raises(UnexpectedTracerError, match=r"of the linear part of linearize made at .*, which has ended"):
        kept[0] + 1.0


def test_linearize_user_exception_is_raised_unchanged() -> None:
    raised = KeyError("mine")

    def fail(x: Any) -> Any:
        raise raised

    with pytest.raises(KeyError) as caught:
        linearize(lambda x: linearize(fail, x)[0], 1.0)
    assert caught.value is raised
    assert linearize(lambda x: x * x, 3.0)[1](1.0) == 6.0


def test_linearize_empty_trees() -> None:
    assert linearize(lambda x: (), 1.0)[1](1.0) == ()
    assert linearize(lambda: 2.0)[1]() == 0.0
    assert tree.leaves(linearize(lambda x: {}, {})[1]({})) == []


def test_linear_function_is_a_pytree_of_residuals() -> None:
    x, t = np.array([0.5, 2.0]), np.array([1.0, -1.0])

    def f(x: Any) -> Any:
        return {"sine": ops.sin(x), "constant": 1.0}

    f_jvp = linearize(f, x)[1]
    for other in (jit_by(lambda x: linearize(f, x)[1], backend="numpy")(x), tree.map(np.copy, f_jvp)):
        np.testing.assert_array_equal(other(t)["sine"], f_jvp(t)["sine"])
        assert other(t)["constant"] == 0.0
    np.testing.assert_array_equal(jit_by(lambda g, t: g(t)["sine"], backend="numpy")(f_jvp, t), f_jvp(t)["sine"])
    assert [get_aval(leaf) for leaf in tree.leaves(f_jvp)] == [get_aval(x)]


def test_tape_has_the_fields_of_a_partial_trace() -> None:
    """The tape does not call the constructors of its bases."""
    plain = PartialTrace(current.trace, "the linear part of linearize")
    tape = Tape(plain)
    names = [name for cls in PartialTrace.__mro__ for name in getattr(cls, "__slots__", ()) if name != "__weakref__"]
    for name in names:
        assert type(getattr(tape, name)) is type(getattr(plain, name)), name
        if name != "constants":
            assert getattr(tape, name) == getattr(plain, name), name


def test_linearize_weak_tangent_of_a_call_compiled():
    """The program has the types of Python numbers; a tangent that is an array of that dtype does as well."""
    scale = jit_by(lambda t: 3.0 * t, backend="numpy")
    f_jvp = linearize(lambda x: scale(x) * x, 2.0)[1]
    for function in (f_jvp, jit_by(f_jvp, backend="numpy")):
        for tangent in (0.5, np.float64(0.5)):
            out = function(tangent)
            assert float(out) == 6.0
            assert get_aval(out).weak_type
    np.testing.assert_array_equal(vmap(f_jvp)(np.array([0.5, 1.0])), [6.0, 12.0])
