"""Functions with rules are called as the functions that they decorate; primitives are bound with arrays."""

from collections.abc import Callable
from typing import Any, assert_type

from lawful import ops
from lawful.autodiff import grad
from lawful.core import Primitive, ShapedArray
from lawful.custom_rules import custom_gradient, custom_jvp, custom_rule, custom_vjp, custom_vmap, linear_call


@custom_jvp
def log1pexp(x: float) -> float:
    result: float = ops.log(1.0 + ops.exp(x))
    return result


@log1pexp.defjvp
def log1pexp_jvp(primals: tuple[float], tangents: tuple[float]) -> tuple[float, float]:
    (x,), (x_dot,) = primals, tangents
    slope: float = 1.0 / (1.0 + ops.exp(-x))
    return log1pexp(x), x_dot * slope


@custom_vjp
def scaled(x: float, by: float) -> float:
    return x * by


def scaled_fwd(x: float, by: float) -> tuple[float, tuple[float, float]]:
    return x * by, (x, by)


def scaled_bwd(residuals: tuple[float, float], ct: float) -> tuple[float, float]:
    x, by = residuals
    return ct * by, ct * x


scaled.defvjp(scaled_fwd, scaled_bwd)


@custom_vmap
def doubled(x: float) -> float:
    return x + x


@doubled.def_vmap
def doubled_batch(axis_size: int, in_batched: list[bool], x: float) -> tuple[float, bool]:
    return x + x, in_batched[0]


@custom_rule
def identity(x: float) -> float:
    return x


assert_type(log1pexp(1.0), float)
assert_type(grad(log1pexp)(1.0), float)
assert_type(scaled(1.0, by=2.0), float)
assert_type(grad(scaled)(1.0, 2.0), float)
assert_type(doubled(1.0), float)
assert_type(identity(1.0), float)


@custom_gradient
def steep(x: float) -> tuple[float, Callable[[float], float]]:
    return x * x, lambda ct: 3.0 * x * ct


assert_type(steep(1.0), float)
assert_type(grad(steep)(1.0), float)


def times(by: float, x: float) -> float:
    return by * x


assert_type(linear_call(times, times, 3.0, 2.0), float)

double_p = Primitive("double")


@double_p.def_impl
def double_impl(x: Any) -> Any:
    return x + x


@double_p.def_abstract_eval
def double_type(x: ShapedArray) -> ShapedArray:
    return x


@double_p.def_jvp
def double_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    return double_p.bind(*primals), double_p.bind(*tangents)


assert_type(double_p.name, str)
print(double_p.bind(2.0))
