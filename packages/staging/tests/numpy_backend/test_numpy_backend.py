"""The NumPy backend: results share no memory with arguments, constants or each other, and depend on nothing else."""

import warnings
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import MissingRuleError, Primitive, current, eval_trace
from lawful.staging import ShapeDtypeStruct, make_jaxpr, numpy_function, pure_callback
from lawful.staging import jit as jit_by
from lawful.staging._numpy_backend import source as _source

jit = partial(jit_by, backend="numpy")

table = np.arange(4.0)

ALIASING = {
    "the argument": lambda x: x,
    "the argument twice": lambda x: (x, x),
    "a constant": lambda x: table,
    "a constant twice": lambda x: (table, table, x),
    "a view by reshape": lambda x: ops.reshape(x, (2, 2)),
    "a view by transpose": lambda x: ops.transpose(ops.reshape(x, (2, 2)), (1, 0)),
    "a view by slice": lambda x: ops.slice(x, (1,), (3,)),
    "a view by rev": lambda x: ops.rev(x, (0,)),
    "a view by broadcast": lambda x: ops.broadcast_in_dim(x, (3, 4), (1,)),
    "a scalar broadcast": lambda x: ops.broadcast_in_dim(2.0, (3, 4), ()),
    "a result and a view of it": lambda x: (lambda y: (y, ops.reshape(y, (2, 2)), y))(x + 1.0),
    "by a conversion to the same dtype": lambda x: ops.convert_element_type(x, np.float64),
    "through an inner jit": lambda x: jit(lambda y: (y, ops.reshape(y, (2, 2))))(x),
    "a constant of an inner jit": lambda x: jit(lambda y: table)(x),
    "squeeze of an argument": lambda x: ops.squeeze(ops.reshape(x, (4, 1)), (1,)),
    "the real part": lambda x: ops.real(ops.complex(x, x)),
    "the same sum twice": lambda x: (x + 1.0, x + 1.0),
}


@pytest.mark.parametrize("f", ALIASING.values(), ids=list(ALIASING))
def test_numpy_backend_results_share_memory_with_nothing(f: Any) -> None:
    x = np.arange(4.0) + 10.0
    expected = [np.array(y) for y in _leaves(jit(f)(x))]
    results = _leaves(jit(f)(x))
    for i, y in enumerate(results):
        assert y.flags.writeable
        assert not np.shares_memory(y, x)
        assert not np.shares_memory(y, table)
        assert not any(np.shares_memory(y, other) for other in results[:i])
        y[...] = -1.0  # the user's own array now
    np.testing.assert_array_equal(x, np.arange(4.0) + 10.0)
    np.testing.assert_array_equal(table, np.arange(4.0))
    for again, want in zip(_leaves(jit(f)(x)), expected, strict=True):
        np.testing.assert_array_equal(again, want)


def _leaves(x: Any) -> list[Any]:
    return list(x) if isinstance(x, tuple) else [x]


def test_numpy_backend_program_does_not_hold_its_results() -> None:
    g = jit(lambda: table)
    g()[:] = -1.0
    np.testing.assert_array_equal(g(), np.arange(4.0))


def test_numpy_backend_arguments_are_not_written_into() -> None:
    x = np.ones(3)
    x.flags.writeable = False
    y = jit(lambda x: (x, x + 1.0))(x)
    assert all(leaf.flags.writeable for leaf in y)


def test_numpy_backend_nan_and_infinity_come_in_silence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = np.array([0.0, -1.0, 1e308])
        np.testing.assert_array_equal(jit(lambda x: ops.log(x))(x)[:2], [-np.inf, np.nan])
        assert jit(lambda x: x * 10.0)(x)[2] == np.inf
        np.testing.assert_array_equal(jit(lambda x: 1.0 / x)(np.zeros(1)), [np.inf])


def test_numpy_backend_restores_floating_point_error_state() -> None:
    before = np.geterr()
    jit(ops.log)(np.zeros(1))
    with pytest.raises(ZeroDivisionError):
        jit(failing)(1.0)
    assert np.geterr() == before


failing_p = Primitive("stagingtest_failing")
failing_p.def_abstract_eval(lambda x: x)


@failing_p.def_impl
def fail(x: Any) -> Any:
    raise ZeroDivisionError


def failing(x: Any) -> Any:
    return failing_p.bind(x)


def test_numpy_backend_jit_exception_at_run_time() -> None:
    """An exception from a running program arrives unchanged; the current trace is restored."""
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as caught:
            jit(failing)(1.0)
        assert caught.value.args == ()
        assert current.trace is eval_trace


