"""Fourier transforms equal those of ``numpy.fft``: values, dtypes, arguments, errors; compiled and by NumPy's name."""

import itertools
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.core import LawfulError
from lawful.staging import jit

generator = numpy.random.default_rng(0)
REAL = generator.normal(size=(3, 4, 5))
COMPLEX = REAL + 1j * generator.normal(size=(3, 4, 5))
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn")
TWO = ("fft2", "ifft2", "rfft2", "irfft2")
NORMS = (None, "backward", "ortho", "forward")
OF_REALS = ("rfft", "ihfft", "rfftn", "rfft2")


def arguments(name: str) -> list[numpy.ndarray[Any, Any]]:
    real = [REAL, REAL.astype("float32"), REAL.astype("float16"), (REAL * 3).astype("int8"), REAL > 0]
    return real if name in OF_REALS else [*real, COMPLEX, COMPLEX.astype("complex64")]


def check(name: str, x: Any, *, xla: bool = True, **kwargs: Any) -> None:
    """Compares eager, compiled and mapped calls with NumPy's, and NumPy's function of a tracer."""
    expected = getattr(numpy.fft, name)(x, **kwargs)
    ours = getattr(lnp.fft, name)
    results = [
        ours(x, **kwargs),
        jit(lambda x: ours(x, **kwargs), backend=None if xla else "numpy")(x),
        jit(lambda x: getattr(numpy.fft, name)(x, **kwargs), backend="numpy")(x),
    ]
    if name not in ("fftn", "ifftn", "rfftn", "irfftn") or "axes" in kwargs:
        mapped = {"axis": -1} if name in ONE else {}
        axes_are_negative = all(axis < 0 for axis in numpy.atleast_1d(kwargs.get("axes", kwargs.get("axis", -1))))
        if axes_are_negative:
            results.append(vmap(lambda x: ours(x, **{**mapped, **kwargs}))(x))
    for got in results:
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        wide = expected.dtype in (numpy.float64, numpy.complex128)
        # For float16 NumPy rounds the factor 1 / n to half precision.
        tolerance = 1e-12 if wide else 2e-2 if x.dtype == numpy.float16 else 1e-4
        numpy.testing.assert_allclose(numpy.asarray(got), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ONE)
def test_fft_of_one_dimension(name: str) -> None:
    for x in arguments(name):
        check(name, x)
    for n, axis, norm in itertools.product((None, 1, 2, 7), (-1, 1), NORMS):
        check(name, REAL, xla=n == 7, n=n, axis=axis, norm=norm)


@pytest.mark.parametrize("name", MANY)
def test_fftn(name: str) -> None:
    for x in arguments(name):
        check(name, x)
    for s, axes in (
        (None, (0, 2)),
        ((2, 7), (2, 0)),
        ((-1, 3), (-1, -2)),
        (None, (1,)),
        (None, (1, 2, 1)),
        ((3, 5), (1, 1)),
    ):
        for norm in NORMS:
            check(name, REAL, xla=norm == "ortho", s=s, axes=axes, norm=norm)


@pytest.mark.parametrize("name", TWO)
def test_fft2(name: str) -> None:
    for x in arguments(name):
        check(name, x)
    for s, axes, norm in itertools.product((None, (3, 6)), ((-2, -1), (2, 0)), NORMS):
        check(name, REAL, xla=norm == "ortho", s=s, axes=axes, norm=norm)


def test_fftn_of_more_than_three_dimensions() -> None:
    x = generator.normal(size=(2, 3, 2, 1, 3))
    for name in MANY:
        check(name, x)


@pytest.mark.parametrize("name", [*TWO, *MANY])
def test_fftn_deprecated_arguments_warn(name: str) -> None:
    for s, axes in (((4, 4), None), ((None, 4), (0, 1))):
        with pytest.warns(DeprecationWarning, match="NumPy 2.0"):
            expected = getattr(numpy.fft, name)(REAL, s, axes)
        with pytest.warns(DeprecationWarning, match="NumPy 2.0"):
            got = jit(lambda x, s=s, axes=axes: getattr(lnp.fft, name)(x, s, axes))(REAL)
        numpy.testing.assert_allclose(numpy.asarray(got), expected, atol=1e-12)


