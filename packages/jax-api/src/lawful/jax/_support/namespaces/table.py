"""The table of JAX's public names: their parameters, and why one is absent.

The files of ``lawful/jax/_names`` have a section for each module of JAX and a line for each of its names:
``name(parameters)``, followed by ``| reason`` if `lawful.jax` does not have it. ``tests/jax_api`` compares the table
with the installed JAX.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from importlib import resources

from lawful.tree.base import record

#: The families of modules that have a file of their own; all others are in ``jax.txt``.
_FAMILIES = ("lax", "numpy", "nn", "random", "scipy")


@record
class Name:
    """A line of the table."""

    name: str
    parameters: str
    reason: str

    @property
    def signature(self) -> inspect.Signature | None:
        """JAX's signature; None for what is no function. A default that is not a literal is an ellipsis."""
        return _signature(self.parameters) if self.parameters else None


def _signature(parameters: str) -> inspect.Signature:
    [function] = ast.parse(f"def f{parameters}: pass").body
    assert isinstance(function, ast.FunctionDef)
    arguments, kind = function.args, inspect.Parameter
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    found = []
    for i, (argument, default) in enumerate(zip(positional, defaults + list(arguments.defaults), strict=True)):
        positional_only = i < len(arguments.posonlyargs)
        what = kind.POSITIONAL_ONLY if positional_only else kind.POSITIONAL_OR_KEYWORD
        found.append(kind(argument.arg, what, default=_value(default)))
    if arguments.vararg:
        found.append(kind(arguments.vararg.arg, kind.VAR_POSITIONAL))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(kind(argument.arg, kind.KEYWORD_ONLY, default=_value(default)))
    if arguments.kwarg:
        found.append(kind(arguments.kwarg.arg, kind.VAR_KEYWORD))
    return inspect.Signature(found)


def _value(default: ast.expr | None) -> object:
    return inspect.Parameter.empty if default is None else ast.literal_eval(default)


@cache
def _family(name: str) -> dict[str, dict[str, Name]]:
    modules: dict[str, dict[str, Name]] = {}
    for line in resources.files("lawful.jax").joinpath("_names", f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            rows = modules[line.strip("[]")] = {}
        elif line:
            entry, _, reason = line.partition(" | ")
            called, parenthesis, rest = entry.partition("(")
            rows[called] = Name(called, parenthesis + rest, reason)
    return modules


def names_of(module: str) -> dict[str, Name]:
    """Returns the names of a module of JAX, such as ``"jax.numpy"``."""
    parts = module.split(".")
    return _family(parts[1] if len(parts) > 1 and parts[1] in _FAMILIES else "jax").get(module, {})


def modules() -> list[str]:
    """Returns the modules of JAX that the table has."""
    return [module for family in ("jax", *_FAMILIES) for module in _family(family)]
