"""`make_jaxpr`: every operation is recorded; arrays become constants, each once; scalars stand inline."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    ArgumentValueError,
    Literal,
    NonArrayError,
    TracerBoolConversionError,
    check_jaxpr,
    eval_closed_jaxpr,
)
from lawful.staging import ShapeDtypeStruct, eval_shape, jit, make_jaxpr


def names(closed: Any) -> list[str]:
    return [eqn.primitive.name for eqn in closed.eqns]


def test_make_jaxpr_operations_on_constants_alone_are_recorded() -> None:
    closed = make_jaxpr(lambda: ops.mul(2.0, 2.0))()
    assert names(closed) == ["mul"]
    assert str(closed) == "{ lambda ; . let a:f64[] = mul 2.0:f64[] 2.0:f64[] in (a,) }"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda: ops.sin(np.ones(3)), "sin"),
        (lambda: ops.add(np.float32(1), np.float32(2)), "add"),
        (lambda: ops.reduce_sum(np.ones(3), (0,)), "reduce_sum"),
        (lambda: ops.iota(np.int32, 3), "iota"),
        (lambda: ops.reshape(np.ones(4), (2, 2)), "reshape"),
        (lambda: ops.convert_element_type(np.ones(4), np.float32), "convert_element_type"),
        (lambda: ops.transpose(np.ones((2, 3)), (1, 0)), "transpose"),
        (lambda: ops.getitem(np.ones((2, 3)), (0,)), None),
        (lambda: ops.where(np.array([True]), np.ones(1), np.zeros(1)), "select_n"),
        (lambda: ops.dot_general(np.ones((2, 2)), np.ones((2, 2)), (((1,), (0,)), ((), ()))), "dot_general"),
        (lambda: ops.concatenate([np.ones(2), np.ones(2)], 0), "concatenate"),
        (lambda: ops.eq(np.ones(2), np.ones(2)), "eq"),
        (lambda: ops.full((2,), 1.0), None),
        (lambda: jit(lambda: ops.sin(1.0), backend="numpy")(), "jit"),
    ],
)
def test_make_jaxpr_records_constant_ops_of_every_family(function: Any, expected: str | None) -> None:
    closed = make_jaxpr(function)()
    assert len(closed.eqns) >= 1
    assert expected is None or expected in names(closed)
    check_jaxpr(closed)
    np.testing.assert_array_equal(eval_closed_jaxpr(closed)[0], function())


def test_make_jaxpr_equations_are_in_order_and_typed() -> None:
    closed = make_jaxpr(lambda x: ops.sin(x) * 2.0 + x)(np.ones(3, np.float32))
    assert str(closed).splitlines() == [
        "{ lambda ; a:f32[3]. let",
        "    b:f32[3] = sin a",
        "    c:f32[3] = mul b 2.0:f32[]",
        "    d:f32[3] = add c a",
        "  in (d,) }",
    ]
    assert [str(aval) for aval in closed.in_avals] == ["f32[3]"]
    assert [str(aval) for aval in closed.out_avals] == ["f32[3]"]
    check_jaxpr(closed)


def test_make_jaxpr_arguments_are_flattened_and_the_result_too() -> None:
    closed = make_jaxpr(lambda d, *, y: {"sum": d["a"] + y, "also": (d["b"],)})({"a": 1.0, "b": np.ones(2)}, y=2.0)
    assert [str(aval) for aval in closed.in_avals] == ["~f64[]", "f64[2]", "~f64[]"]
    assert [str(aval) for aval in closed.out_avals] == ["f64[2]", "~f64[]"]


def test_make_jaxpr_static_arguments_are_given_as_they_are() -> None:
    def power(x: Any, n: int) -> Any:
        assert type(n) is int
        return x if n == 1 else x * power(x, n - 1)

    closed = make_jaxpr(power, static_argnums=1)(2.0, 4)
    assert names(closed) == ["mul"] * 3
    assert len(closed.jaxpr.invars) == 1
    assert names(make_jaxpr(power, static_argnums=(1,))(2.0, 2)) == ["mul"]
    assert names(make_jaxpr(power, static_argnums=-1)(2.0, 3)) == ["mul"] * 2
    with pytest.raises(ArgumentValueError, match="static_argnums: expected positions of the 2 positional arguments"):
        make_jaxpr(power, static_argnums=2)


def test_make_jaxpr_static_text_does_not_have_to_be_an_array() -> None:
    closed = make_jaxpr(lambda mode, x: ops.sin(x) if mode == "sin" else ops.cos(x), static_argnums=0)(
        "cos", np.ones(1)
    )
    assert names(closed) == ["cos"]


def test_make_jaxpr_return_shape_gives_the_tree_of_the_result() -> None:
    closed, shape = make_jaxpr(lambda x: {"a": x, "b": (x[0] > 0, 1)}, return_shape=True)(np.ones((2, 3), np.float32))
    assert shape == {
        "a": ShapeDtypeStruct((2, 3), np.float32),
        "b": (ShapeDtypeStruct((3,), bool), ShapeDtypeStruct((), int, weak_type=True)),
    }
    assert len(closed.out_avals) == 3


def test_make_jaxpr_abstract_arguments_do() -> None:
    closed = make_jaxpr(lambda x: ops.sin(x))(ShapeDtypeStruct((1000, 1000, 1000, 1000), "bfloat16"))
    assert str(closed.out_avals[0]) == "bf16[1000,1000,1000,1000]"


# Constants.


class Described:
    """Has a type, and is no array."""

    shape = (2, 3)
    dtype = "float32"


def test_shape_dtype_struct_like_values_and_tracers() -> None:
    structs = []
    make_jaxpr(lambda x: structs.append(ShapeDtypeStruct.like(x)))(np.zeros((2, 3), "float32"))
    assert structs == [ShapeDtypeStruct((2, 3), "float32")]
    assert ShapeDtypeStruct.like(structs[0]) == structs[0]
    assert ShapeDtypeStruct.like(1) == ShapeDtypeStruct((), int, weak_type=True)


def test_make_jaxpr_takes_objects_with_shape_and_dtype() -> None:
    def double(tree: dict[str, Any]) -> Any:
        return ops.mul(tree["x"], 2.0)

    struct = ShapeDtypeStruct((2, 3), "float32")
    assert eval_shape(double, {"x": Described()}) == struct
    assert make_jaxpr(double)({"x": Described()}).in_avals == [struct.aval]
    assert jit(double, backend="numpy").lower({"x": Described()}).out_info == struct
    for refused in (jit(double, backend="numpy"), double):
        with pytest.raises(NonArrayError):
            refused({"x": Described()})
    with pytest.raises(NonArrayError, match=r"expected arrays or numbers as arguments, got .*float64.* at argument 0"):
        make_jaxpr(lambda x: x)(np.float64)
    with pytest.raises(NonArrayError, match="got 'text' of type str at argument 1"):
        make_jaxpr(lambda x, y: x)(Described(), "text")


def test_make_jaxpr_array_used_twice_is_one_constant() -> None:
    table = np.arange(3.0)
    closed = make_jaxpr(lambda x: x * table + table - table)(np.ones(3))
    assert len(closed.consts) == 1
    np.testing.assert_array_equal(closed.consts[0], table)
    assert closed.jaxpr.constvars[0] in closed.eqns[0].invars


def test_make_jaxpr_different_arrays_are_different_constants() -> None:
    first, second = np.ones(3), np.ones(3)
    assert len(make_jaxpr(lambda x: x * first + second)(np.ones(3)).consts) == 2


@pytest.mark.parametrize("scalar", [2.0, 3, True, np.float32(2), np.float64(2), np.array(2.0), np.int8(1), 1j])
def test_make_jaxpr_scalars_stand_inline(scalar: Any) -> None:
    closed = make_jaxpr(lambda x: x * scalar)(np.float64(1.0))
    assert closed.consts == []
    assert any(type(atom) is Literal for eqn in closed.eqns for atom in eqn.invars)


def test_make_jaxpr_constant_that_is_returned() -> None:
    table = np.ones(2)
    closed = make_jaxpr(lambda: (table, 1.0, table))()
    assert len(closed.consts) == 1
    assert closed.jaxpr.outvars[0] is closed.jaxpr.outvars[2]
    assert type(closed.jaxpr.outvars[1]) is Literal


def test_make_jaxpr_array_written_between_uses_is_two_constants() -> None:
    buffer = np.ones(3)

    def function(x: Any) -> Any:
        first = x + buffer
        buffer[:] = 100.0
        return first + buffer

    closed = make_jaxpr(function)(np.zeros(3))
    np.testing.assert_array_equal(eval_closed_jaxpr(closed, np.zeros(3))[0], np.full(3, 101.0))


def test_make_jaxpr_buffer_rewritten_between_uses() -> None:
    """Each use of a buffer records the values that it held at that moment."""
    buffer = np.ones(3)

    def function(x: Any) -> Any:
        for value in (1.0, 2.0, 1.0, 4.0):
            buffer[:] = value
            x = x * 10.0 + buffer
        return x

    closed = make_jaxpr(function)(np.zeros(3))
    np.testing.assert_array_equal(eval_closed_jaxpr(closed, np.zeros(3))[0], np.full(3, 1214.0))


@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x[1:], lambda x: x[::-1], lambda x: x.T, lambda x: np.broadcast_to(x, (2, 3))]
)
def test_make_jaxpr_no_later_write_reaches_a_program(view: Any) -> None:
    buffer = np.arange(3.0)
    closed = make_jaxpr(lambda: ops.add(view(buffer), 0.0))()
    expected = view(np.arange(3.0)).copy()
    buffer[:] = -1.0
    np.testing.assert_array_equal(eval_closed_jaxpr(closed)[0], expected)


def test_make_jaxpr_copies_view_of_writeable_array() -> None:
    """A later write into the array does not change a constant that was a read-only view of it."""
    buffer = np.arange(3.0)
    frozen = buffer[:]
    frozen.flags.writeable = False
    closed = make_jaxpr(lambda: ops.add(frozen, 0.0))()
    buffer[:] = -1.0
    np.testing.assert_array_equal(eval_closed_jaxpr(closed)[0], np.arange(3.0))


def test_make_jaxpr_copies_read_only_view_of_buffer() -> None:
    buffer = bytearray(np.arange(3.0).tobytes())
    closed = make_jaxpr(lambda: ops.add(np.frombuffer(memoryview(buffer).toreadonly()), 0.0))()
    buffer[:] = bytes(24)
    np.testing.assert_array_equal(eval_closed_jaxpr(closed)[0], np.arange(3.0))


def test_make_jaxpr_nan_constants_are_one() -> None:
    for dtype in (np.float64, np.complex128):
        table = np.array([np.nan, 1.0], dtype)
        assert len(make_jaxpr(lambda x: x + table + table)(np.ones(2, dtype)).consts) == 1  # noqa: B023


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_make_jaxpr_zero_and_minus_zero_are_two_constants(dtype: Any) -> None:
    buffer = np.zeros(2, dtype)

    def function(x: Any) -> Any:
        y = x * buffer
        buffer[:] = -buffer
        return y, x * buffer

    assert len(make_jaxpr(function)(np.ones(2, dtype)).consts) == 2


def test_make_jaxpr_broadcast_constant_keeps_strides() -> None:
    """A broadcast constant keeps its zero stride, and so its small memory."""
    whole = np.broadcast_to(np.arange(3.0)[:, None], (3, 2**40))
    (const,) = make_jaxpr(lambda: ops.reduce_sum(whole, (1,)))().consts
    assert const.shape == whole.shape
    assert const.strides == (8, 0)


def test_make_jaxpr_negative_zero_is_kept() -> None:
    closed = make_jaxpr(lambda x: (ops.mul(x, -0.0), ops.add(x, np.array([-0.0]))))(np.ones(1))
    assert str(closed).count("-0.0") == 1
    assert np.signbit(closed.consts[-1]).all()
    assert np.signbit(eval_closed_jaxpr(closed, np.ones(1))[0]).all()


# Features of traced functions.


def test_make_jaxpr_constant_condition_is_python() -> None:
    closed = make_jaxpr(lambda x: x if x.shape[0] > 2 else -x)(np.ones(2))
    assert names(closed) == ["neg"]


def test_make_jaxpr_condition_on_values_is_error_says_which_line() -> None:
    def function(x: Any) -> Any:
        y = x * 2.0
        return 1.0 if y > 0 else 0.0

    with pytest.raises(TracerBoolConversionError) as caught:
        make_jaxpr(function)(1.0)
    assert str(caught.value).startswith(f"{__file__}:{function.__code__.co_firstlineno + 2} (function): bool: ")


def test_make_jaxpr_every_equation_keeps_the_users_line() -> None:
    def function(x: Any) -> Any:
        y = ops.sin(x)
        return y * 2.0

    first = function.__code__.co_firstlineno
    closed = make_jaxpr(function)(1.0)
    assert [eqn.source.line for eqn in closed.eqns if eqn.primitive.name in ("sin", "mul")] == [first + 1, first + 2]
    assert {eqn.source.file for eqn in closed.eqns} == {__file__}


def test_make_jaxpr_lines_are_the_same_in_each_call() -> None:
    """Python specializes instructions after the first call, and then says that another one runs."""

    def f(x):
        return x @ x.T, x.sum(0), x[0] + x

    lines = [[eqn.source for eqn in make_jaxpr(f)(np.ones((2, 3))).eqns] for _ in range(20)]
    assert all([found == lines[0] for found in lines])


def test_make_jaxpr_partials_methods_and_callable_objects() -> None:
    class Scale:
        factor = 3.0

        def by(self, x: Any) -> Any:
            return x * self.factor

        __call__ = by

    for function in (Scale().by, Scale(), partial(ops.mul, 3.0), partial(Scale.by, Scale())):
        assert names(make_jaxpr(function)(np.float64(2.0)))[-1] == "mul"


@pytest.mark.parametrize("result", ["text", object(), [1.0, "text"], {"a": b""}, np.array(["a"])])
def test_make_jaxpr_result_that_is_no_array_error(result: Any) -> None:
    with pytest.raises((NonArrayError, TypeError)) as caught:
        make_jaxpr(lambda x: result)(1.0)
    assert str(caught.value).startswith(f"{__file__}:")


def test_make_jaxpr_bad_argument_is_named() -> None:
    with pytest.raises(NonArrayError, match=r"make_jaxpr of <lambda>: .* at argument 0\['a'\]\[1\]"):
        make_jaxpr(lambda x: x)({"a": [1.0, "text"]})
    with pytest.raises(NonArrayError, match=r"at argument 'y'"):
        make_jaxpr(lambda x, y: x)(1.0, y="text")


def test_make_jaxpr_refuses_non_functions() -> None:
    with pytest.raises(TypeError, match=r"make_jaxpr: expected a function, got 3.0 of type float"):
        make_jaxpr(3.0)  # type: ignore[arg-type]


def test_make_jaxpr_name_and_documentation_stay() -> None:
    def named(x: Any) -> Any:
        """Doubles."""
        return x + x

    made = make_jaxpr(named)
    assert made.__name__ == "named"
    assert made.__doc__ == "Doubles."
    assert made(1.0).jaxpr.name == "named"


# Shapes without values.


def test_eval_shape_computes_nothing() -> None:
    huge = ShapeDtypeStruct((10**6, 10**6), np.float32)
    assert eval_shape(lambda x, y: {"a": x @ x, "b": y}, huge, y=huge) == {"a": huge, "b": huge}


def test_eval_shape_takes_arrays_and_numbers_too() -> None:
    assert eval_shape(lambda x, y: (x + y, y * 2), np.ones(3, np.float32), 1.0) == (
        ShapeDtypeStruct((3,), np.float32),
        ShapeDtypeStruct((), float, weak_type=True),
    )


def test_shape_dtype_struct_text() -> None:
    struct = ShapeDtypeStruct([2, 3], "float32")
    assert (struct.shape, struct.dtype, struct.ndim, struct.size) == ((2, 3), np.dtype(np.float32), 2, 6)
    assert repr(struct) == "ShapeDtypeStruct(shape=(2, 3), dtype=float32)"
    assert len({struct, ShapeDtypeStruct((2, 3), np.float32), ShapeDtypeStruct((2,), np.float32)}) == 2


def test_shape_dtype_struct_has_no_value() -> None:
    with pytest.raises(NonArrayError):
        ops.sin(ShapeDtypeStruct((), float))
