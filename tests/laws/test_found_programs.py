"""Programs that the laws once found a fault with, as they shrank."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lawful import debug, ops
from lawful.autodiff import checkpoint, grad, jvp, linearize, vjp
from lawful.control_flow import cond, fori_loop, scan, switch, while_loop
from lawful.control_flow import map as loop_map
from lawful.core import as_dtype, get_aval
from lawful.laws import (
    Case,
    Inapplicable,
    LawViolation,
    PrimitiveCall,
    draw_case,
    find_source,
    law_batched_while_is_choice,
    law_bounded_residuals,
    law_cheap_gradient,
    law_eval_jaxpr,
    law_jit_is_eager,
    law_jvp_finite_differences,
    law_linearize_is_jvp,
    law_nothing_survives,
    law_primitive_special_transpose,
    law_print_parse,
    law_scan_is_loop,
    law_second_order,
    law_special_values,
    law_typing,
    law_vjp_transpose,
    law_vmap_is_loop,
    law_while_is_loop,
    laws,
    quick,
    replay_case,
    usual,
)
from lawful.laws.systems import Lawful, lawful, with_jvp_rule, with_pmap
from lawful.staging import jit, make_jaxpr


def jvp_of(function: Any, x: Any) -> Any:
    return jvp(function, (x,), (x,))[0]


def linearize_of(function: Any, x: Any) -> Any:
    return linearize(function, x)[0]


def vjp_of(function: Any, x: Any) -> Any:
    return vjp(function, x)[0]


def test_a_weak_value_goes_into_a_compiled_function() -> None:
    def program(a: Any) -> Any:
        b = ops.neg_p.bind(a)
        return jit(lambda c: c, backend="numpy")(b)

    for law in (law_vjp_transpose, law_linearize_is_jvp, law_typing):
        law(lawful, Case.of(program, 0.49))


def test_a_weak_value_goes_into_a_branch() -> None:
    def program(a: Any, b: Any) -> Any:
        c = a * 2.0
        return cond(b > 0.0, lambda x: x * c, lambda x: x, c)

    for law in (law_vjp_transpose, law_linearize_is_jvp, law_typing):
        law(lawful, Case.of(program, 0.49, np.float64(1.0)))


def test_the_derivative_of_a_maximum_has_its_dtype() -> None:
    for dtype in ("float16", "float32"):
        x = np.array(0.5, dtype)
        assert get_aval(grad(lambda x: ops.add(ops.max(x, ops.sin(x)), x))(x)).dtype == dtype
        law_vjp_transpose(lawful, Case.of(lambda x: ops.add(ops.max(x, ops.sin(x)), x), x))


def test_print_parse_cond_branch_with_zero_derivative() -> None:
    """A branch with a zero derivative prints without constants."""

    def program(a: Any, b: Any) -> Any:
        return cond(b < 0.3, lambda: a, lambda: ops.full((1,), 1.0))

    law_print_parse(lawful, Case.of(program, np.array([0.49]), -0.83))


def test_a_branch_has_two_equal_constants() -> None:
    one, other = np.array([1.0, 2.0]), np.array([1.0, 2.0])

    def program(a: Any) -> Any:
        return cond(a > 0.3, lambda: ops.add(one, ops.sin(other)), lambda: one)

    np.testing.assert_allclose(program(0.5), one + np.sin(other))
    law_eval_jaxpr(lawful, Case.of(program, 0.5))


def test_a_shift_of_two_dtypes() -> None:
    for shift in (ops.shift_left, ops.shift_right_arithmetic, ops.shift_right_logical):
        case = Case.of(shift, np.array([1, -3, 9], "int8"), np.array([[0, 1, 1]], "int32"))
        law_jit_is_eager(lawful, case)
        law_eval_jaxpr(lawful, case)


@pytest.mark.parametrize("number", [2.0, 3])
@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"]
)
def test_jvp_low_precision_by_number_repeated(dtype: str, number: float) -> None:
    """The rule that is cached after the second call takes the number as one of the array's dtype."""
    x = np.array(0.5).astype(as_dtype(dtype))
    for operation in (ops.mul, ops.add, ops.max, ops.atan2):
        for transformation in (jvp_of, linearize_of, vjp_of):
            found = [transformation(lambda y, op=operation: op(op(y, number), number), x) for _ in range(4)]
            assert {get_aval(y).dtype for y in found} == {x.dtype}


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("law", [law_scan_is_loop, law_while_is_loop, law_batched_while_is_choice])
def test_loop_of_float16_and_bfloat16(law: Any, shape: tuple[int, ...]) -> None:
    a, b = np.full(shape, 0.5, np.float16), np.full(shape, 0.3).astype(as_dtype("bfloat16"))
    law(lawful, Case.of(lambda a, b: (ops.sin(a), ops.cos(b)), a, b))


