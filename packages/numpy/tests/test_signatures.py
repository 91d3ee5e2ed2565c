"""Functions have the signatures of NumPy's functions, except for the listed arguments."""

import inspect
from types import ModuleType
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp

from .calls import is_newer

MODULES = {"": (lnp, numpy), "linalg.": (lnp.linalg, numpy.linalg), "fft.": (lnp.fft, numpy.fft)}
BOTH: dict[str, tuple[Any, Any]] = {
    prefix + name: (getattr(ours, name), getattr(theirs, name))
    for prefix, (ours, theirs) in MODULES.items()
    for name in ours.__all__
    if callable(getattr(theirs, name, None)) and not isinstance(getattr(ours, name), type | ModuleType)
}
# Arguments of NumPy's functions that lawful's do not have, with the reason.
LEFT_OUT = {
    "order": "arrays have no layout in memory that counts",
    "subok": "arrays are of one class",
    "like": "functions are called by their own name",
    "ndmin": "reshape",
    "ndmax": "lists of arrays are not told from lists of lists",
    "kwargs": "of pad, einsum and frompyfunc they are named, of clip they are those of a ufunc",
    "out": "arrays are not overwritten",
}
# Additional arguments of lawful's functions, with the reason.
ADDED = {
    "size": "how many elements there are, where values are traced",
    "fill_value": "what stands where there are fewer",
    "length": "the length of a result, where values are traced",
    "total_repeat_length": "the same",
    "identity": "that of frompyfunc by name",
    "inplace": "that nothing is overwritten",
    "mode": "what is done about positions outside",
    "wrap_negative_indices": "the same",
    **dict.fromkeys(("unique_indices", "assume_unique_indices"), "a promise about positions"),
    "indices_are_sorted": "the same",
    **dict.fromkeys(("symmetrize_input", "trim_leading_zeros"), "as in JAX"),
    "dtype": "as in the array API",
    "device": "as in the array API",
    **dict.fromkeys(("constant_values", "end_values", "stat_length", "reflect_type"), "those of pad by name"),
    **dict.fromkeys(("casting", "order"), "those of einsum by name"),
}
# Different names of positional arguments, and functions written in C.
OTHER_NAMES = {"arange", "finfo", "iinfo", "issubdtype", "from_dlpack", "fft.fftfreq"}
# lawful's functions have the arguments of NumPy 2.5. These were added, removed or given a default since 2.1.
CHANGED = {
    "argsort": {"descending"},
    "corrcoef": {"bias", "ddof"},
    **{name: {"interpolation"} for name in ("nanpercentile", "nanquantile", "percentile", "quantile")},
    "reshape": {"shape", "newshape"},
    "sort": {"descending"},
    "take_along_axis": {"axis"},
    "trim_zeros": {"axis"},
    "unique": {"sorted"},
}


def both_parameters(name: str) -> list[dict[str, inspect.Parameter]]:
    """The parameters of lawful's and of NumPy's function, without those that an earlier NumPy has otherwise."""
    ours, theirs = BOTH[name]
    try:
        signatures = inspect.signature(ours), inspect.signature(theirs)
    except ValueError as error:
        if not is_newer("2.4.0"):
            raise
        pytest.skip(f"functions written in C have signatures since NumPy 2.4: {error}")
    if is_newer("2.4.0") and [*signatures[1].parameters] == ["args", "kwargs"]:
        pytest.skip("Python 3.14 has this signature for a function written in C without one")
    changed = CHANGED.get(name, set()) if is_newer("2.5.0") else set()
    return [{key: p for key, p in signature.parameters.items() if key not in changed} for signature in signatures]


@pytest.mark.parametrize("name", [n for n in BOTH if n not in OTHER_NAMES])
def test_signature_arguments_are_numpy_s(name: str):
    ours, theirs = both_parameters(name)
    if isinstance(BOTH[name][1], numpy.ufunc):  # the others are about memory, or refused: test_numpy_protocols.py
        theirs = {key: p for key, p in theirs.items() if p.kind is p.POSITIONAL_ONLY or key in ours}
    assert {key for key in theirs if key not in ours} <= LEFT_OUT.keys(), "left out"
    assert {key for key in ours if key not in theirs} <= ADDED.keys(), "added"
    common = [key for key in theirs if key in ours]
    # Positional arguments agree up to the first one that is left out.
    for argnum, key in enumerate(theirs):
        if key not in ours or theirs[key].kind is inspect.Parameter.KEYWORD_ONLY:
            break
        assert list(ours)[argnum] == key
        assert ours[key].kind is not inspect.Parameter.KEYWORD_ONLY
    assert [key for key in ours if key in theirs] == common or "device" in common


@pytest.mark.parametrize("name", BOTH)
def test_signature_defaults_are_numpy_s(name: str):
    """Except for None where NumPy has a sentinel for a missing argument."""
    ours, theirs = both_parameters(name)
    for key in ours.keys() & theirs.keys():
        default, wanted = ours[key].default, theirs[key].default
        if wanted is inspect.Parameter.empty or default is inspect.Parameter.empty:
            assert default is wanted or name in OTHER_NAMES
        elif default is not None and key not in DEFAULTS.get(name, ()):
            assert default == wanted or wanted is numpy._NoValue or wanted is None, key


# Different defaults: of sorting as in the array API, of products of arrays as in JAX.
DEFAULTS = {"sort": {"stable"}, "argsort": {"stable"}, "einsum": {"optimize"}}


def test_signature_exceptions_are_needed():
    """Every reason is used by a function."""
    missing, added = set(), set()
    for name in BOTH:
        have, want = both_parameters(name)
        missing |= {key for key in want if key not in have}
        added |= {key for key in have if key not in want}
    assert LEFT_OUT.keys() <= missing
    assert ADDED.keys() <= added


def test_left_out_names():
    """Every public name of NumPy is supported, or is listed with a reason in `lawful.numpy._left_out`."""
    from lawful.numpy._left_out import left_out

    public = {name for name in numpy.__all__ if not name.startswith("_") or name == "__version__"}
    assert public - set(lnp.__all__) == set(left_out) & public
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
