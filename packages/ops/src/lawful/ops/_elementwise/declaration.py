"""The family of elementwise ops: one declaration makes the primitive, all of its rules and its function.

A declaration names the NumPy function, the StableHLO op and the derivatives. The other rules are made from it: the
Jacobian is diagonal, so the derivative of a linear op is also its transpose; the batching rule moves batch dimensions
to the front; promotion is that of the NumPy function.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Final

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    Choose,
    Declaration,
    Excluded,
    Hook,
    Interval,
    NotLinearError,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Unequal,
    Zero,
    get_aval,
    is_inexact,
    is_of_ml_dtypes,
    of_numpy,
    python_scalar_dtype,
    python_scalar_types,
)
from lawful.ops._elementwise.application import Application
from lawful.ops._support.batch_dimensions import align_scalars
from lawful.ops._support.promotion import OfKinds, PromoteAs, operand_dtypes, require_equal

__all__ = ["Elementwise", "add_tangents", "elementwise", "tangent_sum_hook"]

#: ``derivative(tangent, ans, *primals, **params)`` returns one argument's term of the output tangent.
Derivative = Callable[..., Any]
Lower = Callable[..., Any]

#: Operators that give what a function of NumPy gives for two floats, 10× faster.
_OPERATORS: Final[dict[Any, Callable[..., Any]]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.negative: operator.neg,
}
_MACHINE_FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))


class _AcceptedTypes(dict[Any, bool]):
    """Maps a dtype or a Python scalar type to whether a primitive accepts it: whether promotion leaves it unchanged.

    Args:
      name: the primitive.
      promotion: the promotion of its function.
    """

    def __init__(self, name: str, promotion: PromoteAs) -> None:
        self._name = name
        self._promotion = promotion

    def __missing__(self, key: Any) -> bool:
        dtype = key if isinstance(key, np.dtype) else python_scalar_dtype(key)
        try:
            promoted, _ = operand_dtypes(self._name, self._promotion, False, *((dtype, False),) * self._count)
        except ArgumentTypeError:
            self[key] = False
        else:
            self[key] = promoted == dtype
        return self[key]

    @property
    def _count(self) -> int:
        return self._promotion.nin if isinstance(self._promotion, np.ufunc) else 1

    def refusal(self, aval: ShapedArray) -> ArgumentTypeError:
        """Returns the error for operands that the primitive does not accept."""
        return ArgumentTypeError(
            f"{self._name}_p: expected operands of a dtype that it is defined for, got {aval.dtype}; "
            "call its function, which promotes, or convert with astype"
        )


class Elementwise:
    """An elementwise op: called as a function, it promotes, broadcasts and applies its primitive.

    Attributes:
      primitive: the strict primitive beneath, of operands of one dtype and one shape, or scalars beside them.
      operator: the op as a Python operator has it: of weak operands only (Python scalars, and tracers that stand
        for) it gives a weak result, where the function gives a strong one.

    >>> ops.add, ops.add(1, 2), ops.add.operator(1, 2)
    (<function lawful.ops.add>, np.int64(3), 3)
    """

    application: type[Application] = Application

    def __init__(
        self,
        primitive: Primitive,
        numpy_function: Callable[..., Any],
        promote_as: PromoteAs,
        arity: int,
        doc: str,
        example: tuple[str, str] | None = None,
    ) -> None:
        self.primitive = primitive
        self.numpy_function = numpy_function
        self.promote_as = promote_as
        self.arity = arity
        self.as_function = self.applied_as(primitive.name, promote_as)
        self.as_operator = self.applied_as(primitive.name, promote_as, operator=True)
        self.__name__ = self.__qualname__ = primitive.name
        self.__doc__ = "{}\n\n>>> {}\n{}".format(doc, *example) if example else doc

    def __repr__(self) -> str:
        return f"<function lawful.ops.{self.__name__}>"

    def __call__(self, *args: Any) -> Any:
        if len(args) != self.arity:
            raise ArgumentTypeError(f"{self.__name__}: expected {self.arity} arguments, got {len(args)}")
        return self.as_function.apply(args)

    def operator(self, *args: Any) -> Any:
        """Applies the op as a Python operator: as the function, but weak operands give a weak result."""
        return self.as_operator.apply(args)

    def applied_as(self, name: str, promote_as: PromoteAs, operator: bool = False) -> Application:
        """Returns the application of the op under the name and promotion of a function."""
        return self.application(self.primitive, name, promote_as, operator)


def _switch_call(call: Callable[..., Any]) -> None:
    Elementwise.__call__ = call  # type: ignore[method-assign]


#: The call of every elementwise op. An accelerator replaces ``Elementwise.__call__`` itself, so that the choice costs
#: nothing.
elementwise_hook: Final[Hook[Callable[..., Any]]] = Hook("elementwise calls", Elementwise.__call__, _switch_call)


def elementwise(
    name: str,
    doc: str,
    numpy_function: Callable[..., Any],
    hlo: str | Lower,
    *,
    arity: int = 1,
    derivatives: Sequence[Derivative | None] | None = None,
    linear: tuple[tuple[int, ...], ...] = (),
    promote_as: PromoteAs = None,
    of_inexact: np.ufunc | None = None,
    of_ml_dtypes: Callable[..., Any] | None = None,
    result: Callable[[np.dtype[Any]], np.dtype[Any]] | None = None,
    domain: Sequence[Interval] = (Interval(),),
    kinds: str = "f",
    commutes: bool = False,
    associates: bool = False,
    unit: float | None = None,
    excluded: Sequence[Excluded] = (),
    unequal: Sequence[Unequal] = (),
    params: Callable[[Choose], dict[str, Any]] = lambda choose: {},
    pure_rules: bool = False,
    of_class: type[Elementwise] = Elementwise,
    example: tuple[str, str] | None = None,
) -> Elementwise:
    """Declares an elementwise op.

    Args:
      name: the primitive's name, and the function's.
      doc: the function's docstring.
      numpy_function: evaluates it on NumPy arrays of equal dtype; also the reference in its declaration.
      hlo: the StableHLO op's name, or ``lower(ctx, *operands)``.
      arity: the number of arguments.
      derivatives: ``derivative(tangent, ans, *primals, **params)`` in ops, one for each argument; None where the
        derivative is zero everywhere that it exists.
      linear: sets of arguments in which the op is jointly linear.
      promote_as: the ufunc whose promotion the function uses; by default ``numpy_function`` if it is one. Without
        one, operands are promoted to one dtype of ``kinds``: integers become float64 where the op takes only floats.
        The primitive refuses operands that the function would convert.
      of_inexact: the ufunc that ``numpy_function`` is for floats and complex numbers.
      of_ml_dtypes: evaluates it where an operand has a dtype of ml_dtypes; by default ``numpy_function``.
      result: the dtype of the result from that of the operands; by default the same.
      domain: where laws draw arguments: a bounded part of the domain that reaches every branch of the algorithm.
        Special points are drawn beside it.
      kinds: the dtype kinds that it is defined for; without a ufunc's promotion, other operands are refused.
      commutes: whether ``f(x, y) = f(y, x)``.
      associates: whether ``f(f(x, y), z) = f(x, f(y, z))``.
      unit: the value with ``f(x, unit) = x``.
      excluded: where derivatives do not exist, by functions of all arguments, besides the points that ``domain``
        excludes.
      unequal: where backends compute something else than the NumPy function.
      params: draws static parameters, for laws; the NumPy function and the rules get them by name.
      pure_rules: whether all functions given here are pure, so that derivatives may be cached: see ``Primitive``.
      of_class: the class of the function.
      example: a call and what it prints, for the docstring.

    >>> tripled = elementwise(
    ...     "tripled", "Returns 3 x.", lambda x: 3 * x, lambda ctx, x: ctx.hlo.add(x, ctx.hlo.add(x, x)), kinds="fc"
    ... )
    >>> tripled(np.arange(3.0))
    array([0., 3., 6.])
    """
    primitive = Primitive(name, pure_rules=pure_rules)
    promotion: PromoteAs = promote_as
    if promotion is None:
        promotion = numpy_function if isinstance(numpy_function, np.ufunc) else OfKinds(kinds)

    accepts = _AcceptedTypes(name, promotion)

    @primitive.def_impl
    def impl(*args: Any, **params: Any) -> Any:
        first = args[0]
        cls = type(first)
        is_scalar = cls in python_scalar_types
        if not accepts[cls if is_scalar else first.dtype]:
            raise accepts.refusal(get_aval(first))
        function = numpy_function
        if of_ml_dtypes and any([is_of_ml_dtypes(x.dtype) for x in args if hasattr(x, "dtype")]):
            function = of_ml_dtypes
        out = function(*args, **params)
        if is_scalar and all([type(x) in python_scalar_types for x in args]):
            return out.item()  # Python scalars give a weak value, which is a Python scalar
        return out

    @primitive.def_rule_as("numpy")
    def specialised(avals: Sequence[ShapedArray], compile: Any, **params: Any) -> Callable[..., Any]:
        # Unless all operands are Python scalars, NumPy's function is enough. A redefined rule takes precedence.
        function = primitive.rule("impl")
        if function is impl:
            if (
                numpy_function in _OPERATORS
                and not any([aval.shape for aval in avals])
                and avals[0].dtype in _MACHINE_FLOATS
            ):
                function = _OPERATORS[numpy_function]
            else:
                ufunc = of_inexact if of_inexact and is_inexact(avals[0].dtype) else numpy_function
                if of_ml_dtypes and any([is_of_ml_dtypes(aval.dtype) for aval in avals]):
                    ufunc = of_ml_dtypes
                if not all([aval.weak_type for aval in avals]):
                    function = ufunc
                elif isinstance(ufunc, np.ufunc) and not any([aval.shape for aval in avals]):
                    return of_numpy(lambda *args: ufunc(*args).item())
        return partial(function, **params) if params else function

    @primitive.def_abstract_eval
    def abstract_eval(*avals: ShapedArray, **params: Any) -> ShapedArray:
        aval = avals[0] if len(avals) == 1 else require_equal(name, avals, scalars=True)
        if not accepts[aval.dtype]:
            raise accepts.refusal(aval)
        return aval if result is None else aval.update(dtype=result(aval.dtype))

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int | None], **params: Any) -> tuple[Any, int]:
        args, dim = align_scalars(args, dims, range(len(args)))
        return primitive.bind(*args, **params), dim

    primitive.def_lowering(_lower_to_op(hlo, arity) if isinstance(hlo, str) else _lower_by(hlo, arity))
    _differentiate(primitive, derivatives or (None,) * arity)
    if linear:
        _transpose(primitive, derivatives or (), linear)
    else:
        primitive.declare_absent("transpose", "it is not linear in any argument")

    def sample(choose: Choose) -> tuple[tuple[ShapedArray, ...], dict[str, Any]]:
        aval = ShapedArray(choose.shape(), choose.dtype(kinds))
        avals = [aval] * arity
        # One operand in a quarter of the calls is a scalar.
        if arity > 1 and choose.integer(0, 3) == 3:
            avals[choose.integer(0, arity - 1)] = aval.update(shape=())
        return tuple(avals), params(choose)

    primitive.declaration = Declaration(
        sample=sample,
        reference=numpy_function,
        domain=tuple(domain) if len(domain) == arity else tuple(domain) * arity,
        kinds=kinds,
        linear=linear,
        commutes=commutes,
        associates=associates,
        unit=unit,
        differentiable=derivatives is not None and any(derivatives),
        pointwise=True,
        excluded=tuple(excluded),
        unequal=tuple(unequal),
    )
    return of_class(primitive, numpy_function, promotion, arity, doc, example)


#: Declares an elementwise op whose rules are pure.
pure_elementwise = partial(elementwise, pure_rules=True)


def _lower_to_op(name: str, arity: int) -> Lower:
    """Returns the lowering to an op of StableHLO."""
    if arity == 1:
        return lambda ctx, operand: ctx.op(name, operand)
    return lambda ctx, *operands: ctx.op(name, *ctx.broadcast_scalars(operands))


def _lower_by(rule: Lower, arity: int) -> Lower:
    """Returns the lowering by a rule of operands of one shape."""

    def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
        if arity > 1:
            operands = ctx.broadcast_scalars(operands)
        dtype = ctx.aval_out.dtype
        if dtype.itemsize == 1 and is_inexact(dtype):
            # Conversions to 8-bit floats branch: LLVM takes minutes for several algorithms with them in one fused loop.
            return ctx.call_rule(rule, *operands)
        return rule(ctx, *operands, **params) if params else rule(ctx, *operands)

    return lower


def _differentiate(primitive: Primitive, derivatives: Sequence[Derivative | None]) -> None:
    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        ans = primitive.bind(*primals, **params)
        total = None
        for tangent, derivative in zip(tangents, derivatives, strict=True):
            if type(tangent) is not Zero and derivative is not None:
                term = derivative(tangent, ans, *primals, **params)
                total = term if total is None else add_tangents(total, term)
        if total is None:
            return ans, Zero(get_aval(ans).to_tangent_aval())
        # The tangent of a scalar beside an array may be a scalar itself.
        return ans, total if len(primals) == 1 else _broadcast_as(total, ans)


def _broadcast_as(tangent: Any, ans: Any) -> Any:
    shape = get_aval(ans).shape
    return (
        tangent
        if type(tangent) is Zero or get_aval(tangent).shape == shape
        else ops.broadcast_in_dim(tangent, shape, ())
    )


def _transpose(
    primitive: Primitive, derivatives: Sequence[Derivative | None], linear: tuple[tuple[int, ...], ...]
) -> None:
    allowed = {subset for group in linear for size in range(len(group) + 1) for subset in combinations(group, size)}

    @primitive.def_transpose
    def transpose(ct: Any, *args: Any, **params: Any) -> list[Any]:
        undefined = tuple([i for i, x in enumerate(args) if type(x) is UndefinedPrimal])
        if undefined not in allowed:
            raise NotLinearError(
                f"transpose of {primitive.name}: expected a function that is linear in what it is transposed by, "
                f"got {primitive.name}, which is not linear in its argument {' and '.join(map(str, undefined))}; "
                "make the others constants, or linearize first"
            )
        cotangents: list[Any] = [None] * len(args)
        for i in undefined:
            derivative = derivatives[i]
            assert derivative is not None, f"{primitive!r} has no derivative in argument {i}"
            aval = args[i].aval
            cotangents[i] = Zero(aval) if type(ct) is Zero else _summed_as(derivative(ct, None, *args, **params), aval)
        return cotangents


def _summed_as(cotangent: Any, aval: ShapedArray) -> Any:
    """Returns the cotangent of an operand, which for a scalar beside an array is the sum over all elements."""
    rank = get_aval(cotangent).ndim
    return ops.reduce_sum(cotangent, tuple(range(rank))) if rank > aval.ndim else cotangent


def _add(x: Any, y: Any) -> Any:
    return ops.add_p.bind(x, y)


#: Adds two tangents, neither of which is a symbolic zero.
tangent_sum_hook: Final[Hook[Callable[[Any, Any], Any]]] = Hook("sums of tangents", _add)


def add_tangents(x: Any, y: Any) -> Any:
    """Returns the sum of two tangents or cotangents of one type, either of which may be a symbolic zero.

    >>> add_tangents(2.0, Zero(get_aval(1.0)))
    2.0
    """
    if type(x) is Zero:
        return y
    return x if type(y) is Zero else tangent_sum_hook.use(x, y)