def test_numpy_backend_compiled_impl_applies_ops_while_tracing() -> None:
    """An implementation that applies ops is evaluated, also while another function is traced."""
    twice_p = Primitive("stagingtest_twice_sin")
    twice_p.def_impl(lambda x: ops.mul(ops.sin(x), 2.0))
    twice_p.def_abstract_eval(lambda x: x)
    compiled = jit(twice_p.bind).lower(np.float64(1.0)).compile()
    closed = make_jaxpr(lambda: ops.neg(compiled(np.float64(1.0))))()
    assert [eqn.primitive.name for eqn in closed.eqns] == ["neg"]


def test_numpy_backend_jit_missing_impl_error_names_line() -> None:
    """The error names the operation without an implementation and its source line."""
    missing_p = Primitive("stagingtest_missing")
    missing_p.def_abstract_eval(lambda x: x)

    def function(x: Any) -> Any:
        return missing_p.bind(x)

    with pytest.raises(MissingRuleError, match="stagingtest_missing") as caught:
        jit(function)(1.0)
    assert str(caught.value).startswith(f"{__file__}:{function.__code__.co_firstlineno + 1} (function): ")


def test_numpy_backend_jit_many_equations() -> None:
    """A program of many equations has literals, constants and calls."""
    constants = [np.full(2, float(n)) for n in range(300)]

    def f(x: Any) -> Any:
        for n, constant in enumerate(constants):
            x = x + constant * float(n) - jit(lambda y: y * 0.5)(constant)
        return x

    np.testing.assert_allclose(jit(f)(np.zeros(2)), f(np.zeros(2)))


def test_numpy_backend_primitive_name_is_no_identifier() -> None:
    for name in ("odd name", "lambda", "None", "v0", "c0", "program", "op_0", "stagingtest-x"):
        primitive = Primitive(name)
        primitive.def_abstract_eval(lambda x: x)
        primitive.def_impl(lambda x: x + 1.0)
        assert jit(lambda x, p=primitive: p.bind(p.bind(x)) * 2.0)(np.float64(1.0)) == 6.0, name


def test_numpy_backend_one_primitive_with_different_parameters() -> None:
    scale_p = Primitive("stagingtest_scale")
    scale_p.def_abstract_eval(lambda x, *, by: x)
    scale_p.def_impl(lambda x, *, by: x * by)
    f = lambda x: scale_p.bind(scale_p.bind(x, by=3.0), by=5.0)  # noqa: E731
    assert jit(f)(np.float64(1.0)) == 15.0


@pytest.mark.parametrize("x", [3, 3.0, True, 3j])
def test_numpy_backend_python_scalars_stay_python_scalars(x: Any) -> None:
    assert type(jit(lambda x: x)(x)) is type(x)
    assert type(jit(lambda x: (x, x * 1))(x)[0]) is type(x)


def test_scalars_of_numpy_stay_scalars() -> None:
    result = jit(lambda x: x * 2)(np.float32(3))
    assert result.dtype == np.float32
    assert np.ndim(result) == 0


def test_numpy_backend_results_do_not_depend_on_what_ran_before() -> None:
    g = jit(lambda x: ops.sin(x) + table)
    first = g(1.0)
    for n in range(5):
        g(float(n))
        g(np.full(4, float(n)))
    np.testing.assert_array_equal(g(1.0), first)


# Names


def lines_of(f: Any, *args: Any) -> list[str]:
    return [line.strip() for line in jit(f).lower(*args).as_text().splitlines()[1:-1]]


def test_numpy_backend_reuses_names_of_dead_values() -> None:
    def chain(x: Any) -> Any:
        for _ in range(3):
            x = ops.sin(x * 0.5)
        return x

    assert lines_of(chain, np.float64(1.0)) == ["v0 = mul_0(v0, c0)", "v0 = sin_1(v0)"] * 3


@pytest.mark.parametrize("most_lines", [1, 2, 1_000])
def test_numpy_backend_what_is_used_for_the_last_time_is_freed(
    most_lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_source, "_MOST_LINES", most_lines)
    made: list[weakref.ref[Any]] = []
    gone: list[list[int]] = []
    watch_p = Primitive("watch_of_numpy_backend")
    watch_p.def_abstract_eval(lambda *xs: xs[0])

    @watch_p.def_impl
    def watch(*xs: Any) -> Any:
        gone.append([number for number, array in enumerate(made) if array() is None])
        out = sum(xs) + 1.0
        made.append(weakref.ref(out))
        return out

    def f(x: Any) -> Any:
        a = watch_p.bind(x)
        b = watch_p.bind(a)
        c = watch_p.bind(b)
        d = watch_p.bind(a, b, c)  # the last use of all three, of which one gives its name to the result
        return watch_p.bind(watch_p.bind(d))

    np.testing.assert_array_equal(jit(f)(np.zeros(2)), [9.0, 9.0])
    assert gone == [[], [], [], [], [0, 1, 2], [0, 1, 2, 3]]


