"""Calls of the functions of `lawful.numpy`, which the tests evaluate in many ways."""

from . import (
    creation,
    elementwise,
    fft,
    joining,
    linalg,
    placing,
    products,
    quantiles,
    reductions,
    selection,
    sets,
    shapes,
    signals,
)
from ._case import Case, Data, is_newer
from .mistakes import OPERATORS, SINCE, mistakes

__all__ = ["OPERATORS", "SINCE", "Case", "Data", "is_newer", "mistakes", "table"]

_MODULES = (
    *(elementwise, reductions, selection, sets, quantiles, products, linalg, fft),
    *(shapes, joining, signals, creation, placing),
)


def table(seed: int) -> dict[str, Case]:
    """Returns the calls by subject and number; there are as many for any seed.

    Args:
      seed: what the elements of their arguments are drawn from.
    """
    data = Data(seed)
    return {
        f"{subject} {i}": entry
        for module in _MODULES
        for subject, entries in module.table(data).items()
        for i, entry in enumerate(entries)
    }
