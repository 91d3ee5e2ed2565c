"""The common parts of tests of nested constructs: the laws, and the number of programs."""

from typing import Any, Final

from hypothesis import HealthCheck, settings

from lawful import ops
from lawful.laws import Inapplicable, Program, laws, quick
from lawful.laws.systems import lawful

#: All laws that apply but those of cost and loops, which run a function hundreds of times, and of many devices.
of_functions: Final = [
    law for law in laws.values() if law.subject == "function" and law.group not in ("cost", "loops", "sharding")
]
#: The number of examples of the profile "few".
FEW: Final = 4


def held_through_nests() -> list[str]:
    """Returns the names of all these laws; of the first of each group with the profile "few".

    It repeats tests in other surroundings, where each law has tests of its own.
    """
    if settings.default.max_examples > FEW:
        return [law.name for law in of_functions]
    return list({law.group: law.name for law in reversed(of_functions)}.values())


names: Final = held_through_nests()


def share(of: int) -> Any:
    """Returns the settings for a part of the usual number of examples."""
    most = max(settings.default.max_examples // of, 1)
    return settings(max_examples=most, suppress_health_check=[HealthCheck.too_slow])


def part_of_examples(of: int, *, least: int, repeated: int = 2) -> Any:
    """Returns the settings for a part of the usual number of examples, but at least some.

    The profile "few" repeats tests in other surroundings, and has at least ``repeated`` examples.
    """
    usual = settings.default.max_examples
    return settings(max_examples=max(usual // of, repeated if usual <= FEW else least))


def seeds(usual: int) -> range:
    """Returns the seeds of a number of cases; of a fifth of them with the profile "few"."""
    return range(usual if settings.default.max_examples > FEW else max(usual // 5, 1))


def hold_all(program: Program) -> None:
    """Asks all laws that apply to a program."""
    for law in of_functions:
        try:
            law(lawful, program, effort=quick)
        except Inapplicable:
            continue


def parts(x: Any, y: Any) -> Any:
    """A function with a tree of results."""
    return {"a": ops.sin(x) * y, "b": [ops.exp(x * 0.3), y * 2.0]}
