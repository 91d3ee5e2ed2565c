"""A compiled program that is loaded from the folder gives bit by bit what the one that was stored gives."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from lawful import tree
from lawful.autodiff import vjp
from lawful.core import float0, get_aval
from lawful.laws import Program, programs, usual_dtypes
from lawful.staging import jit
from lawful.xla_backend import cache_info, set_cache_dir


def bits(results: Any) -> list[tuple[Any, ...]]:
    found = [np.asarray(x) for x in tree.leaves(results)]
    return [(x.dtype, x.shape, x.tobytes()) for x in found]


def cotangent(result: Any) -> Any:
    aval = get_aval(result).to_tangent_aval()
    return np.zeros(aval.shape, float0) if aval.dtype == float0 else result


def hold(function: Callable[..., Any], args: Sequence[Any], folder: Path) -> None:
    def compiled() -> Any:
        return jit(function, backend="xla").lower(*args).compile()

    try:
        set_cache_dir(None)
        expected = bits(compiled()(*args))
        set_cache_dir(folder)
        stored = bits(compiled()(*args))
        calls_python = cache_info().misses == 0
        loaded = bits(compiled()(*args))
        assert cache_info().hits == (0 if calls_python else 1)
    finally:
        set_cache_dir(None)
    assert stored == expected
    assert loaded == expected


@given(program=programs(dtypes=usual_dtypes, smooth=False))
def test_compilation_cache_functions(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    hold(program.function, program.args, tmp_path_factory.mktemp("programs"))


@given(program=programs())
def test_compilation_cache_derivatives(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    def both(*args: Any) -> Any:
        results, pullback = vjp(program.function, *args)
        return results, pullback(tree.map(cotangent, results))

    hold(both, program.args, tmp_path_factory.mktemp("programs"))
