"""Functions take the arguments of their NumPy namesakes, by the same names and in the same order, but for a few."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp

MODULES = {"": (lnp, numpy), "linalg.": (lnp.linalg, numpy.linalg), "fft.": (lnp.fft, numpy.fft)}
BOTH: dict[str, tuple[Any, Any]] = {
    prefix + name: (getattr(ours, name), getattr(theirs, name))
    for prefix, (ours, theirs) in MODULES.items()
    for name in ours.__all__
    if callable(getattr(theirs, name, None)) and not isinstance(getattr(ours, name), type | ModuleType)
}
# What NumPy's functions take and lawful's do not, with the reason.
LEFT_OUT = {
    "order": "arrays have no layout in memory that counts",
    "subok": "arrays are of one class",
    "like": "functions are called by their own name",
    "ndmin": "reshape",
    "ndmax": "lists of arrays are not told from lists of lists",
    "kwargs": "of pad and einsum they are named, of clip they are those of a ufunc",
    "out": "arrays are not overwritten",
}
# What lawful's functions take beside it, with the reason.
ADDED = {
    "size": "how many elements there are, where values are traced",
    "fill_value": "what stands where there are fewer",
    "length": "the length of a result, where values are traced",
    "total_repeat_length": "the same",
    "inplace": "that nothing is overwritten",
    "mode": "what is done about positions outside",
    "wrap_negative_indices": "the same",
    "unique_indices": "a promise about positions",
    "indices_are_sorted": "the same",
    "symmetrize_input": "as in JAX",
    "dtype": "as in the array API",
    "device": "as in the array API",
    **dict.fromkeys(("constant_values", "end_values", "stat_length", "reflect_type"), "those of pad by name"),
    **dict.fromkeys(("casting", "order"), "those of einsum by name"),
}
# Other names of arguments that are given by position, and what is written in C.
OTHER_NAMES = {"arange", "finfo", "iinfo", "issubdtype", "from_dlpack", "fft.fftfreq"}


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", [n for n in BOTH if n not in OTHER_NAMES])
def test_the_arguments_are_numpy_s(name: str):
    ours, theirs = (parameters(function) for function in BOTH[name])
    if isinstance(BOTH[name][1], numpy.ufunc):  # the others are about memory, or refused: test_numpy_protocols.py
        theirs = {key: p for key, p in theirs.items() if p.kind is p.POSITIONAL_ONLY or key in ours}
    assert {key for key in theirs if key not in ours} <= LEFT_OUT.keys(), "left out"
    assert {key for key in ours if key not in theirs} <= ADDED.keys(), "added"
    common = [key for key in theirs if key in ours]
    # Those that can be given by position mean the same, as far as none before them is left out.
    for place, key in enumerate(theirs):
        if key not in ours or theirs[key].kind is inspect.Parameter.KEYWORD_ONLY:
            break
        assert list(ours)[place] == key
        assert ours[key].kind is not inspect.Parameter.KEYWORD_ONLY
    assert [key for key in ours if key in theirs] == common or "device" in common


@pytest.mark.parametrize("name", BOTH)
def test_the_defaults_are_numpy_s(name: str):
    """But for None, which says that an argument is not given, where NumPy has a value of its own for that."""
    ours, theirs = (parameters(function) for function in BOTH[name])
    for key in ours.keys() & theirs.keys():
        own, wanted = ours[key].default, theirs[key].default
        if wanted is inspect.Parameter.empty or own is inspect.Parameter.empty:
            assert own is wanted or name in OTHER_NAMES
        elif own is not None and key not in DEFAULTS.get(name, ()):
            assert own == wanted or wanted is numpy._NoValue or wanted is None, key


# Defaults that are others: of sorting as in the array API, of products of arrays as in JAX.
DEFAULTS = {"sort": {"stable"}, "argsort": {"stable"}, "einsum": {"optimize"}}


def test_each_exception_is_one():
    """A reason that no function needs any longer is dropped."""
    missing, added = set(), set()
    for ours, theirs in BOTH.values():
        have, want = parameters(ours), parameters(theirs)
        missing |= {key for key in want if key not in have}
        added |= {key for key in have if key not in want}
    assert LEFT_OUT.keys() <= missing
    assert ADDED.keys() <= added


def test_what_is_left_out():
    """Every public name of NumPy is there, or stands with a reason in `lawful.numpy._left_out`."""
    from lawful.numpy._left_out import left_out

    assert set(numpy.__all__) - set(lnp.__all__) - {"__array_namespace_info__"} == set(left_out) & set(numpy.__all__)
    assert not set(left_out) & set(lnp.__all__)
    assert set(numpy.linalg.__all__) <= set(lnp.linalg.__all__)
    assert set(numpy.fft.__all__) <= set(lnp.fft.__all__)
    for name, reason in left_out.items():
        with pytest.raises(AttributeError, match=rf"lawful\.numpy\.{name}: .*") as error:
            getattr(lnp, name)
        assert reason in str(error.value)
    with pytest.raises(AttributeError, match=r"lawful\.numpy\.nothing: .*nor has NumPy"):
        _ = lnp.nothing
    assert not hasattr(lnp, "memmap")
