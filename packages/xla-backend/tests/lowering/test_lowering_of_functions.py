"""A lowering rule may be a Python function of arrays, recorded once and called; loops run until all have converged."""

import gc
import weakref

import numpy as np
import pytest

from lawful import ops
from lawful.core import Primitive, ShapedArray
from lawful.staging import jit

_RANDOM = np.random.default_rng(0)


def test_lowering_function_is_recorded_once_for_all_its_calls():
    recorded = []

    def polynomial(x, y):
        recorded.append(x.shape)
        return np.sin(x) * y, np.where(x > y, x, y)

    pair_p = Primitive("polynomial_pair", multiple_results=True, pure_rules=True)
    pair_p.def_abstract_eval(lambda x, y: [ShapedArray(x.shape, x.dtype)] * 2)
    pair_p.def_lowering(lambda ctx, x, y: ctx.apply(polynomial, x, y))
    x, y = np.arange(3.0), np.ones(3)
    for _ in range(2):
        function = jit(lambda x, y: pair_p.bind(*pair_p.bind(x, y)), backend="xla")
        out = [np.asarray(z) for z in function(x, y)]
    first = np.sin(x) * y, np.where(x > y, x, y)
    np.testing.assert_allclose(out[0], np.sin(first[0]) * first[1])
    assert recorded == [(3,)]
    assert str(function.lower(x, y).as_text()).count("func.func private") == 1


def test_lowering_function_made_in_the_rule_leaves_no_program():
    programs = []

    def made_in_the_rule(ctx, x):
        program = ctx.program(lambda y: np.sin(y) * 2.0, x)
        programs.append(weakref.ref(program))
        return ctx.inline(program, [x])[0]

    sine_p = Primitive("twice_sine", pure_rules=True)
    sine_p.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype))
    sine_p.def_lowering(made_in_the_rule)
    out = jit(lambda x: sine_p.bind(x), backend="xla")(np.ones(3))
    np.testing.assert_allclose(np.asarray(out), 2 * np.sin(np.ones(3)))
    gc.collect()
    assert [program() for program in programs] == [None]


def test_lowering_call_rule_builds_one_function_for_each_type():
    double_p = Primitive("double", pure_rules=True)
    double_p.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype))
    double_p.def_lowering(lambda ctx, x: ctx.call_rule(double, x))

    def double(ctx, x):
        return ctx.hlo.add(x, x)

    def function(x, y):
        return double_p.bind(double_p.bind(x)), double_p.bind(y)

    x, y = np.arange(3.0), np.arange(2, dtype=np.float32)
    compiled = jit(function, backend="xla")
    text = str(compiled.lower(x, y).as_text())
    assert text.count("func.func private") == 2
    assert text.count('inlineable = "false"') == 3
    for out, expected in zip(compiled(x, y), (4 * x, 2 * y), strict=True):
        np.testing.assert_array_equal(np.asarray(out), expected)


def test_lowering_call_rule_tells_equal_parameters_apart():
    signed_p = Primitive("signed", pure_rules=True)
    signed_p.def_abstract_eval(lambda x, zero: ShapedArray(x.shape, x.dtype))
    signed_p.def_lowering(lambda ctx, x, zero: ctx.call_rule(filled, x))

    def filled(ctx, x, zero):
        return ctx.full(ctx.avals_in[0], zero)

    outs = jit(lambda x: [signed_p.bind(x, zero=zero) for zero in (0.0, -0.0)], backend="xla")(np.ones(1))
    assert [bool(np.signbit(np.asarray(out))[0]) for out in outs] == [False, True]


@pytest.mark.parametrize("cumulative", [False, True])
@pytest.mark.parametrize("size", [5, 40])
def test_lowering_product_tangent_by_ops_alone(size, cumulative):
    """With `lawful.numpy` not installed, as in a test of this wheel alone."""
    x, t = np.linspace(0.5, 1.5, size), np.linspace(-1.0, 1.0, size)
    params = {"axes": (0,), "cumulative": cumulative, "reverse": False}
    found = jit(lambda x, t: ops.product_tangent_p.bind(x, t, **params), backend="xla")(x, t)
    np.testing.assert_allclose(np.asarray(found), ops.product_tangent_p.bind(x, t, **params), rtol=1e-12)


def test_lowering_zeta_raises_to_powers_in_one_array():
    exponents, starts = np.array([1.5, 3.0, 2.0, 1e17]), np.array([0.5, -20.25, -3.0, 2.0])
    compiled = jit(ops.zeta, backend="xla")
    assert str(compiled.lower(exponents, starts).as_text()).count("stablehlo.power") == 2
    np.testing.assert_allclose(np.asarray(compiled(exponents, starts)), ops.zeta(exponents, starts), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lowering_iterations_give_in_xla_what_they_give_in_numpy(dtype):
    a, b = (10 ** _RANDOM.uniform(-2, 4, (3, 500))).astype(dtype)[:2]
    x = (a * _RANDOM.uniform(0.3, 2, 500)).astype(dtype)
    y = _RANDOM.uniform(0, 1, 500).astype(dtype)
    rtol = 1e-10 if dtype == np.float64 else 1e-6
    for function, args in (
        (ops.igamma, (a, x)),
        (ops.igammac, (a, x)),
        (ops.igamma_grad_a, (a, x)),
        (ops.betainc, (a, b, y)),
    ):
        expected = function(*args)
        got = np.asarray(jit(function, backend="xla")(*args))
        assert got.dtype == dtype
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-290 if dtype == np.float64 else 1e-37)


def test_lowering_special_numbers_end_every_iteration():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -1.0, 1.0, 0.5])
    pairs, triples = np.meshgrid(x, x), np.meshgrid(x, x, x)
    for function, args in (
        (ops.igamma, pairs),
        (ops.igammac, pairs),
        (ops.igamma_grad_a, pairs),
        (ops.betainc, triples),
    ):
        np.testing.assert_allclose(np.asarray(jit(function, backend="xla")(*args)), function(*args), rtol=1e-13)


def test_lowering_no_elements_need_no_iteration():
    empty = np.zeros((0, 2))
    assert np.asarray(jit(ops.igamma, backend="xla")(empty, empty)).shape == (0, 2)
    assert ops.betainc(empty, empty, empty).shape == (0, 2)


def test_call_of_a_function_compiled_alone_is_built_once_a_block():
    """Both parts of a complex result come from one call, which XLA would merge too late to simplify its users."""

    def lowered(function):
        return str(jit(function, backend="xla").lower(np.array([0.5 + 0.5j, 1.0])).as_text())

    assert lowered(ops.wofz).count("call @derivative(") == 1
    assert lowered(lambda z: ops.wofz(z) + ops.wofz(z[::-1])).count("call @derivative(") == 2
