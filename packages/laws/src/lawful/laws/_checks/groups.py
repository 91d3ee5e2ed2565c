"""One law of each group on a case, for checks of many cases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from lawful.core import no_collections
from lawful.laws._law.case import Case
from lawful.laws._law.effort import Effort, quick
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable, Law, laws

#: Laws 1 to 8 of the design: evaluation, typing, tangents, linearization, transposition, batching, commutation and
#: second order.
core_groups: Final = (
    *("evaluation", "typing", "tangents", "linearization"),
    *("transposition", "batching", "commutation", "second order"),
)


def check_groups(
    system: Implementation, case: Case, groups: Sequence[str] = core_groups, *, effort: Effort = quick
) -> list[Law]:
    """Checks one law of each group on a case, drawn by the case's seed, and returns those that say something of it.

    Every law of a group, and every variant of it, is tried over many cases.

    Args:
      system: the system of transformations.
      case: a function with its arguments.
      groups: the kinds of laws.
      effort: how many variants of each kind are tried.

    Raises:
      LawViolation: a law does not hold.

    >>> from lawful.laws import RandomChoose, draw_program
    >>> from lawful.laws.systems import lawful
    >>> [law.group for law in check_groups(lawful, draw_program(RandomChoose(3)), ["typing", "batching"])]
    ['typing', 'batching']
    """
    choose = random.Random(case.seed)
    said = []
    # Collections during a check would scan all cached objects.
    with no_collections():
        for group in groups:
            possible = _laws_of(group, system)
            if not possible:
                continue
            law = choose.choice(possible)
            with suppress(Inapplicable):
                law(system, case, effort=effort)
                said.append(law)
    return said


def _laws_of(group: str, system: Implementation) -> list[Law]:
    """Returns the laws of a group that apply to a system."""
    ours = [law for law in laws.values() if law.group == group and law.subject == "function"]
    return [law for law in ours if system.absent.keys().isdisjoint(law.needs)]
