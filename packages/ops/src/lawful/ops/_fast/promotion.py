"""An elementwise primitive with the promotion and broadcasting of its operands, as one cached program.

A transformation replays the program at once. Conversions, broadcasting and the primitive one after the other would cost
the time of several operations.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np

from lawful import ops
from lawful.core import (
    Atom,
    ClosedJaxpr,
    DictCache,
    IntegerOverflowError,
    Jaxpr,
    JaxprEqn,
    Primitive,
    Trace,
    Tracer,
    Var,
    as_float,
    avals_of,
    current,
    get_aval,
    is_inexact,
    kind,
    python_scalar_types,
    register_dispatch_module,
)
from lawful.core._fast import IndexedJaxpr, cached_rule, calls, replay
from lawful.ops._elementwise.application import Application, application_hook
from lawful.ops._support.promotion import (
    COMPARISONS,
    Conversion,
    PromoteAs,
    Promotion,
    broadcast_arrays_to,
    broadcast_steps,
    convert,
    promotion_of_hook,
)

register_dispatch_module(__name__)

Shape = tuple[int, ...]

#: By function and types. A lookup is 5× faster than a computation.
_promotion_cache: Final[DictCache[tuple[Any, ...], Promotion]] = DictCache("promotions", 8192)
_promotions: Final = _promotion_cache.entries


def promotion_of(name: str, function: PromoteAs, args: Sequence[Any], operator: bool = False) -> Promotion:
    """Returns the conversions and broadcasting of arguments: the same object for arguments of the same types."""
    # The key of a Python scalar is its type, because it is converted where a weak tracer is not.
    types = [
        x.aval if isinstance(x, Tracer) else cls if (cls := type(x)) in python_scalar_types else get_aval(x)
        for x in args
    ]
    key: tuple[Any, ...] = (name, function, operator, *types)
    found = _promotions.get(key)
    if found is not None:
        return found
    promotion = promotion_of_hook.plain(name, function, args, operator)
    if _compares_by_value(function, args):
        # The types do not determine the conversions, so they are part of the key.
        key = (*key, promotion.conversions)
        found = _promotions.get(key)
        if found is not None:
            return found
    return _promotion_cache.insert(key, promotion)


def _compares_by_value(function: PromoteAs, args: Sequence[Any]) -> bool:
    """Returns whether a function compares a Python integer with an array of integers, whose dtype may not hold it."""
    if function not in COMPARISONS or int not in map(type, args):
        return False
    return any([kind(aval.dtype) in "iuV" and not aval.weak_type for aval in map(get_aval, args)])


def apply_promoted(
    primitive: Primitive, name: str, promote_as: PromoteAs, args: Sequence[Any], operator: bool = False
) -> Any:
    """Applies a primitive as `lawful.ops.apply_promoted` does."""
    application = Application(primitive, name, promote_as, operator)
    return _apply(application, (primitive, name, promote_as, operator), args)


def apply(self: Application, args: Sequence[Any]) -> Any:
    """Applies as `Application.apply` does; a cached rule is replayed with fewer calls between."""
    trace = current.trace
    call = calls.get(type(trace))
    try:
        return _apply(self, self, args) if call is None else call(trace, _plan, self, self, args)
    except IntegerOverflowError:
        return application_hook.plain(self, args)


def _apply(application: Application, key: Hashable, args: Sequence[Any]) -> Any:
    trace = current.trace
    call = calls.get(type(trace))
    if call is not None:
        return call(trace, _plan, key, application, args)
    program, operands = _planned(trace, application, args, numbers=True)
    if program is None:
        return operands
    if isinstance(program, Primitive):
        return trace.process_primitive(program, operands, {})
    return replay(trace, program, operands)[0]


def _plan(trace: Trace, application: Application, args: Sequence[Any]) -> tuple[Primitive | IndexedJaxpr | None, Any]:
    """Returns the primitive or program of a call and its operands, or None and the result if there is no program."""
    return _planned(trace, application, args, numbers=not trace.evaluates_constants)


def _planned(
    trace: Trace, application: Application, args: Sequence[Any], *, numbers: bool
) -> tuple[Primitive | IndexedJaxpr | None, Any]:
    primitive = application.primitive
    promotion = promotion_of(application.name, application.promote_as, args, application.operator)
    shape = promotion.array_shape
    operands, left = _converted(args, promotion.conversions, numbers=numbers)
    if shape is None and not left:
        return primitive, operands
    # The types follow from the promotion and from the set of operands that were converted at once.
    key = (_program, primitive, promotion, trace.axis_env, left)
    program = cached_rule(key, _program, primitive, operands, left, shape)
    if program is None:
        return None, _apply_steps(trace, primitive, operands, left, shape)
    return program, operands


def _apply_steps(
    trace: Trace, primitive: Primitive, operands: Sequence[Any], left: Sequence[Conversion], shape: Shape | None
) -> Any:
    """Applies the steps of the program one by one: for new types, or if the primitive raises an error."""
    operands = [*operands]
    for i, dtype, weak in left:
        operands[i] = convert(operands[i], dtype, weak)
    if shape is not None:
        operands = broadcast_arrays_to(operands, shape)
    return trace.process_primitive(primitive, operands, {})


def _converted(
    args: Sequence[Any], conversions: tuple[Conversion, ...], *, numbers: bool
) -> tuple[Sequence[Any], tuple[Conversion, ...]]:
    """Converts constant operands at once.

    Args:
      args: the operands.
      conversions: the conversions of the promotion.
      numbers: whether Python numbers are converted too, as in a program that is recorded. Otherwise the program
        converts them, and serves for every number.

    Returns:
      The operands, and the conversions that are left to do.
    """
    if not conversions:
        return args, ()
    operands, left = [*args], list[Conversion]()
    for conversion in conversions:
        i, dtype, weak = conversion
        x = args[i]
        if isinstance(x, Tracer):
            left.append(conversion)
        elif not numbers and is_inexact(dtype) and (number := as_float(x)) is not None:
            operands[i] = number
            if not (weak and dtype == np.float64):  # the type of a float
                left.append(conversion)
        else:
            operands[i] = convert(x, dtype, weak)
    return operands, tuple(left)


def _program(
    primitive: Primitive, args: Sequence[Any], conversions: Sequence[Conversion], shape: Shape | None
) -> IndexedJaxpr:
    avals = avals_of(args)
    eqns: list[JaxprEqn] = []

    def apply(primitive: Primitive, operands: list[Atom], params: dict[str, Any]) -> Var:
        out = Var(primitive.rule("abstract_eval")(*[x.aval for x in operands], **params))
        eqns.append(JaxprEqn(primitive, operands, [out], params))
        return out

    invars = [Var(aval) for aval in avals]
    operands: list[Atom] = [*invars]
    for i, dtype, weak in conversions:
        operands[i] = apply(ops.convert_element_type_p, [operands[i]], {"new_dtype": dtype, "weak_type": weak})
    if shape is not None:
        for i, aval in enumerate(avals):
            for step, params in broadcast_steps(aval.shape, shape) if aval.shape else ():
                operands[i] = apply(step, [operands[i]], params)
    result = apply(primitive, operands, {})
    return IndexedJaxpr(ClosedJaxpr(Jaxpr([], invars, eqns, [result]), []))
