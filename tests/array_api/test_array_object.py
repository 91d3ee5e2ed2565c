"""Methods and attributes of arrays: conversion to numbers, devices, exchange, assignment."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import jvp
from lawful.core import ConcretizationTypeError, TracerArrayConversionError
from lawful.staging import jit
from lawful.xla_backend import Array, device_put, devices

from .specs.arrays import ALL, pool

CONVERSIONS = (bool, int, float, complex, operator.index)


@pytest.mark.parametrize("convert", CONVERSIONS, ids=lambda convert: convert.__name__)
@pytest.mark.parametrize("dtype", ALL)
def test_array_api_numbers(dtype: str, convert: Callable[[Any], Any]) -> None:
    """A device array of one element is the number that the standard says; a tracer says why it is none."""
    for value in pool(dtype, "small")[:12]:
        x = np.asarray(value)
        try:
            want = convert(strict.asarray(x))
        except (TypeError, ValueError):
            with pytest.raises((TypeError, ValueError)):
                convert(device_put(x))
            continue
        got = convert(device_put(x))
        assert type(got) is type(want)
        assert got == want
        with pytest.raises(ConcretizationTypeError, match=r"expected a concrete value|integer scalar"):
            jit(convert)(x)


@pytest.mark.parametrize("convert", CONVERSIONS, ids=lambda convert: convert.__name__)
def test_array_api_several_elements_are_no_number(convert: Callable[[Any], Any]) -> None:
    x = np.array([1, 2])
    for array in (strict.asarray(x), device_put(x)):
        with pytest.raises((TypeError, ValueError)):
            convert(array)


def test_array_api_known_tracers_are_conditions_and_integers() -> None:
    seen: list[Any] = []

    def function(x: Any, n: Any) -> Any:
        seen.append((bool(x > 1.0), int(x), operator.index(n), range(5)[n]))
        return x

    jvp(function, (2.5, np.int32(3)), (1.0, np.zeros((), [("float0", "V", 0)])))
    assert seen == [(True, 2, 3, 3)]


OPERATORS = (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.ifloordiv)


@pytest.mark.parametrize("change", OPERATORS, ids=lambda change: change.__name__)
def test_array_api_assignments_with_an_operator_make_new_arrays(change: Callable[[Any, Any], Any]) -> None:
    x, y = np.array([3.0, 5.0]), np.array([2.0, 4.0])
    want = change(x.copy(), y)
    array = device_put(x)
    for got in (change(array, y), jit(change)(x, y)):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(array, x)


def test_array_api_items_are_not_assigned() -> None:
    for use in (lambda x: operator.setitem(x, 0, 1.0), lambda x: operator.setitem(x, slice(None), 1.0)):
        with pytest.raises(TypeError, match=r"x = x\.at\[\.\.\.\]\.set\(value\)"):
            use(device_put(np.ones(2)))
        with pytest.raises(TypeError, match=r"x = x\.at\[\.\.\.\]\.set\(value\)"):
            jit(use)(np.ones(2))


class TestDevices:
    def test_array_api_between_numpy_and_a_backend(self) -> None:
        (device, *_) = devices()
        x = np.ones(2)
        there = lnp.asarray(x, device=device)
        assert isinstance(there, Array)
        assert there.device == device
        assert there.to_device(device) is there
        back = there.to_device("cpu")
        assert type(back) is np.ndarray
        assert type(lnp.asarray(there, device="cpu")) is np.ndarray
        np.testing.assert_array_equal(back, x)

    @pytest.mark.parametrize(
        "make",
        [
            lambda device: lnp.zeros(2, device=device),
            lambda device: lnp.full_like(np.ones(2), 3, device=device),
            lambda device: lnp.arange(3, device=device),
            lambda device: lnp.linspace(0, 1, 3, device=device),
            lambda device: lnp.eye(2, device=device),
            lambda device: lnp.astype(np.ones(2), "float32", device=device),
            lambda device: lnp.from_dlpack(np.ones(2), device=device),
            lambda device: lnp.fft.fftfreq(3, device=device),
        ],
    )
    def test_array_api_where_arrays_are_made(self, make: Callable[[Any], Any]) -> None:
        (device, *_) = devices()
        made = make(device)
        assert made.device == device
        np.testing.assert_array_equal(made, make("cpu"))
        # In a program, all arrays are on the program's device.
        np.testing.assert_array_equal(jit(lambda: make(device))(), made)

    def test_array_api_no_such_device(self) -> None:
        x = device_put(np.ones(2))
        with pytest.raises(ValueError, match="expected a device"):
            x.to_device("gpu:7")
        with pytest.raises(ValueError, match="no stream"):
            x.to_device(x.device, stream=1)


class TestExchange:
    @pytest.mark.parametrize("dtype", ALL)
    def test_array_api_with_the_reference(self, dtype: str) -> None:
        x = pool(dtype, "small")
        there = strict.from_dlpack(device_put(x))
        np.testing.assert_array_equal(np.asarray(there), x)
        back = lnp.from_dlpack(there, copy=True)
        assert back.dtype == x.dtype
        np.testing.assert_array_equal(back, x)

    def test_array_api_copy_if_asked_for(self) -> None:
        x = device_put(np.ones(3))
        assert np.shares_memory(lnp.from_dlpack(x), np.asarray(x))
        assert not np.shares_memory(lnp.from_dlpack(x, copy=True), np.asarray(x))

    def test_array_api_tracers_stay_inside(self) -> None:
        for read in (lnp.from_dlpack, np.from_dlpack, strict.from_dlpack, lambda x: x.__dlpack__()):
            with pytest.raises(TracerArrayConversionError, match="from_dlpack"):
                jit(read)(np.ones(2))
