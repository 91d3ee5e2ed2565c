"""The functions that generated programs call, from the primitives' declarations: a declared op is included."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lawful import ops
from lawful.core import Declaration, Primitive, cached_function, primitives_by_name
from lawful.laws._law.implementation import Implementation
from lawful.ops import Elementwise


@dataclass(frozen=True, slots=True)
class Function:
    """An elementwise function, which promotes and broadcasts: its name, and the declaration of its primitive."""

    text: str
    arity: int
    declaration: Declaration


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The functions from which equations are drawn.

    Attributes:
      functions: the elementwise functions, the simplest first.
      primitives: the declared primitives, the simplest first.
      bind: whether a primitive is also called by ``bind``, not only by the function of its name.
      excluded: what else is not drawn, of ``Implementation.excluded``.
    """

    functions: tuple[Function, ...]
    primitives: tuple[Primitive, ...]
    bind: bool = True
    excluded: frozenset[str] = frozenset()


def declared_primitives() -> tuple[Primitive, ...]:
    """Returns every registered primitive that has a declaration, by name.

    >>> {"dot_general", "sin"} <= {primitive.name for primitive in declared_primitives()}
    True
    """
    return tuple(p for _, p in sorted(primitives_by_name.items()) if p.declaration is not None)


def _simplicity(primitive: Primitive) -> tuple[bool, bool, str]:
    assert primitive.declaration is not None
    return not primitive.declaration.differentiable, not primitive.declaration.linear, primitive.name


@cache
def our_catalogue() -> Catalogue:
    """Returns the catalogue of lawful's packages."""
    ours = [
        p
        for p in declared_primitives()
        if p.declaration is not None
        and p.declaration.prepare is None  # variables of a program do not lie in such a domain
        and (p.declaration.sample.__module__ or "").startswith("lawful.")
    ]
    return catalogue_of(ours)


def catalogue_of(primitives: Sequence[Primitive]) -> Catalogue:
    """Returns the catalogue of some primitives, and of the elementwise functions over them.

    >>> [function.text for function in catalogue_of([ops.sin_p, ops.mul_p]).functions]
    ['ops.mul', 'ops.sin']
    """
    ordered = tuple(sorted(primitives, key=_simplicity))
    functions = {
        op.primitive: (name, op)
        for name, op in ((name, getattr(ops, name)) for name in ops.__all__)  # type: ignore[attr-defined]  # made when asked for
        if isinstance(op, Elementwise)
    }
    return Catalogue(
        tuple(
            Function(f"ops.{functions[p][0]}", functions[p][1].arity, p.declaration)
            for p in ordered
            if p in functions and p.declaration is not None
        ),
        ordered,
    )


_OF_COMPLEX_NUMBERS = frozenset({"complex", "conj", "imag", "real"})


def catalogue_for(*systems: Implementation) -> Catalogue:
    """Returns what of our catalogue all systems have: the functions in their ``ops``, and nothing that one excludes.

    A primitive is called by its function only, unless lawful is the only system.

    >>> from lawful.laws.systems import lawful
    >>> "ops.sin" in [function.text for function in catalogue_for(lawful).functions]
    True
    """
    ours = our_catalogue()
    others = [system for system in systems if system.ops is not ops]
    if not others:
        return ours

    def is_in(system: Implementation, text: str) -> bool:
        name = text.removeprefix("ops.")
        is_possible = name not in _OF_COMPLEX_NUMBERS or "complex" not in system.absent
        return is_possible and text not in system.excluded and hasattr(system.ops, name)

    def has(text: str) -> bool:
        return all([is_in(system, text) for system in others])

    return Catalogue(
        tuple([function for function in ours.functions if has(function.text)]),
        tuple([primitive for primitive in ours.primitives if has(f"ops.{primitive.name}")]),
        bind=False,
        excluded=frozenset().union(*[system.excluded for system in others]),
    )


def bind_text(primitive: Primitive) -> str:
    """Returns the Python expression of a primitive's ``bind``."""
    name = f"{primitive.name}_p"
    if getattr(ops, name, None) is primitive:
        return f"ops.{name}.bind"
    return f"core.primitives_by_name[{primitive.name!r}].bind"


def public_name(primitive: Primitive, operand_count: int, params: dict[str, Any]) -> tuple[str, bool] | None:
    """Returns the public function of a primitive's name, if it takes the same operands and parameters.

    The second result says whether it takes the operands as a list.
    """
    function = getattr(ops, primitive.name, None)
    form = _public_form(function, operand_count, tuple(params)) if callable(function) else None
    return None if form is None else (f"ops.{primitive.name}", form == "list")


@cached_function("public forms of laws", 4096)
def _public_form(function: Any, operand_count: int, params: tuple[str, ...]) -> str | None:
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in params]
    named = set(inspect.signature(function).parameters)
    if not set(params) <= named:
        return None
    if len(parameters) == 1 and parameters[0].name == "operands":
        return "list"
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    positional = len(required) <= operand_count if variadic else len(required) == operand_count
    return "positional" if positional else None
