"""No function of the standard is without a spec, and the checks can fail."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import lawful.numpy as lnp

from .specs import SPECS
from .specs.arrays import ALL
from .specs.calls import Call
from .specs.reference import VERSION, find
from .specs.spec import check_eager, check_staged

#: Names of the standard that are not functions of arrays.
OTHERS = {"e", "inf", "nan", "newaxis", "pi", "fft", "linalg", "Device", *ALL}
#: Names of array-api-strict from a later version of the standard.
LATER = {"isin", "broadcast_shapes"}
#: array-api-strict's own switches.
SWITCHES = {name for name in strict.__all__ if "flags" in name.lower()}


def functions() -> list[str]:
    """Returns the names of all functions of the standard."""
    main = [name for name in strict.__all__ if not name.startswith("__")]
    named = [name for name in main if name not in OTHERS | LATER | SWITCHES]
    extensions = {"linalg": strict.linalg, "fft": strict.fft}
    return named + [f"{name}.{function}" for name, module in extensions.items() for function in module.__all__]


def test_array_api_every_function_has_a_spec() -> None:
    assert len(functions()) > 160
    assert set(functions()) <= SPECS.keys()


@pytest.mark.parametrize("name", functions())
def test_array_api_signature_takes_arguments_of_the_standard(name: str) -> None:
    """Each argument of the standard is taken by position or by name, as the standard says."""
    ours = inspect.signature(find(lnp, name))
    positional, named = [], {}
    for parameter in inspect.signature(find(strict, name)).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = None
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            positional.append(None)
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                ours.bind_partial(**{parameter.name: None})
    ours.bind(*positional, **named)


def test_array_api_constants_and_dtypes() -> None:
    for name in ("e", "inf", "pi"):
        assert getattr(lnp, name) == getattr(strict, name)
    assert np.isnan(lnp.nan)
    assert lnp.newaxis is None
    for name in ALL:
        assert np.dtype(getattr(lnp, name)) == np.dtype(name)
    assert lnp.__array_api_version__ == VERSION


# The checks


X = np.array([[1.0, -2.0], [0.0, np.nan]], "float32")

#: A call, and a faulty function, which gets the right function and the arguments.
FAULTS: dict[str, tuple[str, Call, Callable[..., Any]]] = {
    "a value": ("abs", Call((X,)), lambda right, x: right(x) * np.float32(1.00001)),
    "the sign of zero": ("negative", Call((X,)), lambda right, x: lnp.where(x == 0, np.float32(0), right(x))),
    "a NaN": ("abs", Call((X,)), lambda right, x: lnp.where(lnp.isnan(x), np.float32(0), right(x))),
    "a dtype": ("abs", Call((X,)), lambda right, x: lnp.astype(right(x), "float64")),
    "a narrow sum": ("sum", Call((np.ones(3, "int8"),)), lambda right, x: right(x, dtype=np.int8)),
    "a shape": ("abs", Call((X,)), lambda right, x: lnp.expand_dims(right(x), 0)),
    "a kept dimension": ("sum", Call((X,), {"keepdims": True}), lambda right, x, keepdims: right(x)),
    "the number of results": ("unstack", Call((X,)), lambda right, x: right(x)[:1]),
    "the fields of results": ("linalg.slogdet", Call((np.eye(2),)), lambda right, x: tuple(right(x))),
    "an array": ("ones", Call(((),)), lambda right, shape: 1.0),
    "an error in a sum": ("sum", Call((np.arange(4.0),)), lambda right, x: right(x) + 1e-12),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("run", ["eager", "numpy", "xla"])
def test_array_api_checks_find(name: str, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, call, fault = FAULTS[name]
    spec = SPECS[path]
    check: Callable[[], None] = (
        (lambda: check_eager(spec, call)) if run == "eager" else (lambda: check_staged(spec, [call], run))
    )
    check()
    module, _, member = path.rpartition(".")
    where = lnp.linalg if module else lnp
    right = getattr(where, member)
    monkeypatch.setattr(where, member, lambda *args, **kwargs: fault(right, *args, **kwargs))
    with pytest.raises(AssertionError, match=path):
        check()
