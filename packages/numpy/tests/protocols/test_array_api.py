"""The parts of the Python array API beyond NumPy's functions: dtypes, different elements, exchange, devices."""

import array
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import ConcretizationTypeError, TracerArrayConversionError
from lawful.staging import jit

X = numpy.array([[3.0, 1.0, numpy.nan], [1.0, -0.0, 0.0]])


def staged(function: Any) -> Any:
    return jit(function, backend="numpy")


class TestDtypes:
    @pytest.mark.parametrize("dtype", ["float16", "float32", "complex128", numpy.float64])
    def test_finfo_is_numpy_s(self, dtype: Any):
        assert lnp.finfo(dtype) is numpy.finfo(dtype)

    def test_finfo_of_arrays_and_tracers(self):
        assert lnp.finfo(X.astype("float32")).bits == 32
        assert lnp.iinfo(numpy.int8(1)).max == 127
        assert staged(lambda x: x * lnp.finfo(x).eps)(numpy.float32(1.0)) == numpy.finfo("float32").eps
        assert staged(lambda x: x * 0 + lnp.iinfo(x).max)(numpy.uint8(1)) == 255
        assert lnp.finfo(lnp.bfloat16).bits == 16

    def test_finfo_iinfo_errors(self):
        with pytest.raises(TypeError, match="use iinfo"):
            lnp.finfo("int32")
        with pytest.raises(TypeError, match="use finfo"):
            lnp.iinfo("float32")

    def test_can_cast(self):
        assert staged(lambda x: x + lnp.can_cast(x, "float64"))(numpy.float32(1.0)) == 2.0
        assert lnp.can_cast("int64", "float32") is numpy.can_cast("int64", "float32")
        assert lnp.can_cast("float64", "float32", "same_kind")
        assert lnp.can_cast(lnp.bfloat16, "float32")
        with pytest.raises(TypeError, match="give its dtype"):
            lnp.can_cast(1.0, "float32")
        with pytest.raises(ValueError, match="same_kind"):
            lnp.can_cast("float64", "float32", "some_kind")

    def test_isdtype(self):
        assert lnp.isdtype(lnp.bfloat16, "real floating")
        assert lnp.isdtype("int8", ("bool", numpy.dtype("int8")))
        assert not lnp.isdtype("bool", "numeric")
        with pytest.raises(ValueError, match="'signed integer'"):
            lnp.isdtype("int8", "integer")


class TestSignsOfZero:
    CASES = (
        (0.0, 2.0),
        (-0.0, 2.0),
        (0.0, -2.0),
        (-0.0, -2.0),
        (4.0, -2.0),
        (-4.0, 2.0),
        (-1.0, -2.0),
        (1.0, numpy.inf),
    )

    @pytest.mark.parametrize("name", ["remainder", "floor_divide"])
    @pytest.mark.parametrize(("x", "y"), CASES)
    def test_signs_of_zero_are_numpy_s(self, name: str, x: float, y: float):
        want = getattr(numpy, name)(x, y)
        got = staged(getattr(lnp, name))(x, y)
        assert got == want
        assert numpy.signbit(got) == numpy.signbit(want)

    @pytest.mark.parametrize(("x", "y"), CASES)
    def test_remainder_derivatives_ignore_the_sign_of_zero(self, x: float, y: float):
        assert grad(lnp.remainder)(x, y) == 1.0
        assert vmap(grad(lnp.remainder))(numpy.array([x]), numpy.array([y])) == 1.0
        assert grad(lnp.floor_divide)(x, y) == 0.0


class TestDifferentElements:
    def test_unique_values_of_nans(self):
        twice = numpy.concatenate([X, X])
        numpy.testing.assert_array_equal(lnp.unique_values(twice), [0.0, 1.0, 3.0, numpy.nan, numpy.nan])
        values, positions, inverse, counts = lnp.unique_all(X)
        numpy.testing.assert_array_equal(values, [0.0, 1.0, 3.0, numpy.nan])
        numpy.testing.assert_array_equal(positions, [4, 1, 0, 2])
        numpy.testing.assert_array_equal(counts, [2, 2, 1, 1])
        numpy.testing.assert_array_equal(values[inverse], X)

    @pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse", "unique_values"])
    def test_unique_with_size(self, name: str):
        function = getattr(lnp, name)
        want = function(X)
        for run in (function, staged(lambda x, **kwargs: function(x, **kwargs))):
            got = run(X, size=4) if run is function else staged(lambda x: function(x, size=4))(X)
            assert type(got) is type(want)
            for have, wanted in zip(tuple(got), tuple(want), strict=True):
                numpy.testing.assert_array_equal(have, wanted)
                assert have.dtype == wanted.dtype

    @pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse", "unique_values"])
    def test_unique_traced_without_size(self, name: str):
        function = getattr(lnp, name)
        for transform in (staged, vmap):
            with pytest.raises(ConcretizationTypeError, match=rf"{name}\(x, size=n\)"):
                transform(function)(X)

    def test_unique_derivative(self):
        slope = grad(lambda x: lnp.sum(lnp.unique_values(x) ** 2))(numpy.array([3.0, 1.0, 3.0]))
        numpy.testing.assert_array_equal(slope, [6.0, 2.0, 0.0])


