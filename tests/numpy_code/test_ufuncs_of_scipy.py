"""SciPy's special functions of tracers call lawful's functions of the same names."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import lawful.special
from lawful.autodiff import grad, jvp, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, TracerArrayConversionError
from lawful.ops import register_ufuncs
from lawful.ops._numpy_protocol import libraries
from lawful.staging import jit, make_jaxpr

UFUNCS = sorted(
    name for name in lawful.special.__all__ if isinstance(getattr(scipy.special, name, None), np.ufunc)
)  # fmt: skip
X = np.array([0.2, 0.4, 0.7])


def arguments(name: str) -> list[Any]:
    others = {"betainc": [2.0, 3.0], "hyp1f1": [1.5, 2.5], "hyp2f1": [1.5, 0.5, 2.5], "expn": [2]}
    count = getattr(scipy.special, name).nin - 1
    return others.get(name, [1.5] * count)


def as_tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def test_ufuncs_of_scipy_are_many() -> None:
    assert len(UFUNCS) > 35


@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc_of_scipy_on_tracers(name: str) -> None:
    theirs, ours = getattr(scipy.special, name), getattr(lawful.special, name)
    args = arguments(name)
    expected = as_tuple(theirs(*args, X))
    runs: list[Callable[[Any], Any]] = [
        lambda f: vjp(f, X)[0],
        lambda f: jvp(f, (X,), (X,))[0],
        lambda f: jit(f, backend="numpy")(X),
        lambda f: vmap(f)(X),
    ]
    for run in runs:
        for found, wanted in zip(as_tuple(run(lambda x: theirs(*args, x))), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-11)
    if name != "gammasgn":
        tangents = [jvp(lambda x, f=f: f(*args, x), (X,), (X,))[1] for f in (theirs, ours)]
        for found, wanted in zip(*map(as_tuple, tangents), strict=True):
            # Where lawful.autograd is imported, its functions are run, which take SciPy's values.
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_ufunc_of_scipy_of_another_name() -> None:
    assert str(make_jaxpr(scipy.special.psi)(1.0)) == str(make_jaxpr(lawful.special.digamma)(1.0))
    found = vjp(lambda x: scipy.special.xlogy.outer(x, X), X)[0]
    np.testing.assert_allclose(found, scipy.special.xlogy.outer(X, X), rtol=1e-14)


def test_ufunc_that_lawful_has_not() -> None:
    with pytest.raises(ArgumentTypeError, match=r"scipy\.special\.airy: expected a function .*custom_jvp"):
        grad(lambda x: scipy.special.airy(x)[0])(1.0)
    gammaln = np.frompyfunc(lambda x: x, 1, 1)  # another library's, whatever its name
    with pytest.raises(ArgumentTypeError, match="expected a function that lawful has too"):
        grad(gammaln)(1.0)


def test_function_of_scipy_that_is_no_ufunc() -> None:
    words = r"scipy\.special\.polygamma: expected a NumPy array, .* use the function of lawful\.special"
    with pytest.raises(TracerArrayConversionError, match=words):
        grad(lambda x: scipy.special.polygamma(1, x))(1.0)


def test_register_ufuncs_asks_the_last_module_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_counterparts", {"scipy.special": ["lawful.special"], "no.such.library": []})
    monkeypatch.setattr(libraries, "found", {})
    libraries.counterpart(scipy.special.erf)
    assert libraries.found[scipy.special.erf] is lawful.special.erf
    register_ufuncs("scipy.special", "lawful.special.stats")
    assert libraries.found == {}
    assert libraries.counterpart(scipy.special.erf) is lawful.special.erf
    assert libraries._counterparts["scipy.special"] == ["lawful.special.stats", "lawful.special"]


@pytest.mark.parametrize("name", ["erf", "gammaln", "jv", "iv", "gammainc", "expit", "xlogy", "psi", "beta", "betainc"])
def test_ufunc_of_device_arrays_is_that_of_scipy(name: str) -> None:
    importlib.import_module("lawful.autograd.scipy.special")  # whose functions call SciPy's for values
    ufunc = getattr(scipy.special, name)
    x = np.array([0.3, 0.5])
    on_device = jit(lambda x: x + 0.0)(x)
    np.testing.assert_array_equal(ufunc(*[on_device] * ufunc.nin), ufunc(*[x] * ufunc.nin))


def test_keywords_of_ufuncs_are_refused_for_tracers() -> None:
    importlib.import_module("lawful.autograd.scipy.special")
    for options in ({"where": np.array([True, False])}, {"dtype": np.float64}):
        with pytest.raises(ArgumentTypeError, match="gammaln: expected arguments that lawful's function has too"):
            jvp(lambda x, options=options: scipy.special.gammaln(x, **options), (np.ones(2),), (np.ones(2),))
