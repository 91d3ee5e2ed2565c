"""Users' primitives: their rules run every time, under every operator."""

import math
from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import elementwise_grad, grad, hessian, isinstance, jacobian, make_jvp, make_vjp, primitive, type
from lawful.autograd.extend import (
    Box,
    SparseObject,
    VSpace,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    notrace_primitive,
    vspace,
)
from lawful.autograd.extend import primitive as opaque
from lawful.autograd.tracer import getval, isbox
from lawful.core import MissingRuleError

X = numpy.array([0.5, 1.0, 2.0])


def make_power(mode: str) -> Any:
    """Returns ``x ** n`` as a primitive that sees values only, with the rule of one mode."""

    @opaque
    def power(x: Any, n: int) -> Any:
        assert not isbox(x)
        return x**n

    if mode == "vjp":
        defvjp(power, lambda ans, x, n: lambda g: g * n * power(x, n - 1), argnums=(0,))
    else:
        defjvp(power, lambda g, ans, x, n: g * n * power(x, n - 1), argnums=(0,))
    return power


@pytest.mark.parametrize("mode", ["vjp", "jvp"])
@pytest.mark.parametrize("x", [2.0, numpy.float64(2.0), X])
def test_primitive_under_operators(mode: str, x: Any) -> None:
    power = make_power(mode)
    assert numpy.allclose(elementwise_grad(lambda x: power(x, 3))(x), 3 * x**2)
    assert numpy.allclose(elementwise_grad(elementwise_grad(lambda x: power(x, 3)))(x), 6 * x)
    assert numpy.allclose(jacobian(lambda x: power(x, 3))(x), numpy.diag(3 * X**2) if x is X else 3 * x**2)
    assert numpy.allclose(hessian(lambda x: np.sum(power(x, 3)))(x), numpy.diag(6 * X) if x is X else 6 * x)
    value, tangent = make_jvp(lambda x: power(x, 3))(x)(x)
    assert numpy.allclose(value, x**3)
    assert numpy.allclose(tangent, 3 * x**3)
    pushed = make_jvp(elementwise_grad(lambda x: power(x, 3)))(x)(x)[1]
    assert numpy.allclose(pushed, 6 * x**2)


def test_primitive_rule_runs_every_time() -> None:
    calls: list[str] = []

    @opaque
    def twice(x: Any) -> Any:
        calls.append("value")
        return 2.0 * x

    def rule(ans: Any, x: Any) -> Any:
        calls.append("rule")

        def pull(g: Any) -> Any:
            calls.append("pull")
            return 2.0 * g

        return pull

    defvjp(twice, rule)
    for _ in range(3):
        assert grad(twice)(1.0) == 2.0
    assert calls == ["value", "rule", "pull"] * 3


def test_primitive_of_trees() -> None:
    @opaque
    def swap(pair: Any, scale: Any, *, name: str) -> Any:
        assert name == "swap"
        return {"first": pair[1] * scale, "second": [pair[0]]}

    def rule(argnum: int, ans: Any, args: Any, kwargs: Any) -> Any:
        (_, b), scale = args
        if argnum == 0:
            return lambda g: (g["second"][0], g["first"] * scale)
        return lambda g: np.sum(g["first"] * b)

    defvjp_argnum(swap, rule)

    def f(pair: Any, scale: Any) -> Any:
        out = swap(pair, scale, name="swap")
        return np.sum(out["first"] ** 2) + 3.0 * out["second"][0]

    (by_a, by_b), by_scale = grad(f, (0, 1))((1.0, X), 2.0)
    assert by_a == 3.0
    assert numpy.allclose(by_b, 8.0 * X)
    assert by_scale == 4.0 * numpy.sum(X**2)
    assert grad(lambda scale: f((1.0, X), scale))(2.0) == by_scale


