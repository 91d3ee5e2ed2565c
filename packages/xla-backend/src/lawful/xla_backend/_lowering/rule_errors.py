"""The errors for lowering rules that build no StableHLO, or that of another type."""

from __future__ import annotations

from typing import Any

from lawful.core import JaxprEqn, ShapedArray
from lawful.xla_backend._errors import LoweringError
from lawful.xla_backend._runtime.bindings import ir


def wrong_result(eqn: JaxprEqn, aval: ShapedArray, value: Any) -> LoweringError:
    """Returns the error for a rule that gives a value of another type than its equation has."""
    actual = f"a value of type {value.type}" if isinstance(value, ir.Value) else repr(value)
    return LoweringError(
        f"lowering: expected the rule of '{eqn.primitive.name}' to give {aval}, got {actual}; "
        f"correct what {eqn.primitive.name}_p.def_lowering defines",
        source=eqn.source,
    )


def failed_rule(eqn: JaxprEqn, error: Exception) -> LoweringError:
    """Returns the error for a rule that raises one."""
    name = eqn.primitive.name
    return LoweringError(
        f"lowering: expected the rule of '{name}' to build StableHLO, got {type(error).__name__}: {error}; "
        f"correct what {name}_p.def_lowering defines",
        source=eqn.source,
    )