def test_numpy_backend_long_program_is_several_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_source, "_MOST_LINES", 2)

    def chain(x: Any, y: Any) -> Any:
        for _ in range(2):
            x = ops.sin(x * y)
        return x, y

    program = jit(chain).lower(np.float64(1.0), np.float64(0.5))
    assert program.as_text().splitlines() == [
        "def part0(values):",
        "    v0 = values.pop('v0')",
        "    v1 = values.pop('v1')",
        "    v0 = mul_0(v0, v1)",
        "    v0 = sin_1(v0)",
        "    values['v0'] = v0",
        "    values['v1'] = v1",
        "    return None",
        "def part1(values):",
        "    v0 = values.pop('v0')",
        "    v1 = values.pop('v1')",
        "    v0 = mul_0(v0, v1)",
        "    v0 = sin_1(v0)",
        "    values['v0'] = v0",
        "    values['v1'] = v1",
        "    return None",
        "def part2(values):",
        "    v0 = values.pop('v0')",
        "    v1 = values.pop('v1')",
        "    return [v0, v1]",
        "def program(v0, v1):",
        "    values = {'v0': v0, 'v1': v1}",
        "    part0(values)",
        "    part1(values)",
        "    return part2(values)",
    ]
    assert program.compile()(np.float64(1.0), np.float64(0.5)) == chain(1.0, 0.5)


def test_numpy_code_drops_dead_equations_and_results() -> None:
    """Dead equations are left out, and unused results are freed."""
    assert lines_of(lambda x: (ops.cos(x), x)[1], np.float64(1.0)) == []
    pair_p = Primitive("pair_of_numpy_backend", multiple_results=True)
    pair_p.def_abstract_eval(lambda x: [x, x])
    pair_p.def_impl(lambda x: [x + 1, x + 2])

    def second(x: Any) -> Any:
        return pair_p.bind(ops.sin(x))[1]

    assert lines_of(second, np.float64(0.0)) == [
        "v0 = sin_0(v0)",
        "[v0, v1] = pair_of_numpy_backend_1(v0)",
        "v0 = None",
    ]
    assert jit(second)(0.0) == 2.0


def test_numpy_backend_literals_differ_by_sign_of_zero_and_type() -> None:
    """Zeros of either sign, and equal numbers of other types, are separate literals."""

    def f(x: Any) -> Any:
        return [ops.atan2(np.float64(zero), ops.sub(x, 1.0)) for zero in (0.0, -0.0, 0.0)], x * 1, x * 1.0

    (above, below, again), *_ = jit(f)(np.float64(0.0))
    assert (above, below, again) == (np.pi, -np.pi, np.pi)
    integers, floats = jit(lambda x: (x + 1, x + 1.0))(3)
    assert (type(integers), type(floats)) == (int, float)


def test_numpy_program_of_many_arguments_is_linear() -> None:
    """A part of a long program names those values that it uses, and not all that are alive."""

    def source(count: int) -> str:
        text: str = jit(lambda xs: sum(xs), backend="numpy").lower([1.0] * count).as_text()
        return text

    assert len(source(8_000)) < 2.1 * len(source(4_000))
    numbers = [float(x) for x in range(3_000)]
    assert jit(lambda xs: [sum(xs), xs[0], xs[2500]], backend="numpy")(numbers) == [sum(numbers), 0.0, 2500.0]


def test_numpy_function_has_no_dead_equations() -> None:
    """The bodies of loops that are called eagerly are compiled without what nothing uses."""
    calls = []

    def f(x: Any) -> Any:
        ops.sin(pure_callback(lambda x: calls.append(x) or x, ShapeDtypeStruct((), "f8"), x))
        return ops.mul(x, 2.0)

    assert numpy_function(make_jaxpr(f)(3.0))(3.0) == [6.0]
    assert not calls


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?", "c8"])
def test_numpy_backend_selects_scalars_as_scalars(dtype: str) -> None:
    scalar = np.dtype(dtype).type
    x, y = scalar(1), scalar(0)
    found = jit(ops.select_n)(np.bool(True), x, y)
    assert type(found) is type(ops.select_n(np.bool(True), x, y)) is scalar
    assert found == y
    converted = jit(lambda x: ops.convert_element_type(x, dtype))(np.bool(True))
    assert type(converted) is scalar
    assert converted == x


def test_numpy_backend_selects_copies_of_arrays() -> None:
    x, y = np.arange(3.0), np.ones(3)
    found = jit(lambda which, x, y: (ops.select_n(which, x, y), x))(np.bool(False), x, y)
    assert found[0].tolist() == x.tolist()
    assert not np.shares_memory(found[0], found[1])
