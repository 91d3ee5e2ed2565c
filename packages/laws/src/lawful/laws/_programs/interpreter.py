"""Programs as functions: an interpreter of their equations, with the meaning of their Python text.

Laws run a program some dozens of times, and compiling its text takes longer than that.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

from lawful import tree
from lawful.core import at_source, cached_function, user_source
from lawful.laws._law.implementation import Implementation
from lawful.laws._programs.form import forms
from lawful.laws._programs.syntax import Apply, Assign, Block, Name, Nest, Static
from lawful.laws.systems import lawful

if TYPE_CHECKING:
    from lawful.laws._programs.program import Program

Function = Callable[..., Any]


@cached_function("functions of laws", 4096)
def resolve(function: str, system: Implementation) -> Function:
    """Returns the function that an ``Apply`` names, in a system."""
    if function.startswith("."):
        name = function[1:].strip()
        if function.endswith(" "):
            return operator.attrgetter(name)
        return lambda x, *args, **params: getattr(x, name)(*args, **params)
    found: Function = eval(function, {**system.scope, "operator": operator})
    return found


@cached_function("forms of laws", 4096)
def _caller(form: str, system: Implementation) -> Function:
    """Returns a form's call as a function of the sub-programs, the operands and the settings."""
    call = re.sub(
        r"\{(\w+)\}",
        lambda found: (
            f"blocks[{found[1]}]" if found[1].isdigit()
            else f"*{found[1]}" if found[1] in ("blocks", "operands")
            else f"*operands[{found[1].removeprefix('group')}]" if found[1].startswith("group")
            else f"settings[{found[1]!r}]"
        ),
        forms[form].call,
    )  # fmt: skip
    caller: Function = eval(f"lambda blocks, operands, settings: {call}", dict(system.scope))
    return caller


def value_of(expression: Any, scope: Mapping[str, Any], system: Implementation) -> Any:
    """Returns the value of an expression.

    Args:
      expression: an expression, or a tuple of them, which is a list.
      scope: the values of the variables.
      system: whose functions are called.
    """
    kind = type(expression)
    if kind is Name:
        return scope[expression.text]
    if kind is Static:
        return expression.value
    if kind is Apply:
        values = [
            scope[operand.text] if type(operand) is Name else value_of(operand, scope, system)
            for operand in expression.operands
        ]
        function = resolve(expression.function, system)
        return function(*values, **dict(expression.params)) if expression.params else function(*values)
    assert kind is tuple, expression
    return [value_of(operand, scope, system) for operand in expression]


def _operand(operand: Any, scope: Mapping[str, Any], system: Implementation) -> Any:
    """Returns an operand of a form: an expression, or a tuple of operands."""
    if isinstance(operand, tuple):
        return tuple([_operand(part, scope, system) for part in operand])
    return value_of(operand, scope, system)


def _run_nest(nest: Nest, scope: dict[str, Any], system: Implementation) -> Any:
    settings = {
        name: value_of(value, scope, system) if isinstance(value, Name | Apply | Static) else value
        for name, value in nest.settings
    }
    blocks = [function_of(block, dict(scope), system) for block in nest.blocks]
    return _caller(nest.form, system)(blocks, _operand(nest.operands, scope, system), settings)


def _bind(targets: Any, value: Any, scope: dict[str, Any]) -> None:
    if isinstance(targets, tuple):
        for target, part in zip(targets, value, strict=True):
            _bind(target, part, scope)
    else:
        scope[targets] = value


def function_of(block: Block, around: Mapping[str, Any], system: Implementation) -> Function:
    """Returns a block as a Python function.

    Args:
      block: the block.
      around: the variables that it closes over.
      system: whose functions are called.
    """

    def function(*args: Any) -> Any:
        scope = dict(around)
        scope.update(zip(block.parameters, args, strict=True))
        for equation in block.equations:
            if type(equation) is Assign:
                scope[equation.target] = value_of(equation.value, scope, system)
            else:
                assert type(equation) is Nest
                _bind(equation.targets, _run_nest(equation, scope, system), scope)
        return _results(block.results, scope)

    function.__name__ = function.__qualname__ = block.name
    return function


def _results(results: Any, scope: Mapping[str, Any]) -> Any:
    if isinstance(results, str):
        return scope[results]
    if isinstance(results, dict):
        return {key: _results(part, scope) for key, part in results.items()}
    return type(results)([_results(part, scope) for part in results])


def at_one_line(function: Function) -> Function:
    """Makes a program look up the user's line once instead of for each operation: all operations have the same line."""

    @wraps(function)
    def called(*args: Any) -> Any:
        with at_source(user_source()):
            return function(*args)

    return called


def interpreted(program: Program, system: Implementation) -> Function:
    """Returns a program as a function of a system's arrays."""
    around = {name: system.array(value) for name, value in program.constants}
    function = function_of(program.block, around, system)
    if system is lawful:
        return at_one_line(function)
    return lambda *args: function(*tree.map(system.array, args))
