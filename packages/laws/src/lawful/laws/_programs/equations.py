"""The forms of equations in generated programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lawful.core import Declaration, Interval, ShapedArray, primitives_by_name
from lawful.laws._law.values import inner_interval, integer_interval, is_within
from lawful.laws._programs.catalogue import bind_text, public_name
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import forms
from lawful.laws._programs.operands import squashed
from lawful.laws._programs.scope import Operand, ScopedChoose, Variable, of_kinds, static
from lawful.laws._programs.syntax import Static

if TYPE_CHECKING:
    from lawful.laws._programs.builder import Builder

_MOST_ELEMENTS = 64


def draw_equation(builder: Builder, choose: Chooser) -> None:
    """Adds an equation to a program; none if the drawn parts do not fit."""
    choose.one_of(_kinds(builder.settings.nesting))(builder, choose)


def _has_numpy_operators(variable: Variable) -> bool:
    """Whether Python operators of the variable's NumPy arrays promote by NEP 50; with ml_dtypes' dtypes they do not."""
    return variable.aval.dtype.kind in "biufc"


def _partner(
    builder: Builder,
    choose: Chooser,
    first: Variable,
    kinds: str,
    accept: Callable[[Variable], bool] = lambda variable: True,
) -> Operand:
    """Returns an operand that broadcasts with another one: a variable, or a number."""

    def fits(variable: Variable) -> bool:
        try:
            shape = np.broadcast_shapes(first.aval.shape, variable.aval.shape)
        except ValueError:
            return False
        # NumPy promotes int64 with uint64 to float, which has no bitwise operations.
        mixed = "f" not in kinds and {first.kind, variable.kind} == {"i", "u"}
        return accept(variable) and variable.kind in kinds and not mixed and math.prod(shape) <= _MOST_ELEMENTS

    candidates = builder.visible(fits)
    index = choose.integer(0, len(candidates))
    if index < len(candidates):
        return candidates[index].operand
    number = choose.one_of((2, 3) if first.kind in "iub" else (0.5, 2.0, -0.75))
    return static(Static(number))


def _elementwise(builder: Builder, choose: Chooser) -> None:
    """A function that promotes and broadcasts."""
    function = choose.one_of(builder.catalogue.functions)
    declaration = function.declaration
    # A function of floats also takes integers, which are promoted.
    kinds = declaration.kinds + ("iu" if declaration.kinds in ("f", "fc") and function.arity == 1 else "")
    candidates = builder.visible(of_kinds(kinds))
    if not candidates:
        return
    first = candidates[choose.integer(0, len(candidates) - 1)]
    operands = [first.operand]
    operands += [_partner(builder, choose, first, kinds) for _ in range(function.arity - 1)]
    _apply(builder, function.text, operands, declaration)


def draw_in_each_element(builder: Builder, choose: Chooser, aval: ShapedArray) -> None:
    """Adds an equation of real arrays whose result, in each element, depends on that element only.

    Args:
      builder: the program.
      choose: draws.
      aval: the type of the variables of the innermost function, of which one is an operand.
    """
    function = choose.one_of([f for f in builder.catalogue.functions if f.arity <= 2 and _is_curve(f.declaration)])
    own = [v for v in reversed(builder.frame.variables) if v.aval == aval]
    first = choose.early(own)
    operands = [first.operand]

    def fits(variable: Variable) -> bool:
        shape = variable.aval.shape
        return variable.aval.dtype == aval.dtype and np.broadcast_shapes(shape, aval.shape) == aval.shape

    if function.arity == 2:
        operands.append(_partner(builder, choose, first, "f", fits))
        if choose.integer(0, 1):
            operands.reverse()
    _apply(builder, function.text, operands, function.declaration)


def _is_curve(declaration: Declaration) -> bool:
    return declaration.differentiable and "f" in declaration.kinds


def _apply(
    builder: Builder, function: str, operands: list[Operand], declaration: Declaration,
    domain: tuple[Interval, ...] | None = None,
) -> None:  # fmt: skip
    domain = domain or declaration.domain
    inside = [_in_domain(x, domain[min(i, len(domain) - 1)]) for i, x in enumerate(operands)]
    smooth = is_known_smooth(declaration, len(operands)) or (len(operands) == 1 and declaration.differentiable)
    builder.assign(function, inside, constant=not declaration.differentiable, smooth=smooth)


def is_known_smooth(declaration: Declaration, arity: int) -> bool:
    """Whether an op is smooth because it is linear in each argument.

    An op of one argument is smooth too: its kinks and jumps lie outside of its domain.
    """
    linear = {i for group in declaration.linear for i in group}
    return declaration.differentiable and linear >= set(range(arity))


def _in_domain(operand: Operand, interval: Interval) -> Operand:
    if isinstance(operand.expression, Static) and not is_within(operand.value, interval):
        low, high = inner_interval(interval)
        number = (
            integer_interval(interval, np.dtype(int))[1] if type(operand.value) is int else round(0.5 * (low + high), 2)
        )
        return static(Static(number))
    return squashed(operand, interval)


def _declared(builder: Builder, choose: Chooser) -> None:
    """A call as a primitive's declaration draws it, of the primitive itself or of its function."""
    primitive = choose.one_of(builder.catalogue.primitives)
    declaration = primitive.declaration
    assert declaration is not None
    scoped = ScopedChoose(choose, builder.visible())
    avals, params = declaration.sample(scoped)
    usual = builder.settings.dtypes
    if any(aval.dtype not in usual and aval.dtype.kind in "fc" for aval in avals):
        return
    operands = []
    for i, aval in enumerate(avals):
        interval = declaration.domain[min(i, len(declaration.domain) - 1)]
        operand = builder.operand(choose, aval, interval)
        if operand is None:
            return
        operands.append(operand)
    by_name = bool(choose.integer(0, 2)) or not builder.catalogue.bind
    public = public_name(primitive, len(operands), params) if by_name else None
    if public is None and not builder.catalogue.bind:
        return
    function, listed = public or (bind_text(primitive), False)
    builder.assign(
        function, operands, listed=listed, constant=not declaration.differentiable,
        smooth=is_known_smooth(declaration, len(operands)), **params,
    )  # fmt: skip


