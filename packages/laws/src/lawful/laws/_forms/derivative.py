"""``jvp``, ``grad``, ``value_and_grad``, ``linearize`` and ``vjp`` as forms: derivatives within programs.

The values of their results are lawful's own. What they are computed with may be what a law shall find a fault with:
where it raises an error, the results are taken to be the values that have their types, and the program is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import autodiff, tree
from lawful.core import Interval, ShapedArray
from lawful.laws._forms.operands import draw_operands, draw_results, expressions
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.interpreter import function_of
from lawful.laws._programs.scope import Operand, Variable, by_lane
from lawful.laws._programs.syntax import Block, Name, one_or_all
from lawful.laws.systems import lawful

Derivative = Callable[..., Any]


def _is_floating(variable: Variable) -> bool:
    return variable.kind in "fc"


def _is_real(variable: Variable) -> bool:
    return variable.kind == "f"


def _functions(builder: Builder, block: Block) -> list[Callable[..., Any]]:
    """Returns a sub-program in each lane, as a function that closes over the values of the variables around it."""
    visible = [(v.expression.text, v.values) for v in builder.visible() if isinstance(v.expression, Name)]
    names = [name for name, _ in visible]
    lanes = by_lane([(None,) * builder.frame.lanes, *[values for _, values in visible]])
    return [function_of(block, builder.inputs | dict(zip(names, lane[1:], strict=True)), lawful) for lane in lanes]


def _evaluated(
    builder: Builder, block: Block, derivative: Derivative, operands: tuple[Any, ...], types: Sequence[Any]
) -> Any:
    """Returns the results of a derivative: a tree of tuples, each with a list of its lanes.

    Args:
      builder: the program.
      block: the function that is differentiated.
      derivative: takes the function and the operands.
      operands: a tree of tuples of variables.
      types: values that have the types of the results, in a tree like theirs, for each lane.
    """
    leaves, treedef = tree.flatten(operands)
    lanes = by_lane([(None,) * builder.frame.lanes, *[leaf.values for leaf in leaves]])
    results = []
    for function, (_, *values), stand_in in zip(_functions(builder, block), lanes, types, strict=True):
        try:
            results.append(derivative(function, *tree.unflatten(treedef, values)))
        except Exception:  # which the program then raises again, where a law calls it
            results.append(stand_in)
    return _in_lanes(results)


def _in_lanes(results: Sequence[Any]) -> Any:
    if isinstance(results[0], tuple):
        return tuple([_in_lanes(parts) for parts in zip(*results, strict=True)])
    return list(results)


def _lane_of(results: Sequence[Any], lanes: int) -> list[Any]:
    """Returns the results of a sub-program in each lane."""
    return [one_or_all(list(values)) for _, *values in by_lane([(None,) * lanes, *results])]


def _directions(builder: Builder, choose: Chooser, avals: Sequence[ShapedArray]) -> list[Operand] | None:
    """Returns tangents or cotangents of types."""
    drawn = [builder.operand(choose, ShapedArray(aval.shape, aval.dtype), Interval()) for aval in avals]
    found = [operand for operand in drawn if operand is not None]
    return found if len(found) == len(drawn) else None


def _forward(builder: Builder, choose: Chooser, name: str, derivative: Derivative, *, primal: bool) -> None:
    """Adds the derivative of a sub-program along a direction.

    Args:
      builder: the program.
      choose: draws.
      name: the form.
      derivative: of a function, primals and tangents.
      primal: whether it gives the results too.
    """
    primals = draw_operands(builder, choose, 1, _is_floating)
    tangents = _directions(builder, choose, [v.aval for v in primals]) if primals else None
    if not tangents:
        return
    drawn = builder.block(choose, [v.values for v in primals], lambda: draw_results(builder, choose, _is_floating))
    if drawn is None:
        return
    block, values = drawn
    types = [(out, out) if primal else out for out in _lane_of(values, builder.frame.lanes)]
    results = _evaluated(builder, block, derivative, (tuple(primals), tuple(tangents)), types)
    builder.nest(name, [block], (expressions(primals), expressions(tangents)), results)


@form("jvp", "jvp({0}, {operands})", needs=("jvp", "higher order"))
def draw_jvp(builder: Builder, choose: Chooser) -> None:
    """The results of a sub-program and their tangents."""
    _forward(builder, choose, "jvp", autodiff.jvp, primal=True)


def _gradient(builder: Builder, choose: Chooser, name: str, derivative: Derivative, *, primal: bool) -> None:
    """Adds the gradient of a sub-program with one real result, by some of its arguments."""
    operands = draw_operands(builder, choose, 1)
    places = [i for i, v in enumerate(operands) if _is_real(v)]
    if not places:
        return
    drawn = builder.block(choose, [v.values for v in operands], lambda: _real_number(builder, choose))
    if drawn is None:
        return
    block, values = drawn
    place = choose.integer(0, len(places))
    argnums = places[place] if place < len(places) else tuple(places)
    chosen = [operands[i].values for i in ((argnums,) if isinstance(argnums, int) else argnums)]
    gradients = by_lane([(None,) * builder.frame.lanes, *chosen])
    types: list[Any] = [lane[1] if isinstance(argnums, int) else lane[1:] for lane in gradients]
    if primal:
        types = list(zip(_lane_of(values, builder.frame.lanes), types, strict=True))
    results = _evaluated(builder, block, lambda f, *xs: derivative(f, argnums)(*xs), tuple(operands), types)
    builder.nest(name, [block], expressions(operands), results, (("argnums", argnums),))


def _real_number(builder: Builder, choose: Chooser) -> list[Operand] | None:
    """Returns a real scalar to differentiate: a sum."""
    drawn = draw_results(builder, choose, _is_real, most=1)
    if drawn is None:
        return None
    (operand,) = drawn
    ndim = np.ndim(operand.value)
    return [operand.wrapped("ops.reduce_sum", axes=tuple(range(ndim)))] if ndim else [operand]


@form("grad", "grad({0}, {argnums})({operands})", needs=("grad", "higher order"))
def draw_grad(builder: Builder, choose: Chooser) -> None:
    """The gradient of a sub-program."""
    _gradient(builder, choose, "grad", autodiff.grad, primal=False)


def _linearized(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return autodiff.linearize(function, *primals)[1](*tangents)


@form("linearize", "linearize({0}, {group0})[1]({group1})", needs=("linearize", "higher order"))
def draw_linearize(builder: Builder, choose: Chooser) -> None:
    """The derivative of a sub-program, by linearization."""
    _forward(builder, choose, "linearize", _linearized, primal=False)


def _pulled(function: Callable[..., Any], primals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
    return autodiff.vjp(function, *primals)[1](*cotangents)


@form("vjp", "vjp({0}, {group0})[1]({group1})", needs=("vjp", "higher order"))
def draw_vjp(builder: Builder, choose: Chooser) -> None:
    """The cotangents of a sub-program's arguments."""
    primals = draw_operands(builder, choose, 1, _is_floating)
    if not primals:
        return
    drawn = builder.block(choose, [v.values for v in primals], lambda: draw_results(builder, choose, _is_floating))
    if drawn is None:
        return
    block, values = drawn
    cotangents = _directions(builder, choose, [Variable(Name(""), lanes).aval for lanes in values])
    if cotangents is None:
        return
    lanes = by_lane([(None,) * builder.frame.lanes, *[v.values for v in primals]])
    operands = (tuple(primals), (one_or_all(cotangents),))
    results = _evaluated(builder, block, _pulled, operands, [lane[1:] for lane in lanes])
    given: Any = one_or_all(list(expressions(cotangents)))
    builder.nest("vjp", [block], (expressions(primals), (given,)), results)


@form("value_and_grad", "value_and_grad({0}, {argnums})({operands})", needs=("grad", "higher order"))
def draw_value_and_grad(builder: Builder, choose: Chooser) -> None:
    """The value of a sub-program and its gradient."""
    _gradient(builder, choose, "value_and_grad", autodiff.value_and_grad, primal=True)