def test_defvjp_argnums_and_defjvp_argnums() -> None:
    @opaque
    def product(x: Any, y: Any) -> Any:
        return x * y

    seen = []

    def rule(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        seen.append(argnums)
        return lambda g: [g * args[1 - argnum] for argnum in argnums]

    defvjp_argnums(product, rule)
    assert grad(product, (0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert grad(product, 1)(2.0, 3.0) == 2.0
    assert seen == [(0, 1), (1,)]
    defjvp_argnums(
        product, lambda argnums, gs, ans, args, kwargs: sum(g * args[1 - i] for i, g in zip(argnums, gs, strict=True))
    )
    assert make_jvp(product, (0, 1))(2.0, 3.0)((1.0, 10.0)) == (6.0, 23.0)
    defjvp_argnum(product, lambda argnum, g, ans, args, kwargs: 2.0 * g * args[1 - argnum])
    assert make_jvp(product, (0, 1))(2.0, 3.0)((1.0, 10.0)) == (6.0, 46.0)


def test_linear_primitives() -> None:
    @opaque
    def total(x: Any) -> Any:
        return numpy.sum(x)

    defjvp(total, "same")
    defvjp(total, lambda ans, x: lambda g: g * np.ones(3))
    assert make_jvp(total)(X)(X)[1] == 3.5
    assert grad(total)(X).tolist() == [1.0, 1.0, 1.0]

    @opaque
    def double(x: Any) -> Any:
        return 2.0 * x

    def_linear(double)
    assert make_jvp(double)(3.0)(5.0) == (6.0, 10.0)


def test_zero_rules() -> None:
    @opaque
    def first(x: Any, y: Any) -> Any:
        return x + 0.0 * y

    defvjp(first, lambda ans, x, y: lambda g: g, None)
    defjvp(first, lambda g, ans, x, y: g, None)
    assert grad(first, (0, 1))(2.0, 3.0) == (1.0, 0.0)
    assert make_jvp(first, (0, 1))(2.0, 3.0)((5.0, 7.0)) == (2.0, 5.0)
    assert make_jvp(first, 1)(2.0, 3.0)(7.0) == (2.0, 0.0)


def test_missing_rules() -> None:
    @opaque
    def bare(x: Any, y: Any) -> Any:
        return x * y

    with pytest.raises(MissingRuleError, match="VJP of bare wrt argnums 0, 1 not defined"):
        grad(bare, (0, 1))(1.0, 2.0)
    with pytest.raises(NotImplementedError, match="JVP of bare wrt argnums 0 not defined"):
        make_jvp(bare)(1.0, 2.0)(1.0)
    defvjp(bare, lambda ans, x, y: lambda g: g * y)
    with pytest.raises(NotImplementedError, match="VJP of bare wrt argnums 1 not defined"):
        grad(bare, 1)(1.0, 2.0)
    with pytest.raises(TypeError, match="expected a function made by primitive, got len"):
        defvjp(len, lambda ans, x: lambda g: g)
    with pytest.raises(TypeError, match="expected functions or None"):
        defvjp(bare, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected functions, None or 'same'"):
        defjvp(bare, "other")


def test_rules_of_other_shapes() -> None:
    @opaque
    def scaled(x: Any, a: Any) -> Any:
        return x * a

    defvjp(scaled, lambda ans, x, a: lambda g: a, lambda ans, x, a: lambda g: g * x)
    assert grad(lambda x: np.sum(scaled(x, 2.0)))(X).tolist() == [2.0, 2.0, 2.0]  # broadcast
    words = r"VJP of scaled: expected a derivative of the shape \(\), got \(3,\).* lawful\.autograd\.numpy\.numpy_vjps"
    with pytest.raises(ValueError, match=words):
        grad(lambda a: np.sum(scaled(X, a)))(2.0)


def test_rule_of_sparse_object() -> None:
    @opaque
    def second(x: Any) -> Any:
        return x[1]

    def rule(ans: Any, x: Any) -> Any:
        def pull(g: Any) -> Any:
            def add(y: Any) -> Any:
                y[1] += g
                return y

            return SparseObject(vspace(x), add)

        return pull

    defvjp(second, rule)
    assert grad(lambda x: second(x) ** 2)(X).tolist() == [0.0, 2.0, 0.0]


def test_integer_results_have_no_derivative() -> None:
    @opaque
    def count(x: Any) -> Any:
        return int(numpy.sum(x > 0.7))

    assert grad(lambda x: np.sum(x) * count(x))(X).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(TypeError, match="expected arrays as the result of a primitive, got a str"):
        grad(opaque(lambda x: "text"))(1.0)


def test_rules_of_namespace_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "nan_to_num", np.nan_to_num)  # put back at the end, as the lookup replaces it

    def f(x: Any) -> Any:
        return np.nan_to_num(x)

    before = grad(f)(1.0)
    assert before == 1.0
    # A function of its own, so that the derivative of the namespace's stays.
    own = np.__getattr__("nan_to_num")
    defvjp(own, lambda ans, x: lambda g: 7.0 * g)
    assert grad(own)(1.0) == 7.0


def test_notrace_primitive_gets_values() -> None:
    seen = []
    note = notrace_primitive(lambda x, pair: seen.append((x, pair)))
    assert grad(lambda x: (note(x, (x, 1)), x * x)[1])(3.0) == 6.0
    assert seen == [(3.0, (3.0, 1))]
    assert grad(lambda x: getval(x) * x)(3.0) == 3.0
    assert grad(lambda x: x if isbox(x) and isinstance(x, float) and type(x) is float else 0.0 * x)(3.0) == 1.0
    assert grad(lambda x: x[0] if isinstance(x, numpy.ndarray) and Box else 0.0 * x)(X).tolist() == [1.0, 0.0, 0.0]


def test_deprecated_methods_of_primitives() -> None:
    @primitive
    def product(x: Any, y: Any) -> Any:
        return x * y

    with pytest.warns(DeprecationWarning, match="defgrad of a primitive is deprecated"):
        product.defgrad(lambda ans, x, y: lambda g: g * y)  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match="defvjp of a primitive"):
        product.defvjp(lambda g, ans, vs, gvs, x, y: g * x, argnum=1)  # type: ignore[attr-defined]
    assert grad(product, (0, 1))(2.0, 3.0) == (3.0, 2.0)
    with pytest.warns(DeprecationWarning, match="defvjp_is_zero"):
        product.defvjp_is_zero([0])  # type: ignore[attr-defined]
    assert grad(product, (0, 1))(2.0, 3.0) == (0.0, 2.0)


def test_primitive_with_library_function() -> None:
    sine = opaque(math.sin)
    defvjp(sine, lambda ans, x: lambda g: g * np.cos(x))
    assert grad(lambda x: sine(x) * x)(0.5) == math.cos(0.5) * 0.5 + math.sin(0.5)
    pull, value = make_vjp(sine)(0.5)
    assert (value, pull(2.0)) == (math.sin(0.5), 2.0 * math.cos(0.5))


def test_vspaces() -> None:
    space = vspace((X, [1.0, 1j]))
    assert space.size == 6
    assert len([*space.standard_basis()]) == 6
    assert space == vspace((X + 1.0, [2.0, 3j]))
    assert space != vspace((X, [1.0, 1.0]))
    zero, one = space.zeros(), space.ones()
    assert one[1][1] == 1 + 1j
    assert space.inner_prod(one, one) == 3.0 + 1.0 + 2.0
    assert space.inner_prod(space.add(zero, one), space.scalar_mul(one, 2.0)) == 12.0
    assert space.covector(one)[1][1] == 1 - 1j
    assert vspace(space.randn()) == space
    assert numpy.array_equal(space.mut_add(None, one)[0], numpy.ones(3))
    with pytest.raises(TypeError, match="vspace: expected an array"):
        vspace("text")

    class Point:
        pass

    class PointSpace(VSpace):
        def zeros(self) -> Any:
            return 0

    PointSpace.register(Point)
    assert vspace(Point()).zeros() == 0