class TestExchange:
    def test_from_dlpack_shares_memory_unless_copy(self):
        x = numpy.arange(3.0)
        assert numpy.shares_memory(lnp.from_dlpack(x), x)
        assert not numpy.shares_memory(lnp.from_dlpack(x, copy=True), x)

    def test_from_dlpack_of_a_tracer(self):
        for read in (lnp.from_dlpack, lambda x: x.__dlpack_device__()):
            with pytest.raises(TracerArrayConversionError, match="from_dlpack"):
                staged(read)(X)

    def test_asarray_of_buffers(self):
        numbers = array.array("d", [1.0, 2.0])
        assert numpy.shares_memory(lnp.asarray(numbers), numbers)
        numpy.testing.assert_array_equal(lnp.asarray(memoryview(b"ab")), [97, 98])

    def test_asarray_copy_false(self):
        x = numpy.arange(3.0)
        assert lnp.asarray(x, copy=False) is x
        assert not numpy.shares_memory(lnp.asarray(x, copy=True), x)
        assert staged(lambda x: lnp.asarray(x, copy=False))(x).shape == (3,)
        for run in (lnp.asarray, lambda *args, **kwargs: staged(lambda x: lnp.asarray(x, *args[1:], **kwargs))(x)):
            with pytest.raises(ValueError, match="leave out copy=False"):
                run(x, "float32", copy=False)
        with pytest.raises(ValueError, match="leave out copy=False"):
            lnp.asarray([1.0], copy=False)
        assert numpy.shares_memory(lnp.reshape(X, (3, 2), copy=False), X)
        assert not numpy.shares_memory(lnp.reshape(X, (3, 2), copy=True), X)
        with pytest.raises(ValueError, match="leave out copy=False"):
            lnp.reshape(X.T, (6,), copy=False)


class TestDevices:
    CALLS = (
        lambda device: lnp.asarray([1.0], device=device),
        lambda device: lnp.zeros(2, device=device),
        lambda device: lnp.ones_like(X, device=device),
        lambda device: lnp.empty(2, device=device),
        lambda device: lnp.full(2, X[0, :2], device=device),
        lambda device: lnp.arange(3, device=device),
        lambda device: lnp.linspace(0, 1, 3, device=device),
        lambda device: lnp.eye(2, device=device),
        lambda device: lnp.astype(X, "float32", device=device),
        lambda device: lnp.from_dlpack(X, device=device),
        lambda device: lnp.fft.fftfreq(3, device=device),
        lambda device: lnp.fft.rfftfreq(3, device=device),
    )

    @pytest.mark.parametrize("call", CALLS)
    def test_device_of_numpy_arrays(self, call: Any):
        assert call("cpu").device == "cpu"
        with pytest.raises((ValueError, BufferError), match="device"):
            call("gpu:7")

    def test_device_of_a_tracer(self):
        seen = []

        def function(x: Any) -> Any:
            seen.append(x.device)
            return lnp.zeros(2, device=x.device) + x.to_device(x.device)

        staged(function)(1.0)
        jvp(function, (1.0,), (1.0,))
        assert seen == [None, "cpu"]

    def test_to_device_in_a_staged_function(self):
        for transform in (staged, grad):
            with pytest.raises(ValueError, match="to_device: expected a device"):
                transform(lambda x: x.to_device("gpu:7"))(1.0)
            with pytest.raises(TypeError, match="no stream"):
                transform(lambda x: x.to_device("cpu", stream=1))(1.0)


class TestInformation:
    def test_array_api_version(self):
        def function(x: Any) -> Any:
            assert x.__array_namespace__() is lnp
            assert x.__array_namespace__(api_version=lnp.__array_api_version__) is lnp
            return x

        staged(function)(1.0)
        grad(function)(1.0)
        with pytest.raises(ValueError, match=r"2024\.12"):
            grad(lambda x: x.__array_namespace__(api_version="1999.12"))(1.0)

    def test_array_namespace_info_dtypes(self):
        info = lnp.__array_namespace_info__()
        assert list(info.dtypes(kind=("bool", "complex floating"))) == ["bool", "complex64", "complex128"]
        assert info.default_dtypes(device="cpu")["indexing"] == numpy.int64
        assert info.default_device() in info.devices()
        with pytest.raises(ValueError, match="kind"):
            info.dtypes(kind=numpy.float32)
        with pytest.raises(ValueError, match="device"):
            info.dtypes(device="gpu:7")

    def test_capabilities_data_dependent_shapes(self):
        """Data-dependent shapes are possible where values are known, and not in a staged function."""
        info = lnp.__array_namespace_info__()
        known: list[Any] = []
        staged(lambda x: known.append(info.capabilities()["data-dependent shapes"]) or x)(1.0)
        grad(lambda x: known.append(info.capabilities()["data-dependent shapes"]) or x)(1.0)
        assert known == [False, True]