def test_nothing_survives_while_caches_fill() -> None:
    """A cache that fills in the first calls is no leak; what grows with each call is one."""

    def keeping(most: int) -> Case:
        kept: list[Any] = []

        def function(x: Any) -> Any:
            if len(kept) < most:
                kept.append(make_jaxpr(ops.sin)(0.5))
            return ops.sin(x)

        return Case.of(function, 0.5)

    law_nothing_survives(lawful, keeping(20))
    with pytest.raises(LawViolation, match="leaves"):
        law_nothing_survives(lawful, keeping(10**6))


def test_nothing_survives_checkpoint_cond_and_jit() -> None:
    """Rules of a nest of calls are cached over several calls: a rule within a rule is asked for later."""
    drawn = draw_case(find_source("smooth with checkpoint, cond, jit"), 0)
    law_nothing_survives(lawful, drawn.case)


def test_nothing_survives_pmap_without_a_name_of_its_axis() -> None:
    """The axes of equal functions are equal, so that keys of caches that hold them are found again."""
    law_nothing_survives(lawful, Case.of(lambda x: with_pmap(lambda y: y)(x), np.array([0.3, -0.9])), effort=usual)


@pytest.mark.parametrize("place", ["a branch", "the body of a loop", "the condition of a loop"])
def test_nothing_survives_beside_a_shared_jaxpr(place: str) -> None:
    """A jaxpr that calls a new function each time is gone, also if the other branch or part of the loop is shared."""

    def calling(value: Any) -> Any:
        debug.callback(lambda _: None, value)
        return value

    def function(x: Any) -> Any:
        if place == "a branch":
            return cond(x[0] > 0.0, lambda y: ops.sin(calling(y)), lambda y: y, x)
        in_body = place == "the body of a loop"
        start = (ops.sub(x, 1.0), x) if in_body else (x, x)
        return while_loop(
            lambda c: (c[0] if in_body else calling(c[0]))[0] < 0.5,
            lambda c: (ops.add(c[0], 1.0), calling(ops.sin(c[1])) if in_body else ops.sin(c[1])),
            start,
        )[1]

    for seed in range(8):  # which chooses the transformation
        law_nothing_survives(lawful, Case.of(function, np.array([0.3])), effort=quick, seed=seed)


def test_nothing_survives_beside_the_jvp_of_a_branch() -> None:
    """The jvp of a branch lives as long as the branch: what is made of several is kept with the one that dies first."""

    def function(x: Any) -> Any:
        unused = ops.neg(x)
        return switch(0, [lambda: (ops.neg(unused), ops.sin(x))[1], lambda: with_jvp_rule(lambda y: y)(x)])

    for seed in range(8):  # which chooses the transformation
        law_nothing_survives(lawful, Case.of(function, np.array(0.3)), effort=quick, seed=seed)


def test_scan_of_infinite_results_is_inapplicable() -> None:
    """Zero times infinity is NaN, where a loop of Python has no tangent at all."""
    x = np.array([0.5], np.float16)
    windows = {"window_dimensions": (1,), "window_strides": (1,), "padding": ((0, 1),)}
    dilations = {"base_dilation": (1,), "window_dilation": (1,)}
    case = Case.of(lambda x: ops.reduce_window_min_p.bind(x, **windows, **dilations), x)
    for law in (law_scan_is_loop, law_while_is_loop, law_batched_while_is_choice):
        with pytest.raises(Inapplicable, match="finite"):
            law(lawful, case)


