"""The laws of tangents' types and of linearity in the cotangent have mutants that they must reject."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.laws import Case, LawViolation, laws
from lawful.laws.systems import Lawful, lawful

pytestmark = pytest.mark.once

narrow = np.array([0.5, 1.0], np.float32)
case = Case.of(ops.sin, narrow)


def rejects(name: str, text: str, system: Lawful = lawful) -> None:
    laws[name](lawful, case)
    with pytest.raises(LawViolation, match=text):
        laws[name](system, case)


class WrongTangent(Lawful):
    def jvp(self, function: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
        out, tangent = super().jvp(function, primals, tangents)
        return out, np.asarray(tangent).astype(np.float64)


class WrongCotangent(Lawful):
    def vjp(self, function: Any, *primals: Any) -> tuple[Any, Any]:
        out, pull = super().vjp(function, *primals)
        return out, lambda ct: tuple([np.sum(x) for x in pull(ct)])


class AffinePull(Lawful):
    def vjp(self, function: Any, *primals: Any) -> tuple[Any, Any]:
        out, pull = super().vjp(function, *primals)
        return out, lambda ct: tuple([x + np.float32(0.25) for x in pull(ct)])


class CutPull(Lawful):
    """Gives zero for large cotangents: linear in the small ones that are drawn."""

    def vjp(self, function: Any, *primals: Any) -> tuple[Any, Any]:
        out, pull = super().vjp(function, *primals)
        return out, lambda ct: tuple([x * np.float32(np.max(np.abs(ct)) < 2) for x in pull(ct)])


def test_types_of_tangents_reject_a_wider_one() -> None:
    rejects("tangent_types", r"a tangent f64\[2\], of a value f32\[2\]", WrongTangent())


def test_types_of_tangents_reject_a_cotangent_of_another_shape() -> None:
    rejects("tangent_types", r"a cotangent f32\[\], of a value f32\[2\]", WrongCotangent())


@pytest.mark.parametrize(("system", "text"), [(AffinePull(), "vjp of"), (CutPull(), "vjp of 8 u")])
def test_linearity_rejects_a_pullback_that_is_not_linear(system: Lawful, text: str) -> None:
    rejects("vjp_linear", text, system)
