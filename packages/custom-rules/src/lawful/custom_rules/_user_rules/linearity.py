"""A check that a program is linear in its inputs. Transposition itself does not detect an affine program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.core import ClosedJaxpr, NotLinearError
from lawful.custom_rules._user_rules.dependence import FACTOR, Analysis, Dependence
from lawful.custom_rules._user_rules.zeros import Zeros


def require_linear(
    program: ClosedJaxpr, constants: Sequence[Any], error: Callable[[str, str], NotLinearError],
    zeros: Sequence[Any] = (),
) -> None:  # fmt: skip
    """Raises an error if an equation or a result may add something to what is linear in a program's inputs.

    Args:
      program: the program.
      constants: its results that do not depend on its inputs.
      error: makes the error, from a description of the program and a remedy, which may be empty.
      zeros: values that are zero, whatever their traces know of them.
    """
    analysis = Analysis(Zeros(zeros), error)
    jaxpr = program.jaxpr
    outputs = analysis.outputs(jaxpr, (Dependence.LINEAR,) * len(jaxpr.invars), program.consts)
    if Dependence.CONSTANT in (*map(analysis.constant, constants), *outputs):
        raise error("one that gives something else than zero for the cotangent zero", FACTOR)