def test_reduce_window_of_infinities_is_inapplicable() -> None:
    """The computation associates finite numbers only."""
    call = replay_case(find_source("reduce_window"), [2, 1, 0, 1, 1, 0, 0, 2, 1, 1, 1, 0, 0, 0, 0, 0, 57763]).case
    with pytest.raises(Inapplicable, match="order"):
        laws["special_values"](Lawful("xla", ("xla",)), call, effort=quick)


@pytest.mark.parametrize("shape", [(9, 1), (1, 9), (7, 2), (2, 7), (4, 4), (2, 5, 1)])
def test_lu_keeps_no_square_of_the_longer_side(shape: tuple[int, ...]) -> None:
    case = Case.of(lambda x: ops.lu(x)[0], np.sin(np.arange(1.0, 1.0 + np.prod(shape)) ** 2).reshape(shape))
    for law in (law_bounded_residuals, law_cheap_gradient, law_jvp_finite_differences, law_vjp_transpose):
        law(lawful, case)
    law_vmap_is_loop(lawful, case)
    law_second_order(lawful, case)


def test_a_complex_product_of_one_element_is_the_element() -> None:
    x = np.array([complex(np.inf, 1.0)])
    for axes, expected in (((), x), ((0,), x[0])):
        for backend in ("numpy", "xla"):
            found = jit(ops.reduce_prod, static_argnums=1, backend=backend)(x, axes)
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(ops.reduce_prod(x, axes), expected)
    assert not np.shares_memory(ops.reduce_prod(x, ()), x)


@pytest.mark.parametrize(
    ("name", "choices", "law"),
    [
        ("reduce_window", [1, 0, 1, 1, 0, 0, 2, 1, 0, 1, 0, 2], "while_is_loop"),
        ("reduce_window", [1, 0, 1, 2, 0, 0, 2, 1, 0, 1, 0, 0], "purity"),
        ("reduce_window", [1, 0, 0, 2, 0, 0, 2, 1, 0, 2, 0, 0], "special_values"),
        ("convert_element_type", [0, 9, 5, 0, 0], "special_values"),
        ("clamp, smooth", [3, 1, 2, 10, 1, 1, 2, 37301], "primitive_special_points"),
        ("log, special", [2, 1, 2, 3, 0, 1], "primitive_special_points"),
        ("bessel_tail, special", [0, 0, 0, 1, 0, 23959], "primitive_special_points"),
        ("reduce_precision", [1, 0, 2, 1, 2, 0, 1], "primitive_special_points"),
        # The larger of two zeros.
        ("smooth", [10304, 0, 0, 1, 11, 12, 0, 0, 1, 6, 80, 0, 0, 1, 0, 1, 0, 42, 0, 0, 0, 0, 1], "special_values"),
        ("rel_entr, special", [1, 1, 1, 38090, 0], "jit_is_eager"),
        ("rel_entr, special", [1, 1, 1, 38090, 0], "primitive_reference"),
    ],
)
def test_calls_that_thorough_laws_found_hold(name: str, choices: list[int], law: str) -> None:
    laws[law](Lawful("xla", ("xla",)), replay_case(find_source(name), choices).case, effort=quick)


_PROGRAM_OF_TWO_FLOATS = [
    1,
    2,
    0,
    4,
    3,
    0,
    2,
    0,
    0,
    1,
    0,
    0,
    0,
    1,
    16,
    0,
    1,
    0,
    0,
    1,
    5,
    1,
    15,
    0,
    0,
    0,
    1,
    1,
    0,
    15,
    0,
    11,
    0,
    0,
    0,
    0,
    1,
    0,
    31,
    2,
    1,
    16,
    0,
    1,
    7,
    1,
    6,
    0,
    0,
    0,
    0,
    2,
    1,
    1,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
]


@pytest.mark.parametrize(
    ("name", "choices", "law"),
    [
        # Infinite in one part, and rounded in the other.
        ("reduce_window_sum, special", [3, 1, 2, 2, 11, 0, 0, 1, 3, 2, 1, 1, 1, *[0] * 8], "primitive_reference"),
        # All variables have 64 bits at its own arguments, some have 32 bits at others.
        ("smooth", _PROGRAM_OF_TWO_FLOATS, "purity"),
        # A pointwise function between collectives: its elements are sums over devices, in bfloat16.
        ("entr", [1, 2, 3, 56587, 35958, 0], "shard_map_derivatives"),
    ],
)
def test_rounding_is_of_the_dtypes_on_the_way(name: str, choices: list[int], law: str) -> None:
    laws[law](Lawful("numpy", ("numpy",)), replay_case(find_source(name), choices).case, effort=usual)


