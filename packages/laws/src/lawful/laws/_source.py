"""Programs as Python text, which is also what runs when they are called."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from lawful import tree
from lawful.laws._implementation import Implementation
from lawful.laws._program import Apply, Assign, Block, Equation, Expression, Name, Nest, Program, Static
from lawful.laws._values import expression
from lawful.laws.systems import lawful

#: How each kind of sub-program is called.
forms: Final[dict[str, str]] = {
    "jit": "jit({0}, backend={backend})({operands})",
    "cond": "cond({predicate}, {0}, {1}, {operands})",
}

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


@cache
def resolve(function: str) -> Callable[..., Any]:
    """Returns the function that an ``Apply`` names."""
    if function.startswith("."):
        name = function[1:].strip()
        if function.endswith(" "):
            return lambda x: getattr(x, name)
        return lambda x, *args, **params: getattr(x, name)(*args, **params)
    found: Callable[..., Any] = eval(function, {**lawful.scope, "operator": operator})
    return found


def text_of(value: Expression | tuple[Expression, ...], *, inner: bool = False) -> str:
    """Returns an expression as Python; in parentheses where it is an operand of an operator and has one itself."""
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
            call = forms[form].format(
                *[block.name for block in blocks],
                operands=", ".join(map(text_of, operands)),
                **{name: text_of(value) if isinstance(value, Name) else expression(value) for name, value in settings},
            )
            yield f"{', '.join(targets)} = {call.replace(', )', ')')}"


def _tree(results: Any) -> str:
    if isinstance(results, str):
        return results
    if isinstance(results, dict):
        return f"{{{', '.join(f'{key!r}: {_tree(item)}' for key, item in results.items())}}}"
    items = ", ".join(map(_tree, results))
    if isinstance(results, list):
        return f"[{items}]"
    return f"({items},)" if len(results) == 1 else f"({items})"


def definition(program: Program) -> str:
    """Returns the text of a program's function, without imports and constants."""
    return "\n".join(_block(program.block)) + "\n"


def source(program: Program, system: Implementation) -> str:
    """Returns Python that defines a program and calls it with its example."""
    body = definition(program)
    names = [f"{name} = {expression(value)}" for name, value in program.constants]
    names += [
        f"{name} = {expression(value)}" for name, value in zip(program.block.parameters, program.args, strict=True)
    ]
    call = f"result = {program.block.name}({', '.join(program.block.parameters)})"
    text = "\n".join([*names, ""]) + f"\n\n{body}\n\n{call}\n"
    imports = [line for name, line in system.imports.items() if f"{name}." in text or f"{name}(" in text]
    return "\n".join([*imports, "", text])


def compiled(program: Program, system: Implementation) -> Callable[..., Any]:
    """Returns the function that a program's text defines, of a system's arrays."""
    scope: dict[str, Any] = {**system.scope, "__name__": "program"}
    scope |= {name: system.array(value) for name, value in program.constants}
    exec(compile(definition(program), "<program>", "exec"), scope)
    function: Callable[..., Any] = scope[program.block.name]
    if system is lawful:
        return function

    def converted(*args: Any) -> Any:
        return function(*tree.map(system.array, args))

    return converted
