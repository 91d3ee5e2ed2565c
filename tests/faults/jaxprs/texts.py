"""Faults in the printer and the parser of jaxprs."""

from __future__ import annotations

from typing import Any

from lawful.core._jaxpr import parse as _parse
from lawful.core._jaxpr import print as _print
from tests.faults._fault import Rule, local_fault, method_fault


def _first_params(right: Rule) -> Rule:
    return lambda params: right(params)[:1]


def _strong(right: Rule) -> Rule:
    def missing(self: Any, aval: Any) -> str:
        text = self[aval] = str(aval.update(weak_type=False))
        return text

    return missing


text_faults = (
    local_fault(
        "the printer leaves out all parameters but one", "parameter lost", _print, "ordered_params", _first_params
    ),
    method_fault("the printer loses weak types", "weak type lost", _print._TypeTexts, "__missing__", _strong),
    local_fault(
        "the printer rounds numbers",
        "precision lost",
        _print,
        "scalar_text",
        lambda right: lambda x: f"{float(x):.3}" if "." in right(x) and "j" not in right(x) else right(x),
    ),
    local_fault(
        "the printer gives all jaxprs one label",
        "variable captured",
        _print,
        "_label",
        lambda right: lambda name, labels: "f",
    ),
    method_fault(
        "the parser reads weak types as strong",
        "weak type lost",
        _parse._Program,
        "aval",
        lambda right: lambda self, match, group: right(self, match, group).update(weak_type=False),
    ),
    method_fault(
        "the parser reads results in reversed order",
        "reversed order",
        _parse._Program,
        "binders",
        lambda right: lambda self, env, new: tuple(reversed(right(self, env, new))),
    ),
)
