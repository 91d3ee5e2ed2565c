"""Programs written in NumPy's own functions obey every law under lawful's transformations."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from lawful.laws import Law, Program, generation_for, holds, laws, programs, quick
from lawful.laws.systems import Lawful
from lawful.laws.systems._array_functions import ArrayFunctions


class NumPyFunctions(ArrayFunctions):
    """Array functions by lawful's names that are NumPy's; of integers the reductions are those of ufuncs."""

    def reduce_and(self, operand: Any, axes: Sequence[int]) -> Any:
        return np.bitwise_and.reduce(operand, axis=tuple(axes))

    def reduce_or(self, operand: Any, axes: Sequence[int]) -> Any:
        return np.bitwise_or.reduce(operand, axis=tuple(axes))

    def reduce_xor(self, operand: Any, axes: Sequence[int]) -> Any:
        return np.bitwise_xor.reduce(operand, axis=tuple(axes))


ops = NumPyFunctions(np)


class NumPyCode(Lawful):
    """Lawful's transformations of programs whose array functions are NumPy's."""

    name = "numpy code"
    scope = MappingProxyType({**Lawful.scope, "ops": ops})
    imports = MappingProxyType({**Lawful.imports, "ops": "from tests.numpy_code.test_generated_programs import ops"})


system = NumPyCode()
few = settings(
    max_examples=max(settings.default.max_examples // 5, 1),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


# NumPy's own errors, of its functions of arrays, are of its own classes.
of_functions = [law for law in laws.values() if law.subject == "function" and law.name != "errors_name_their_place"]


@pytest.mark.parametrize("law", of_functions, ids=lambda law: law.name)
def test_numpy_programs_law(law: Law) -> None:
    @few
    @given(programs(generation_for(system, smooth=law.smooth, weak=False)))
    def check(program: Program) -> None:
        holds(law.check, system, program, effort=quick)

    check()


def test_numpy_programs_programs_are_numpy_s() -> None:
    assert system.ops.sin is np.sin
    assert system.ops.where is np.where