def test_fftn_without_axes() -> None:
    assert numpy.array_equal(jit(lambda x: lnp.fft.fftn(x, axes=()))(REAL), numpy.fft.fftn(REAL, axes=()))
    assert jit(lnp.fft.fftn)(numpy.float64(2.0)) == numpy.fft.fftn(numpy.float64(2.0)) == 2.0


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_fftfreq(n: int) -> None:
    for name, d in itertools.product(("fftfreq", "rfftfreq"), (1.0, 0.1, 2, numpy.float32(0.3))):
        ours = getattr(lnp.fft, name)
        if n == 0 and isinstance(d, numpy.float32):
            continue
        if n == 0:
            with pytest.raises(ZeroDivisionError):
                ours(n, d)
            continue
        expected = getattr(numpy.fft, name)(n, d)
        for got in (ours(n, d), jit(lambda d, ours=ours: ours(n, d))(d), jit(lambda ours=ours, d=d: ours(n, d))()):
            assert got.dtype == expected.dtype
            numpy.testing.assert_allclose(numpy.asarray(got), expected, rtol=1e-15)
        assert ours(n, dtype="float32").dtype == "float32"
    assert grad(lambda d: lnp.fft.fftfreq(4, d)[1])(0.5) == -1.0


@pytest.mark.parametrize("axes", [None, 0, -1, (0, 2), (1, 1), ()])
def test_fftshift(axes: Any) -> None:
    for name in ("fftshift", "ifftshift"):
        expected = getattr(numpy.fft, name)(REAL, axes)
        for module in (lnp.fft, numpy.fft):
            got = jit(lambda x, module=module, name=name: getattr(module, name)(x, axes))(REAL)
            assert numpy.array_equal(numpy.asarray(got), expected)
        assert numpy.array_equal(getattr(lnp.fft, name)(REAL, axes), expected)
    assert numpy.array_equal(lnp.fft.ifftshift(lnp.fft.fftshift(REAL, axes), axes), REAL)


ERRORS: dict[str, Any] = {
    "no points": lambda np, x: np.fft.fft(x, 0),
    "no points by default": lambda np, x: np.fft.irfft(x[..., :1]),
    "no such axis": lambda np, x: np.fft.fft(x, axis=3),
    "no such axis of many": lambda np, x: np.fft.fftn(x, axes=(0, 3)),
    "no such axis with a length": lambda np, x: np.fft.rfft(x, 4, axis=3),
    "norm": lambda np, x: np.fft.fft(x, norm="unitary"),
    "norm of hfft": lambda np, x: np.fft.hfft(x, norm="unitary"),
    "norm of ihfft": lambda np, x: np.fft.ihfft(x, norm="unitary"),
    "sizes and axes": lambda np, x: np.fft.fftn(x, (2, 3), (0,)),
    "complex": lambda np, x: np.fft.rfft(x * 1j),
    "complex ihfft": lambda np, x: np.fft.ihfft(x * 1j),
    "length that is no integer": lambda np, x: np.fft.fft(x, 2.5),
    "scalar": lambda np, x: np.fft.fft(x[0, 0, 0]),
    "no axes of a real transform": lambda np, x: np.fft.rfftn(x, axes=()),
    "axis to shift": lambda np, x: np.fft.fftshift(x, 3),
    "number of samples": lambda np, x: np.fft.fftfreq(2.5),
}


@pytest.mark.parametrize("call", ERRORS.values(), ids=list(ERRORS))
def test_fft_errors_are_of_numpy_s_class(call: Any) -> None:
    with pytest.raises((TypeError, ValueError, IndexError)) as theirs:
        call(numpy, REAL)
    for run in (call, lambda np, x: jit(lambda x: call(np, x))(x)):
        with pytest.raises(LawfulError) as ours:
            run(lnp, REAL)
        assert any(
            isinstance(ours.value, base) and issubclass(theirs.type, base)
            for base in (TypeError, ValueError, IndexError)
        )


def test_fft_gradients_are_finite_differences() -> None:
    weights = COMPLEX[..., :3]

    def loss(x: Any) -> Any:
        spectrum = lnp.fft.rfftn(x, norm="ortho")
        return lnp.sum(lnp.abs(lnp.fft.irfft2(spectrum * weights, (3, 6), norm="forward")) ** 2)

    direction = generator.normal(size=REAL.shape)
    step = 1e-5
    slope = (loss(REAL + step * direction) - loss(REAL - step * direction)) / (2 * step)
    numpy.testing.assert_allclose(numpy.sum(grad(loss)(REAL) * direction), slope, rtol=1e-6)
    numpy.testing.assert_allclose(numpy.sum(jit(grad(loss))(REAL) * direction), slope, rtol=1e-6)
