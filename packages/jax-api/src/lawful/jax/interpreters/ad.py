"""``jax.interpreters.ad``: the tables of jvp and transpose rules.

>>> from lawful.jax.extend.core import Primitive
>>> from lawful.jax.interpreters import ad
>>> double_p = Primitive("double")
>>> ad.deflinear2(double_p, lambda ct, x: [double_p.bind(ct)])
"""

from collections.abc import Callable
from typing import Any

from lawful import numpy as _lawful_numpy
from lawful import ops as _ops
from lawful.autodiff import JVPTracer
from lawful.autodiff import zero_tangent as _zero_tangent
from lawful.core import Primitive, UndefinedPrimal, Zero, instantiate_zeros
from lawful.jax._support.lax.primitives import Rules as _Rules

__all__ = [
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "add_tangents",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "get_primitive_transpose",
    "instantiate_zeros",
    "is_undefined_primal",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]

primitive_jvps = _Rules("jvp", "def_jvp")
primitive_transposes = _Rules("transpose", "def_transpose")


def is_undefined_primal(x: Any) -> bool:
    """Whether an argument of a transpose rule is a linear one.

    >>> is_undefined_primal(3.0)
    False
    """
    return isinstance(x, UndefinedPrimal)


def add_tangents(x: Any, y: Any) -> Any:
    """Returns the sum of two tangents, each of which may be a symbolic zero.

    >>> add_tangents(3.0, _zero_tangent(1.0))
    3.0
    """
    return y if type(x) is Zero else x if type(y) is Zero else _ops.add(x, y)


def zeros_like_aval(aval: Any) -> Any:
    """Returns zeros of a type.

    >>> from lawful.core import ShapedArray
    >>> zeros_like_aval(ShapedArray((2,), float))
    array([0., 0.])
    """
    return _lawful_numpy.zeros(aval.shape, aval.dtype)


def get_primitive_transpose(p: Primitive) -> Callable[..., Any]:
    """Returns the transpose rule of a primitive.

    >>> from lawful.core import get_aval
    >>> get_primitive_transpose(_ops.neg_p)(3.0, UndefinedPrimal(get_aval(1.0)))
    [-3.0]
    """
    return p.rule("transpose")


def _linear_jvp(primitive: Primitive) -> None:
    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            return out, _zero_tangent(out)
        return out, primitive.bind(*map(instantiate_zeros, tangents), **params)

    primitive.def_jvp(jvp)


def deflinear2(primitive: Primitive, transpose_rule: Callable[..., Any]) -> None:
    """Defines a primitive as linear, with the transpose rule ``rule(ct, *args, **params)``.

    >>> double_p = Primitive("double")
    >>> deflinear2(double_p, lambda ct, x: [2.0 * ct])
    >>> get_primitive_transpose(double_p)(3.0, None)
    [6.0]
    """
    _linear_jvp(primitive)
    primitive.def_transpose(transpose_rule)


def deflinear(primitive: Primitive, transpose_rule: Callable[..., Any]) -> None:
    """Defines a primitive as linear, with the transpose rule ``rule(ct, **params)``.

    >>> double_p = Primitive("double")
    >>> deflinear(double_p, lambda ct: [2.0 * ct])
    >>> get_primitive_transpose(double_p)(3.0, None)
    [6.0]
    """
    deflinear2(primitive, lambda ct, *args, **params: transpose_rule(ct, **params))


def defjvp(primitive: Primitive, *jvprules: Callable[..., Any] | None) -> None:
    """Defines the jvp of a primitive by a rule for each argument: ``rule(tangent, *primals, **params)``.

    >>> square_p = Primitive("squared")
    >>> _ = square_p.def_impl(lambda x: x * x)
    >>> defjvp(square_p, lambda t, x: 2.0 * x * t)
    >>> square_p.rule("jvp")([3.0], [1.0])
    (9.0, 6.0)
    """
    with_result = [
        None if rule is None else lambda t, ans, *primals, _rule=rule, **params: _rule(t, *primals, **params)
        for rule in jvprules
    ]
    defjvp2(primitive, *with_result)


def defjvp2(primitive: Primitive, *jvprules: Callable[..., Any] | None) -> None:
    """Defines the jvp of a primitive by a rule for each argument: ``rule(tangent, ans, *primals, **params)``.

    >>> inverse_p = Primitive("inverse")
    >>> _ = inverse_p.def_impl(lambda x: 1.0 / x)
    >>> defjvp2(inverse_p, lambda t, ans, x: -t * ans * ans)
    >>> inverse_p.rule("jvp")([2.0], [1.0])
    (0.5, -0.25)
    """

    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        ans = primitive.bind(*primals, **params)
        total: Any = _zero_tangent(ans)
        for rule, tangent in zip(jvprules, tangents, strict=True):
            if rule is not None and type(tangent) is not Zero:
                total = add_tangents(total, rule(tangent, ans, *primals, **params))
        return ans, total

    primitive.def_jvp(jvp)


def defbilinear(prim: Primitive, lhs_rule: Callable[..., Any], rhs_rule: Callable[..., Any]) -> None:
    """Defines a primitive as linear in each of two arguments, with a transpose rule for each.

    >>> product_p = Primitive("product")
    >>> _ = product_p.def_impl(lambda x, y: x * y)
    >>> defbilinear(product_p, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)
    >>> product_p.rule("jvp")([3.0, 2.0], [1.0, 1.0])
    (6.0, np.float64(5.0))
    """
    defjvp(
        prim,
        lambda t, x, y, **params: prim.bind(t, y, **params),
        lambda t, x, y, **params: prim.bind(x, t, **params),
    )

    def transpose(ct: Any, x: Any, y: Any, **params: Any) -> Any:
        if is_undefined_primal(x):
            return (Zero(x.aval) if type(ct) is Zero else lhs_rule(ct, x, y, **params)), None
        return None, (Zero(y.aval) if type(ct) is Zero else rhs_rule(ct, x, y, **params))

    prim.def_transpose(transpose)
