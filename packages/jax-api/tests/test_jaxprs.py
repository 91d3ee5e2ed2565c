"""Programs that walk jaxprs find the fields that these have in JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.debug import debug_callback_p
from lawful.jax import lax


def announced(x: Any) -> Any:
    jax.debug.print("{}", x)
    return x * 2.0


def doubled(x: Any) -> Any:
    return jnp.sin(x) * 2.0


EFFECTFUL: dict[str, Callable[[Any], Any]] = {
    "itself": announced,
    "jit": jax.jit(announced),
    "cond": lambda x: lax.cond(x.sum() > 0.0, announced, lambda x: x, x),
    "scan": lambda x: lax.scan(lambda c, x: (announced(c), x), x.sum(), x),
    "nested": jax.jit(lambda x: lax.fori_loop(0, 2, lambda _, x: announced(x), x)),
}


@pytest.mark.parametrize("name", EFFECTFUL)
def test_effects_are_those_of_equations_within(name: str) -> None:
    jaxpr = jax.make_jaxpr(EFFECTFUL[name])(np.ones(2))
    assert jaxpr.effects == jaxpr.jaxpr.effects == {debug_callback_p}
    assert set().union(*(eqn.effects for eqn in jaxpr.eqns)) == {debug_callback_p}
    assert [eqn.effects for eqn in jaxpr.eqns if eqn.primitive.name == "reduce_sum"] in ([], [frozenset()])


@pytest.mark.parametrize("function", [jnp.tanh, lax.exp, lambda x: jnp.maximum(x, 0.0), lambda x: lax.max(x, 2.0)])
def test_functions_of_weak_values_are_one_equation(function: Any) -> None:
    """As in JAX: an interpreter with rules for some primitives meets no others."""
    jaxpr = jax.make_jaxpr(function)(1.0)
    assert len(jaxpr.eqns) == 1
    assert jaxpr.out_avals[0].weak_type
    np.testing.assert_array_equal(jax.jit(function)(1.5), function(1.5))
    np.testing.assert_array_equal(jax.grad(function)(2.5), jax.grad(function)(np.float64(2.5)))


def test_effects_of_pure_programs_are_none() -> None:
    jaxpr = jax.make_jaxpr(doubled)(np.ones(2))
    assert not jaxpr.effects
    assert all(eqn.effects == frozenset() for eqn in jaxpr.eqns)


def test_source_info_is_the_line_of_the_user() -> None:
    jaxpr = jax.make_jaxpr(doubled)(np.ones(2))
    for eqn in jaxpr.eqns:
        assert "test_jaxprs.py" in str(eqn.source_info)
        assert eqn.replace(source_info=None).source_info is None
        assert eqn.replace(primitive=eqn.primitive, effects=set()).source_info is eqn.source_info


def test_debug_info_names_the_function() -> None:
    jaxpr = jax.make_jaxpr(doubled)(np.ones(2))
    assert jaxpr.debug_info.func_name == jaxpr.jaxpr.debug_info.func_name == "doubled"
    assert "doubled" in jaxpr.debug_info.func_src_info
    assert len(jaxpr.debug_info.safe_arg_names(1)) == 1
    other = jax.make_jaxpr(announced)(1.0).jaxpr
    assert jaxpr.jaxpr.replace(debug_info=other.debug_info, effects=set()).debug_info.func_name == "announced"
    assert jaxpr.jaxpr.replace(debug_info=None).debug_info.func_name == "doubled"


def test_closed_jaxprs_are_replaced_and_mapped() -> None:
    jaxpr = jax.make_jaxpr(lambda x: x + np.arange(2.0))(np.ones(2))
    assert [x.tolist() for x in jaxpr.replace(consts=[np.zeros(2)]).consts] == [[0.0, 0.0]]
    shorter = jaxpr.map_jaxpr(lambda j: j.replace(eqns=[], outvars=j.invars))
    assert not shorter.eqns
    assert str(jaxpr.replace(jaxpr=shorter.jaxpr)) == str(shorter) == shorter.pretty_print(use_color=False)
    assert jaxpr.jaxpr.pretty_print() == str(jaxpr)


def test_avals_lose_their_weakness() -> None:
    weak, strong = jax.typeof(1.0), jax.typeof(np.float64(1.0))
    assert weak.weak_type
    assert weak.strip_weak_type() == strong.strip_weak_type() == strong


@pytest.mark.parametrize("program", [lambda f: f, jax.jit], ids=["eager", "compiled"])
def test_debug_print_shows_arrays_of_trees(program: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> None:
        jax.debug.print("{} {y}", {"a": x, "b": (x[0], None)}, y=[np.float32(1.0)])
        jax.debug.print("{!r} {} {:.1f}", x, x, x[1])
        jax.debug.print(ordered=True)("{z}", z=x)
        jax.debug.print("{}", x, x, skip_format_check=True, partitioned=False)

    program(f)(jnp.arange(2.0))
    assert capsys.readouterr().out.splitlines() == [
        "{'a': Array([0., 1.], dtype=float64), 'b': (Array(0., dtype=float64), None)} [Array(1., dtype=float32)]",
        "Array([0., 1.], dtype=float64) [0. 1.] 1.0",
        "[0. 1.]",
        "[0. 1.]",
    ]


def test_debug_callbacks_get_whole_arrays() -> None:
    seen: list[Any] = []
    jax.jit(lambda x: jax.debug.callback(seen.append, x, partitioned=False))(1.0)
    assert seen == [1.0]
    calls: list[tuple[Any, Any]] = [(jax.debug.print, "{}"), (jax.debug.callback, print)]
    for function, argument in calls:
        with pytest.raises(ValueError, match="expected partitioned=False"):
            function(argument, 1.0, partitioned=True)
    with pytest.raises(ValueError, match="does not use"):
        jax.debug.print("{}", 1.0, 2.0)
    with pytest.raises(TypeError, match="format string"):
        calls[0][0](1.0)


def test_jax_runtime_error_is_a_runtime_error() -> None:
    from lawful.core import LawfulError

    error: type[Exception] = jax.errors.JaxRuntimeError
    assert issubclass(error, RuntimeError)
    assert issubclass(error, LawfulError)
    assert not issubclass(jax.errors.TracerBoolConversionError, error)


class Table:
    """A table of another library: it converts to an array, and its operators know no tracers."""

    shape = (2, 2)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.array([[1.0, 2.0], [3.0, 4.0]], dtype)

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented

    __add__ = __mul__ = __matmul__


def test_operators_take_tables_of_other_libraries() -> None:
    table: Any = Table()
    x = jnp.array([1.0, 2.0])
    for run in (lambda f: f, jax.jit):
        assert run(lambda x: table @ x)(x).tolist() == [5.0, 11.0]
        assert run(lambda x: x @ table)(x).tolist() == [7.0, 10.0]
        assert run(lambda x: table * x + (table + x))(x).tolist() == [[3.0, 8.0], [7.0, 14.0]]
    assert jax.grad(lambda x: (table @ x).sum())(x).tolist() == [4.0, 6.0]
