"""Sources of cases: programs of several sorts, and calls of a primitive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

import numpy as np

from lawful import ops
from lawful.core import Primitive, primitives_by_name
from lawful.laws._forms import forms
from lawful.laws._law.case import Case
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Law, laws
from lawful.laws._primitives.call import draw_call
from lawful.laws._programs.choose import Chooser, usual_dtypes
from lawful.laws._search.generation import Generation, draw_program
from lawful.laws._search.restriction import generation_for

Dtypes = tuple[np.dtype[Any], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A source of cases of one sort.

    Attributes:
      name: what it is called, in reports and in the database of failures.
      draw: draws a case.
      dtypes: those that may be drawn.
      smooth: whether cases keep away from kinks, so that laws with finite differences apply.
      subject: what laws apply: to every function, or to calls of a primitive too.
      only: the names of the laws that apply; None for all.

    >>> source = find_source("smooth")
    >>> source.subject, [dtype.name for dtype in source.dtypes]
    ('function', ['float64', 'int64', 'bool'])
    """

    name: str
    draw: Callable[[Chooser], Case]
    dtypes: Dtypes
    smooth: bool
    subject: Literal["function", "primitive"] = "function"
    only: frozenset[str] | None = None

    def laws(self) -> list[Law]:
        """Returns the laws that apply to its cases."""
        return [
            law for law in laws.values()
            if (self.only is None or law.name in self.only)
            and (self.smooth or not law.smooth) and (self.subject == "primitive" or law.subject == "function")
        ]  # fmt: skip


def source_of_programs(name: str, generation: Generation) -> Source:
    """Returns a source of programs.

    Args:
      name: what it is called.
      generation: what programs are drawn.

    >>> source_of_programs("short", Generation(max_equations=2)).subject
    'function'
    """
    return Source(name, lambda choose: draw_program(choose, generation), generation.dtypes, generation.smooth)


_DIFFERENTIABLE: Final[Dtypes] = tuple(map(np.dtype, ("float64", "complex128")))


def source_of_calls(primitive: Primitive, *, smooth: bool) -> Source:
    """Returns a source of calls of a primitive, within its domain.

    Args:
      primitive: it has a declaration.
      smooth: whether to keep away from kinks, with floats wherever the primitive takes them; else of every dtype.

    >>> source_of_calls(ops.sin_p, smooth=True).name
    'sin, smooth'
    """
    return Source(
        f"{primitive.name}, smooth" if smooth else primitive.name,
        lambda choose: draw_call(primitive, choose, smooth=smooth),
        _DIFFERENTIABLE if smooth else usual_dtypes,
        smooth,
        "primitive",
    )


def source_of_weak_calls(primitive: Primitive) -> Source:
    """Returns a source of calls of a primitive with Python numbers, away from kinks.

    Args:
      primitive: it has a declaration.

    >>> source_of_weak_calls(ops.sin_p).name
    'sin, weak'
    """
    return Source(
        f"{primitive.name}, weak",
        lambda choose: draw_call(primitive, choose, smooth=True, weak=True),
        _DIFFERENTIABLE,
        True,
        "primitive",
    )


#: The laws that hold at special numbers too: they need no smoothness, and compare element by element.
LAWS_AT_SPECIAL_POINTS: Final = frozenset(
    {
        *("eval_jaxpr", "jit_is_eager", "vmap_is_loop", "linearize_is_jvp", "special_values"),
        *("primitive_reference", "primitive_specialised", "primitive_typing", "primitive_traced_rules"),
        *("primitive_special_points", "primitive_special_transpose"),
    }
)


def source_of_special_calls(primitive: Primitive) -> Source:
    """Returns a source of calls of a primitive with special numbers: zeros, ties, ends of the domain, NaN, infinities.

    Args:
      primitive: it has a declaration.

    >>> source = source_of_special_calls(ops.sin_p)
    >>> source.name, "special_values" in source.only
    ('sin, special', True)
    """
    return Source(
        f"{primitive.name}, special",
        lambda choose: draw_call(primitive, choose, special=True),
        usual_dtypes,
        False,
        "primitive",
        LAWS_AT_SPECIAL_POINTS,
    )


_COMPLEX: Final[Dtypes] = tuple(map(np.dtype, ("complex128", "float64", "int64")))

# The settings of each sort of programs.
_KINDS: Final[dict[str, dict[str, Any]]] = {
    "smooth": {},
    "complex": {"dtypes": _COMPLEX},
    "every dtype": {"dtypes": usual_dtypes, "smooth": False},
    "sharded": {"forms": tuple(forms), "nesting": 6},
}

# The features, as ``Implementation.absent`` names them, that programs of a sort need.
_NEEDS: Final = {"complex": {"complex"}, "sharded": {"devices", "meshes in programs"}}

#: The sorts of programs that lawful is checked on.
program_sources: Final[dict[str, Source]] = {
    kind: source_of_programs(kind, Generation(**changes)) for kind, changes in _KINDS.items()
}


def sources_for(system: Implementation, *others: Implementation) -> tuple[Source, ...]:
    """Returns the kinds of programs that a system can be held against, and that others can run too.

    >>> from lawful.laws.systems import lawful
    >>> [source.name for source in sources_for(lawful)]
    ['smooth', 'complex', 'every dtype', 'sharded']
    """
    systems = (system, *others)
    absent = {capability for each in systems for capability in each.absent}
    kinds = [kind for kind in _KINDS if not _NEEDS.get(kind, set()) & absent]
    if all(each.ops is ops for each in systems):
        return tuple([program_sources[kind] for kind in kinds])
    return tuple([find_source(f"{kind}{_OF}{_AND.join(each.name for each in systems)}") for kind in kinds])


_OF: Final = " of "
_AND: Final = " and "
_WITH: Final = " with "
_COMMA: Final = ", "


@cache
def find_source(name: str) -> Source:
    """Returns a source by its name: a kind of programs, or a primitive's name with or without ``", smooth"`` or
    ``", special"``.

    The programs of a kind that another system can run are called ``"smooth of jax"``, and those that two systems can
    run ``"smooth of lawful and jax"``; programs with some forms only are ``"smooth with scan, while_loop"``.

    Raises:
      KeyError: there is none.

    >>> find_source("sin, special").subject
    'primitive'
    """
    if name in program_sources:
        return program_sources[name]
    kind, of, systems = name.partition(_OF)
    if of:
        from lawful.laws.systems import find_system  # the adapters import this package

        return source_of_programs(name, generation_for(*map(find_system, systems.split(_AND)), **_KINDS[kind]))
    kind, with_forms, names = name.partition(_WITH)
    if with_forms:
        return source_of_programs(
            name, Generation(**{**_KINDS[kind], "forms": tuple(names.split(_COMMA)), "nesting": 12})
        )
    if name.endswith(", special"):
        return source_of_special_calls(primitives_by_name[name.removesuffix(", special")])
    primitive = primitives_by_name[name.removesuffix(", smooth")]
    return source_of_calls(primitive, smooth=name.endswith(", smooth"))