@pytest.mark.parametrize("compare", [ops.lt, ops.eq, lambda x, y: x >= y])
def test_comparison_with_an_integer_leaves_nothing(compare: Any) -> None:
    """Whether a Python integer fits an array's dtype depends on its value, so that its type is no key of a cache."""
    for dtype in ("int16", "uint8", "int64"):
        law_nothing_survives(lawful, Case.of(lambda x: compare(x, 2), np.array([1, 3], dtype)), effort=usual)


def _power_in_a_branch(x: Any, y: Any) -> Any:
    return cond(ops.gt(ops.real(x)[0], -np.inf), lambda: ops.pow(x, y), lambda: x)


def check_special_values(function: Any) -> None:
    z = np.full(3, 1.2 + 0.3j)
    for seed in range(12):
        law_special_values(Lawful("xla", ("xla",)), Case.of(lambda x, y: function(x, y), z, z, seed=seed))


def test_special_values_excuses_zeros_that_a_maximum_chooses() -> None:
    """NumPy's own method chooses another one than the op in float16."""
    for seed in range(12):
        law_special_values(lawful, Case.of(lambda x: x.max() ** -1, np.ones(3, "float16"), seed=seed))


@pytest.mark.parametrize("function", [ops.pow, jit(ops.pow, backend="numpy"), _power_in_a_branch])
def test_special_values_excuses_declared_unequal_points(function: Any) -> None:
    """XLA's complex powers of infinity are declared to be others than NumPy's, also for a pow within a program."""
    check_special_values(function)


def test_special_values_rejects_undeclared_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops.pow_p, "declaration", replace(ops.pow_p.declaration, unequal=()))  # type: ignore[type-var]
    with pytest.raises(LawViolation, match="finite in one and not in the other"):
        check_special_values(ops.pow)


CALLS = {
    "jit": jit,
    "checkpoint": checkpoint,
    "map": lambda f: lambda x: loop_map(f, x),
    "scan carry": lambda f: lambda x: scan(lambda carry, _: (f(x), None), np.ones(x.shape), None, length=3)[0],
    "fori_loop": lambda f: lambda x: fori_loop(0, 3, lambda i, carry: f(x), np.ones(x.shape)),
    "map in jit": lambda f: jit(lambda x: loop_map(f, x)),
}


@pytest.mark.parametrize("call", sorted(CALLS))
@pytest.mark.parametrize("constant", [1.5, np.array([1.5, 2.5])], ids=["scalar", "array"])
def test_linearize_call_whose_tangent_is_constant(call: str, constant: Any) -> None:
    """A custom rule gives zeros: what follows the call is no part of the linear program."""
    constant_rule = with_jvp_rule(lambda x: constant + np.zeros(np.shape(x)))
    f_jvp = linearize(lambda x: ops.neg(CALLS[call](constant_rule)(x)), np.array([[0.5, 1.0]]))[1]
    assert not f_jvp.jaxpr.eqns
    np.testing.assert_array_equal(f_jvp(np.ones((1, 2))), np.zeros((1, 2)))


def test_grad_of_a_loop_that_prints_a_constant(capsys: pytest.CaptureFixture[str]) -> None:
    def body(carry: Any, _: Any) -> Any:
        debug.print("constant {}", 2)
        return ops.sin(carry), None

    found = grad(lambda x: scan(body, x, None, length=2)[0])(1.0)
    np.testing.assert_allclose(found, np.cos(np.sin(1.0)) * np.cos(1.0))
    assert capsys.readouterr().out.count("constant 2") == 2


def test_special_transpose_of_a_scalar_beside_an_array() -> None:
    law_primitive_special_transpose(lawful, PrimitiveCall(ops.add_p, {}, (np.array(0.49), np.array([-0.83]))))