# Each operator with the primitive whose domain its operands have, and its dtype kinds.
_BINARY = (
    ("operator.add", "add", "iufc"),
    ("operator.mul", "mul", "iufc"),
    ("operator.sub", "sub", "iufc"),
    ("operator.truediv", "div", "fiu"),
    ("operator.pow", "pow", "f"),
    ("operator.lt", "lt", "fiub"),
    ("operator.ge", "ge", "fiub"),
    ("operator.eq", "eq", "fiub"),
    ("operator.and_", "and", "iub"),
    ("operator.or_", "or", "iub"),
    ("operator.xor", "xor", "iub"),
    ("operator.mod", "rem", "iuf"),
    ("operator.floordiv", "rem", "iuf"),
)


def _operator(builder: Builder, choose: Chooser) -> None:
    """A Python operator; weak operands give a weak result."""
    index = choose.integer(0, len(_BINARY) + 3)
    if index >= len(_BINARY):
        return _unary(builder, choose)
    function, name, kinds = _BINARY[index]
    if function in builder.catalogue.excluded:
        return None
    if "f" in kinds and "arithmetic of integers" in builder.catalogue.excluded:
        kinds = kinds.replace("i", "").replace("u", "")
    declaration = primitives_by_name[name].declaration
    candidates = builder.visible(lambda v: v.kind in kinds and _has_numpy_operators(v))
    if not candidates or declaration is None:
        return None
    first = candidates[choose.integer(0, len(candidates) - 1)]
    partner = _partner(builder, choose, first, kinds, _has_numpy_operators)
    if function == "operator.pow" and choose.integer(0, 2):
        exponent = choose.one_of((2, 3, -1, 0))
        partner = static(Static(exponent))
    operands = [first.operand, partner]
    if choose.integer(0, 3) == 3 and name in ("add", "sub", "mul"):
        operands.reverse()
    domain = (declaration.domain[0], Interval(-4.0, 4.0)) if function == "operator.pow" else None
    return _apply(builder, function, operands, declaration, domain)


