"""Staged, compiled and eager programs agree."""

from unittest import mock

from hypothesis import given, settings

from lawful.laws import (
    Program,
    holds,
    installed_backends,
    law_eval_jaxpr,
    law_jit_is_eager,
    law_layers_agree,
    programs,
    usual_dtypes,
)
from lawful.laws.systems import Lawful, lawful
from lawful.staging._fast import groups as _groups
from lawful.staging._numpy_backend import source as _source

every_dtype = programs(dtypes=usual_dtypes, smooth=False)


@given(programs())
def test_jit_compiled_by_numpy(program: Program) -> None:
    holds(law_jit_is_eager, lawful, program)


@given(every_dtype)
def test_jit_compiled_by_numpy_with_every_dtype(program: Program) -> None:
    holds(law_jit_is_eager, lawful, program)


@given(every_dtype)
def test_jit_compiled_by_numpy_in_parts(program: Program) -> None:
    with mock.patch.object(_source, "_MOST_LINES", 1):
        holds(law_jit_is_eager, lawful, program)


@given(every_dtype)
def test_jit_compiled_by_numpy_in_groups(program: Program) -> None:
    with mock.patch.object(_groups, "LEAST_BYTES", 1):  # of small arrays too
        holds(law_jit_is_eager, lawful, program)


@given(programs())
def test_jit_compiled_by_xla(program: Program) -> None:
    holds(law_jit_is_eager, Lawful(backends=("xla",)), program)


@given(every_dtype)
def test_jit_compiled_by_xla_with_every_dtype(program: Program) -> None:
    holds(law_jit_is_eager, Lawful(backends=("xla",)), program)


@settings(max_examples=max(settings.default.max_examples // 4, 1))
@given(programs(backend="xla"))
def test_jit_functions_compiled_by_xla_within_others(program: Program) -> None:
    holds(law_jit_is_eager, Lawful(backends=installed_backends()), program)


@given(every_dtype)
def test_jaxpr_evaluated(program: Program) -> None:
    holds(law_eval_jaxpr, lawful, program)


@given(every_dtype)
def test_layers_agree(program: Program) -> None:
    holds(law_layers_agree, lawful, program)
