"""A fault: a wrong rule, or a wrong function of a transformation, planted temporarily."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from lawful.core import Primitive, Zero, get_aval
from lawful.ops._elementwise.declaration import add_tangents
from lawful.staging import clear_caches

Rule = Callable[..., Any]
#: Makes a wrong rule or function from the right one.
Wrong = Callable[[Rule], Rule]
Plant = Callable[[pytest.MonkeyPatch], None]

PROGRAMS = ("smooth", "complex", "every dtype")


def with_forms(*forms: str) -> tuple[str, ...]:
    """Returns the sources of programs with some forms only, which reach a fault in them sooner."""
    return tuple([f"{kind} with {', '.join(forms)}" for kind in PROGRAMS])


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that the laws must find.

    Attributes:
      name: what is wrong, as a sentence.
      kind: what kind of mistake it is: "wrong sign", "stale cache" and so on.
      where: what it is planted into: a rule of a primitive, or a function of a transformation.
      plant: plants it by a patch that can be undone.
      sources: the names of the sources of cases, of ``lawful.laws.find_source``, that meet it.
      only_fast: whether no program of the plain interpreters is wrong.
    """

    name: str
    kind: str
    where: str
    plant: Plant
    sources: tuple[str, ...] = PROGRAMS
    only_fast: bool = False

    @property
    def slug(self) -> str:
        """The name as a test id."""
        return re.sub(r"\W+", "-", self.name)

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Plants the fault; removes it and all caches filled with it, also after an exception."""
        clear_caches()
        try:
            with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
                self.plant(patch)
                yield
        finally:
            clear_caches()


def rule_fault(
    name: str, kind: str, primitive: Primitive, slot: str, wrong: Wrong, *, sources: tuple[str, ...] | None = None
) -> Fault:
    """Returns a fault in one rule of a primitive.

    Args:
      name: what is wrong.
      kind: the kind of mistake.
      primitive: whose rule it is.
      slot: which rule.
      wrong: makes the wrong rule of the right one.
      sources: those that meet it; by default calls of the primitive, and programs.
    """

    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setitem(primitive.rules, slot, wrong(primitive.rule(slot)))

    usual = (f"{primitive.name}, smooth", primitive.name, "smooth")
    return Fault(name, kind, f"{slot} of `{primitive.name}`", plant, sources or usual)


def function_fault(
    name: str, kind: str, module: ModuleType, function: str, wrong: Wrong, sources: tuple[str, ...] = PROGRAMS
) -> Fault:
    """Returns a fault in a function of a module, wherever lawful imports it."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = getattr(module, function)
        replace_everywhere(patch, function, right, wrong(right))

    return Fault(name, kind, _place(module, function), plant, sources, only_fast=_is_fast(module.__name__))


def local_fault(
    name: str,
    kind: str,
    module: ModuleType,
    function: str,
    wrong: Wrong,
    sources: tuple[str, ...] = PROGRAMS,
    *,
    fast: ModuleType | None = None,
) -> Fault:
    """Returns a fault in one module's use of a name; other modules, apart from its accelerator, use the right one."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        for planted in (module, fast) if fast is not None else (module,):
            patch.setattr(planted, function, wrong(getattr(planted, function)))

    return Fault(name, kind, _place(module, function), plant, sources, only_fast=_is_fast(module.__name__))


def method_fault(
    name: str,
    kind: str,
    cls: type,
    method: str,
    wrong: Wrong,
    sources: tuple[str, ...] = PROGRAMS,
    *,
    fast: type | None = None,
    only_fast: bool = False,
) -> Fault:
    """Returns a fault in a method of a class, and of its accelerator if it has one."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        for planted in (cls, fast) if fast is not None else (cls,):
            patch.setattr(planted, method, wrong(getattr(planted, method)))

    where = f"`{cls.__name__}.{method}` of {_package(cls.__module__)}"
    return Fault(name, kind, where, plant, sources, only_fast=only_fast or _is_fast(cls.__module__))


def _is_fast(module: str) -> bool:
    """Whether a module is part of an accelerator."""
    return "._fast" in module


def met_by(sources: tuple[str, ...], *found: Fault) -> tuple[Fault, ...]:
    """Returns faults with sources other than the default."""
    return tuple([replace(fault, sources=sources) for fault in found])


def replace_everywhere(patch: pytest.MonkeyPatch, name: str, right: Any, wrong: Any) -> None:
    """Replaces an object in every module of lawful that imports it."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("lawful.") and getattr(module, name, None) is right:
            patch.setattr(module, name, wrong)


def _place(module: ModuleType, function: str) -> str:
    return f"`{function}` of {_package(module.__name__)}"


def _package(module_name: str) -> str:
    return module_name.removeprefix("lawful.").partition(".")[0].replace("_", "-")


# Wrong derivatives


def tangent(change: Callable[..., Any]) -> Wrong:
    """Returns the fault that changes a jvp rule's tangent by ``change(t, ans, *primals)``; symbolic zeros stay."""

    def wrong(right: Rule) -> Rule:
        def jvp(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
            ans, t = right(primals, tangents, **params)
            return ans, t if type(t) is Zero else change(t, ans, *primals)

        return jvp

    return wrong


def derivatives(*terms: Callable[..., Any] | None) -> Wrong:
    """Returns the fault that replaces the tangent by the sum of ``term(t, ans, *primals)``, one for each tangent, None
    for 0.
    """

    def wrong(right: Rule) -> Rule:
        def jvp(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
            ans = right(primals, tangents, **params)[0]
            total: Any = Zero(get_aval(ans).to_tangent_aval())
            for t, term in zip(tangents, terms, strict=True):
                if type(t) is not Zero and term is not None:
                    total = add_tangents(total, term(t, ans, *primals))
            return ans, total

        return jvp

    return wrong


def instead(rule: Rule) -> Wrong:
    """Returns the fault that replaces the right rule."""
    return lambda right: rule
