"""Elementwise functions of every value of the pools at once: signed zeros, NaN, infinities, the ends of the ranges."""

from __future__ import annotations

import pytest

from .specs import SPECS
from .specs.arrays import COMPLEX, pool
from .specs.calls import Call
from .specs.elementwise import BINARY, COMPLEX_KINDS, DIVISOR_KINDS, UNARY
from .specs.spec import check_eager, check_staged


def calls_of(name: str) -> list[Call]:
    """Returns a call with all values, or all pairs, for each dtype."""
    dtypes, _ = {**UNARY, **BINARY}[name]
    calls = []
    for dtype in dtypes:
        kind = COMPLEX_KINDS.get(name, "any") if dtype in COMPLEX else "any"
        values = pool(dtype, kind)
        if name in UNARY:
            calls.append(Call((values,)))
            continue
        second = pool(dtype, DIVISOR_KINDS.get(name, kind) if dtype in COMPLEX else kind)
        step = 17 if dtype in COMPLEX else 1
        calls.append(Call((values[::step, None], second[::step])))
    return calls


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_array_api_every_value(name: str) -> None:
    for call in calls_of(name):
        check_eager(SPECS[name], call)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_array_api_every_value_compiled(name: str, backend: str) -> None:
    check_staged(SPECS[name], calls_of(name), backend)
