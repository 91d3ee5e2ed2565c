"""Programs as Python text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from lawful.laws._law.implementation import Implementation
from lawful.laws._law.values import expression
from lawful.laws._programs.form import forms
from lawful.laws._programs.syntax import Apply, Assign, Block, Equation, Expression, Name, Nest, Static

if TYPE_CHECKING:
    from lawful.laws._programs.program import Program

_INFIX: Final = {
    "operator.add": "+",
    "operator.sub": "-",
    "operator.mul": "*",
    "operator.truediv": "/",
    "operator.floordiv": "//",
    "operator.mod": "%",
    "operator.pow": "**",
    "operator.matmul": "@",
    "operator.lt": "<",
    "operator.ge": ">=",
    "operator.eq": "==",
    "operator.and_": "&",
    "operator.or_": "|",
    "operator.xor": "^",
}
_PREFIX: Final = {"operator.neg": "-", "operator.invert": "~"}


def text_of(value: Expression | tuple[Expression, ...], *, inner: bool = False) -> str:
    """Returns an expression as Python; in parentheses if it is an operator inside another one."""
    match value:
        case tuple():
            return f"[{', '.join(map(text_of, value))}]"
        case Name(text):
            return text
        case Static(constant):
            text = expression(constant)
            return f"({text})" if inner and text.startswith("-") else text
        case Apply(function, operands, params):
            text = _call(function, operands, params)
            return f"({text})" if inner and (function in _INFIX or function in _PREFIX) else text


def _call(function: str, operands: tuple[Any, ...], params: tuple[tuple[str, Any], ...]) -> str:
    if function in _INFIX:
        left, right = operands
        return f"{text_of(left, inner=True)} {_INFIX[function]} {text_of(right, inner=True)}"
    if function in _PREFIX:
        return f"{_PREFIX[function]}{text_of(operands[0], inner=True)}"
    if function == "operator.getitem":
        index = operands[1].value
        items = index if isinstance(index, tuple) else (index,)
        return f"{text_of(operands[0], inner=True)}[{', '.join(map(_index, items))}]"
    args = [text_of(operand) for operand in operands]
    if function.startswith("."):
        receiver = text_of(operands[0], inner=True)
        if function.endswith(" "):
            return f"{receiver}{function.strip()}"
        function, args = f"{receiver}{function}", args[1:]
    args += [f"{name}={expression(param)}" for name, param in params]
    return f"{function}({', '.join(args)})"


def _index(item: Any) -> str:
    if not isinstance(item, slice):
        return expression(item)
    ends = [("" if end is None else repr(end)) for end in (item.start, item.stop)]
    return ":".join(ends) + ("" if item.step is None else f":{item.step}")


def _block(block: Block) -> list[str]:
    lines = [f"def {block.name}({', '.join(block.parameters)}):"]
    for equation in block.equations:
        lines += [f"    {line}" if line else "" for line in _equation(equation)]
    return [*lines, f"    return {_tree(block.results)}"]


def _equation(equation: Equation) -> Iterator[str]:
    match equation:
        case Assign(target, value):
            yield f"{target} = {text_of(value)}"
        case Nest(targets, form, blocks, operands, settings):
            for block in blocks:
                yield ""
                yield from _block(block)
            yield ""
            yield f"{_targets(targets)} = {_call_of_form(form, blocks, operands, settings)}"


def _call_of_form(form: str, blocks: tuple[Block, ...], operands: tuple[Any, ...], settings: Any) -> str:
    names = [block.name for block in blocks]
    groups = {f"group{i}": _listed(group) for i, group in enumerate(operands) if isinstance(group, tuple)}
    named = {name: _operand(value) if _is_expression(value) else expression(value) for name, value in settings}
    call = forms[form].call.format(*names, blocks=", ".join(names), operands=_listed(operands), **groups, **named)
    return call.replace(", )", ")")


def _is_expression(value: Any) -> bool:
    return isinstance(value, Name | Static | Apply)


def _operand(value: Any) -> str:
    """Returns an operand of a form: an expression, or a tuple of operands."""
    if isinstance(value, tuple):
        return f"({_listed(value)},)" if len(value) == 1 else f"({_listed(value)})"
    return text_of(value)


def _listed(values: tuple[Any, ...]) -> str:
    return ", ".join(map(_operand, values))


def _targets(targets: Any) -> str:
    if isinstance(targets, tuple) and len(targets) > 1:
        return ", ".join(map(_tree, targets))
    return _tree(targets)


def _tree(results: Any) -> str:
    if isinstance(results, str):
        return results
    if isinstance(results, dict):
        return f"{{{', '.join(f'{key!r}: {_tree(item)}' for key, item in results.items())}}}"
    items = ", ".join(map(_tree, results))
    if isinstance(results, list):
        return f"[{items}]"
    return f"({items},)" if len(results) == 1 else f"({items})"


def definition_of(block: Block) -> str:
    """Returns the text of a function."""
    return "\n".join(_block(block)) + "\n"


def definition(program: Program) -> str:
    """Returns the text of a program's function, without imports and constants."""
    return definition_of(program.block)


def source(program: Program, system: Implementation) -> str:
    """Returns Python that defines a program and calls it with its example."""
    body = definition(program)
    given = [*program.constants, *zip(program.block.parameters, program.args, strict=True)]
    converted = "array({})" if "array" in system.scope else "{}"
    names = [f"{name} = {converted.format(expression(value))}" for name, value in given]
    call = f"result = {program.block.name}({', '.join(program.block.parameters)})"
    text = "\n".join([*names, ""]) + f"\n\n{body}\n\n{call}\n"
    imports = [line for name, line in system.imports.items() if re.search(rf"\b{name}[.(]", text)]
    if "Pair(" in text:
        imports.append("from lawful.laws import Pair")
    return "\n".join([*imports, "", text])
