"""Libraries that are written for the standard find the namespace of whatever array they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat
import array_api_strict as strict
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, linearize
from lawful.batching import vmap
from lawful.staging import jit
from lawful.xla_backend import device_put, devices

X = np.array([1.0, 2.0, 3.0])

TRANSFORMS: dict[str, Callable[..., Any]] = {
    "jit": jit,
    "grad": grad,
    "vmap": lambda f: lambda x: vmap(f)(np.stack([x, x])),
    "linearize": lambda f: lambda x: linearize(f, x),
    "grad of vmap of jit": lambda f: grad(lambda x: lnp.sum(vmap(jit(f))(lnp.stack([x, x])))),
}


def softmax_entropy(x: Any) -> Any:
    """A library's function: it imports no array library."""
    xp = array_api_compat.array_namespace(x, 1.0, None)
    shifted = x - xp.max(x, axis=-1, keepdims=True)
    weights = xp.exp(shifted) / xp.sum(xp.exp(shifted), axis=-1, keepdims=True)
    zero = xp.zeros((), dtype=x.dtype, device=array_api_compat.device(x))
    if not xp.isdtype(x.dtype, "real floating"):
        raise TypeError
    return zero - xp.vecdot(weights, xp.log(weights))


@pytest.mark.parametrize("name", TRANSFORMS)
def test_array_api_of_tracers(name: str) -> None:
    seen: list[Any] = []

    def function(x: Any) -> Any:
        seen.append(array_api_compat.array_namespace(x, x + 1, 2))
        assert array_api_compat.is_array_api_obj(x)
        assert array_api_compat.size(x) == 3
        return softmax_entropy(x)

    TRANSFORMS[name](function)(X)
    assert seen == [lnp]


def test_array_api_of_device_arrays() -> None:
    x = device_put(X)
    assert array_api_compat.array_namespace(x) is lnp
    assert array_api_compat.device(x) == devices()[0]
    np.testing.assert_allclose(softmax_entropy(x), softmax_entropy(X), rtol=1e-15)


def test_array_api_library_differentiates_and_compiles() -> None:
    step = 1e-6
    direction = np.array([0.3, -0.2, 0.5])
    slope = (softmax_entropy(X + step * direction) - softmax_entropy(X - step * direction)) / (2 * step)
    np.testing.assert_allclose(np.sum(grad(softmax_entropy)(X) * direction), slope, rtol=1e-8)
    np.testing.assert_allclose(jit(softmax_entropy)(X), softmax_entropy(X), rtol=1e-14)


@pytest.mark.parametrize("version", ["2021.12", "2022.12", "2023.12", "2024.12"])
def test_array_api_versions(version: str) -> None:
    assert device_put(X).__array_namespace__(api_version=version) is lnp


def test_array_api_unknown_versions() -> None:
    with pytest.raises(ValueError, match=r"2024\.12"):
        device_put(X).__array_namespace__(api_version="2019.12")


def test_array_api_information_is_that_of_the_reference() -> None:
    ours = lnp.__array_namespace_info__()
    with strict.ArrayAPIStrictFlags(api_version="2024.12"):
        theirs = strict.__array_namespace_info__()
        assert ours.capabilities() == theirs.capabilities()
        kinds = [None, "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating"]
        for kind in (*kinds, "numeric", ("bool", "real floating")):
            assert ours.dtypes(kind=kind).keys() == theirs.dtypes(kind=kind).keys()
        assert ours.dtypes() == {name: np.dtype(name) for name in theirs.dtypes()}
        default = {kind: str(dtype).rpartition(".")[2] for kind, dtype in theirs.default_dtypes().items()}
        assert ours.default_dtypes() == default
    assert lnp.zeros(1, device=ours.default_device()).device in ours.devices()
