"""``jvp``, ``grad``, ``value_and_grad``, ``linearize`` and ``vjp`` as forms: derivatives within programs.

The values of their results come from lawful. A rule under test may be wrong: if it raises an error, values of the right
types take the place of the results, and the program is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import autodiff, tree
from lawful.core import Interval, ShapedArray
from lawful.laws._forms.loop_bodies import transpose_results
from lawful.laws._forms.operands import draw_operands, draw_results, expressions
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.interpreter import function_of
from lawful.laws._programs.scope import Operand, Variable, by_element
from lawful.laws._programs.syntax import Block, Name, one_or_all
from lawful.laws.systems import lawful

Derivative = Callable[..., Any]


def _is_floating(variable: Variable) -> bool:
    return variable.kind in "fc"


def _is_real(variable: Variable) -> bool:
    return variable.kind == "f"


def _functions(builder: Builder, block: Block) -> list[Callable[..., Any]]:
    """Returns a sub-program for each batch element, as a function closed over the variables around it."""
    visible = [(v.expression.text, v.values) for v in builder.visible() if isinstance(v.expression, Name)]
    names = [name for name, _ in visible]
    elements = by_element([(None,) * builder.frame.elements, *[values for _, values in visible]])
    return [
        function_of(block, builder.inputs | dict(zip(names, element[1:], strict=True)), lawful) for element in elements
    ]


def _evaluated(
    builder: Builder, block: Block, derivative: Derivative, operands: tuple[Any, ...], types: Sequence[Any]
) -> Any:
    """Returns the results of a derivative: a tree of tuples, each leaf a list over batch elements.

    Args:
      builder: the program.
      block: the function that is differentiated.
      derivative: takes the function and the operands.
      operands: a tree of tuples of variables.
      types: values that have the types of the results, in a tree like theirs, for each element.
    """
    leaves, treedef = tree.flatten(operands)
    elements = by_element([(None,) * builder.frame.elements, *[leaf.values for leaf in leaves]])
    results = []
    for function, (_, *values), stand_in in zip(_functions(builder, block), elements, types, strict=True):
        try:
            results.append(derivative(function, *tree.unflatten(treedef, values)))
        except Exception:  # the program raises it again when a law calls it
            results.append(stand_in)
    return transpose_results(results)


def _element_results(results: Sequence[Any], elements: int) -> list[Any]:
    """Returns the results of a sub-program for each batch element."""
    return [one_or_all(list(values)) for _, *values in by_element([(None,) * elements, *results])]


def _directions(builder: Builder, choose: Chooser, avals: Sequence[ShapedArray]) -> list[Operand] | None:
    """Returns tangents or cotangents of the given types."""
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
    types = [(out, out) if primal else out for out in _element_results(values, builder.frame.elements)]
    results = _evaluated(builder, block, derivative, (tuple(primals), tuple(tangents)), types)
    builder.nest(name, [block], (expressions(primals), expressions(tangents)), results)


@form("jvp", "jvp({0}, {operands})", needs=("jvp", "higher order"))
def draw_jvp(builder: Builder, choose: Chooser) -> None:
    """The results of a sub-program and their tangents."""
    _forward(builder, choose, "jvp", autodiff.jvp, primal=True)


def _gradient(builder: Builder, choose: Chooser, name: str, derivative: Derivative, *, primal: bool) -> None:
    """Adds the gradient of a sub-program with one real result, by some of its arguments."""
    operands = draw_operands(builder, choose, 1)
    candidates = [i for i, v in enumerate(operands) if _is_real(v)]
    if not candidates:
        return
    drawn = builder.block(choose, [v.values for v in operands], lambda: _real_number(builder, choose))
    if drawn is None:
        return
    block, values = drawn
    choice = choose.integer(0, len(candidates))
    argnums = candidates[choice] if choice < len(candidates) else tuple(candidates)
    chosen = [operands[i].values for i in ((argnums,) if isinstance(argnums, int) else argnums)]
    gradients = by_element([(None,) * builder.frame.elements, *chosen])
    types: list[Any] = [element[1] if isinstance(argnums, int) else element[1:] for element in gradients]
    if primal:
        types = list(zip(_element_results(values, builder.frame.elements), types, strict=True))
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
    cotangents = _directions(builder, choose, [Variable(Name(""), elements).aval for elements in values])
    if cotangents is None:
        return
    elements = by_element([(None,) * builder.frame.elements, *[v.values for v in primals]])
    operands = (tuple(primals), (one_or_all(cotangents),))
    results = _evaluated(builder, block, _pulled, operands, [element[1:] for element in elements])
    given: Any = one_or_all(list(expressions(cotangents)))
    builder.nest("vjp", [block], (expressions(primals), (given,)), results)


@form("value_and_grad", "value_and_grad({0}, {argnums})({operands})", needs=("grad", "higher order"))
def draw_value_and_grad(builder: Builder, choose: Chooser) -> None:
    """The value of a sub-program and its gradient."""
    _gradient(builder, choose, "value_and_grad", autodiff.value_and_grad, primal=True)
