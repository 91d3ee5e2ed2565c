"""Each fault planted into ``checkpoint`` is found by a law, on functions in which it matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, checkpoint_name
from lawful.laws import check, quick
from lawful.laws.systems import lawful

from ._fault import Fault
from ._rematerialization import rematerialization_faults

X, Y, C = np.array([0.3, 0.7]), np.array([-0.4, 0.2]), np.array([1.5, -0.5])
# Those in which a law of each kind can fail; all of them would take minutes.
LAWS = (
    *("jvp_finite_differences", "linearize_is_jvp", "vjp_transpose", "vmap_is_loop", "passes", "jit_is_eager"),
    "second_order",
)


def function(x: Any, y: Any) -> Any:
    def inner(x: Any, y: Any) -> Any:
        h = checkpoint_name(ops.sin(x * C), "h")
        return ops.sin(h * y), ops.cos(x) * ops.exp(y), ops.sin(h)

    a, b, c = checkpoint(inner)(x, y)
    return ops.optimization_barrier((a * y, checkpoint(ops.sin)(b) + c))


def is_found() -> bool:
    return not check(function, X, Y, system=lawful, effort=quick, laws=LAWS).ok


def test_the_laws_hold_without_a_fault() -> None:
    assert not is_found()


@pytest.mark.parametrize("fault", rematerialization_faults, ids=lambda fault: fault.slug)
def test_a_law_finds_the_fault(fault: Fault) -> None:
    with fault.planted():
        assert is_found()
