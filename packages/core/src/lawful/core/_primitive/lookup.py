"""The hook of rule lookups, through which a tool observes the rules that interpreters run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lawful.core._hook import Hook
from lawful.core._primitive.primitive import Primitive

Lookup = Callable[[Primitive, str], Any]


def _switch(lookups: tuple[Lookup, Lookup]) -> None:
    Primitive.rule, Primitive.rule_or_none = lookups  # type: ignore[method-assign,assignment]


#: The methods ``Primitive.rule`` and ``Primitive.rule_or_none``. A tool that observes rules overrides both, so that
#: lookups cost nothing otherwise. Accelerators do not call them: observe within `plain`.
rule_hook: Final[Hook[tuple[Lookup, Lookup]]] = Hook("rule lookup", (Primitive.rule, Primitive.rule_or_none), _switch)