def _unary(builder: Builder, choose: Chooser) -> None:
    function, name, kinds = choose.one_of(
        (("operator.neg", "neg", "iufc"), ("abs", "abs", "if"), ("operator.invert", "not", "iub"))
    )
    candidates = builder.visible(
        lambda v: v.kind in kinds and not (v.kind == "b" and v.aval.weak_type) and _has_numpy_operators(v)
    )
    declaration = primitives_by_name[name].declaration
    if candidates and declaration is not None:
        _apply(builder, function, [candidates[choose.integer(0, len(candidates) - 1)].operand], declaration)


def _indexing(builder: Builder, choose: Chooser) -> None:
    """Static integers and slices in brackets."""
    candidates = builder.visible(lambda v: v.aval.ndim > 0 and 0 not in v.aval.shape)
    if not candidates:
        return
    variable = candidates[choose.integer(0, len(candidates) - 1)]
    shape = variable.aval.shape
    from_the_end = choose.integer(0, 3) == 3
    items = [
        _index_item(builder, choose, size)
        for size in (shape[-1:] if from_the_end else shape[: choose.integer(1, len(shape))])
    ]
    if from_the_end:
        items.insert(0, Ellipsis)
    if choose.integer(0, 3) == 3:
        items.append(None)
    index = items[0] if len(items) == 1 else tuple(items)
    builder.assign("operator.getitem", [variable.operand, static(Static(index))])


def _index_item(builder: Builder, choose: Chooser, size: int) -> Any:
    form = choose.integer(0, 3)
    if form == 0:
        return choose.integer(0, size - 1)
    if form == 1:
        return -choose.integer(1, size)
    steps = (2,) if "reversed slices" in builder.catalogue.excluded else (2, -1)
    return slice(choose.integer(0, size - 1), None) if form == 2 else slice(None, None, choose.one_of(steps))


_METHODS: tuple[tuple[str, Callable[[Variable, Chooser], dict[str, Any]]], ...] = (
    (".sum", lambda v, choose: {"axis": _axis(v, choose), "keepdims": choose.one_of((False, True))}),
    (".mean", lambda v, choose: {"axis": _axis(v, choose)}),
    (".T ", lambda v, choose: {}),
    (".ravel", lambda v, choose: {}),
    (".max", lambda v, choose: {"axis": _axis(v, choose)}),
    (".prod", lambda v, choose: {"axis": _axis(v, choose)}),
)


def _axis(variable: Variable, choose: Chooser) -> int | None:
    ndim = variable.aval.ndim
    index = choose.integer(0, 2 * ndim)
    return None if index == 0 else index - 1 - ndim


def _method(builder: Builder, choose: Chooser) -> None:
    """A method or attribute of arrays."""
    function, draw = choose.one_of(_METHODS)
    if function in builder.catalogue.excluded:
        return
    candidates = builder.visible(
        lambda v: not v.aval.weak_type and v.kind in "fi" and v.aval.size > 0 and _has_numpy_operators(v)
    )
    if candidates:
        variable = candidates[choose.integer(0, len(candidates) - 1)]
        builder.assign(function, [variable.operand], smooth=function != ".max", **draw(variable, choose))


def _nested(builder: Builder, choose: Chooser) -> None:
    """A form with sub-programs."""
    if not builder.settings.forms or builder.frame.depth == builder.settings.max_depth:
        return
    # Third derivatives make the slowest programs.
    if builder.frame.depth == 0 or choose.integer(0, 1) == 0:
        forms[choose.one_of(builder.settings.forms)].draw(builder, choose)


_PLAIN: Final[tuple[Callable[[Builder, Chooser], None], ...]] = (
    *(_elementwise,) * 6,
    *(_declared,) * 5,
    *(_operator,) * 3,
    _indexing,
    _method,
)


@cache
def _kinds(nesting: int) -> tuple[Callable[[Builder, Chooser], None], ...]:
    """Returns the forms of equations, repeated by their frequency."""
    return (*_PLAIN, *(_nested,) * nesting)
