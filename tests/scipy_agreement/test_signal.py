"""`lawful.signal`: SciPy's values; compiled, batched and differentiated."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.signal

import lawful.numpy as lnp
from lawful import signal
from lawful.core import ArgumentValueError, as_dtype, get_aval
from lawful.signal._windows import _ALIASES, _COSINES, _FUNCTIONS, window

from ._held import agree, held

RANDOM = np.random.default_rng(0)
MODES = "full", "same", "valid"
REAL, COMPLEX = RANDOM.normal(size=(3, 50)), RANDOM.normal(size=(50, 2)) + 1j * RANDOM.normal(size=(50, 2))
DTYPES = "bool", "int8", "uint32", "int64", "float16", "bfloat16", "float32", "complex64"


def numbers(*shape: int, complex_: bool = False) -> Any:
    return RANDOM.normal(size=shape) + (1j * RANDOM.normal(size=shape) if complex_ else 0)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["direct", "fft"])
def test_convolve_is_that_of_scipy(name: str, mode: str, method: str) -> None:
    shapes = [*itertools.product([(1,), (2,), (5,)], repeat=2), *itertools.product([(2, 3), (4, 4), (5, 4)], repeat=2)]
    for first, second in [*shapes, ((3, 4, 2), (2, 2, 2)), ((), ())]:
        for complex_ in (False, True):
            x, y = numbers(*first, complex_=complex_), numbers(*second, complex_=complex_)
            expected = getattr(scipy.signal, name)(x, y, mode, method)
            agree(getattr(signal, name)(x, y, mode, method), np.asarray(expected))


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("boundary", "fillvalue"), [("fill", 0), ("fill", 1.5), ("wrap", 0), ("symm", 0)])
def test_convolve2d_is_that_of_scipy(name: str, mode: str, boundary: str, fillvalue: float) -> None:
    for first, second in itertools.product([(2, 3), (4, 4), (5, 4)], repeat=2):
        x, y = numbers(*first, complex_=True), numbers(*second, complex_=True)
        expected = getattr(scipy.signal, name)(x, y, mode, boundary, fillvalue)
        agree(getattr(signal, name)(x, y, mode, boundary, fillvalue), expected)


def test_fftconvolve_along_axes() -> None:
    x, y = numbers(3, 5, 4), numbers(1, 2, 4)
    for axes, mode in itertools.product([1, (0, 1), [-1, 1], None], MODES):
        agree(signal.fftconvolve(x, y, mode, axes), scipy.signal.fftconvolve(x, y, mode, axes))


@pytest.mark.parametrize("dtype", DTYPES)
def test_signal_functions_promote_to_floats(dtype: str) -> None:
    x = (3 * np.abs(REAL[0, :12])).astype(as_dtype(dtype))
    expected = np.float64 if get_aval(x).dtype.kind in "biu" else get_aval(x).dtype
    exact = x.astype(np.complex128 if dtype == "complex64" else np.float64)
    for function in (signal.detrend, lambda x: signal.convolve(x, x), lambda x: signal.fftconvolve(x, x[:3])):
        assert get_aval(function(x)).dtype == expected
        agree(function(x), function(exact).astype(expected))
    spectra = np.complex128 if expected == np.float64 else np.complex64
    transforms = signal.stft(x, nperseg=4)[2]
    assert transforms.dtype == spectra
    agree(transforms, signal.stft(exact, nperseg=4)[2].astype(spectra), 1e-5)


def test_windows_are_those_of_scipy() -> None:
    parameters: dict[str, tuple[Any, ...]] = {
        "gaussian": (1.3,),
        "general_gaussian": (1.5, 2.0),
        "general_hamming": (0.6,),
        "kaiser": (3.0,),
        "general_cosine": ([0.4, 0.3, 0.2],),
    }
    named = [(name, *parameters.get(_ALIASES.get(name, name), ())) for name in [*_ALIASES, *_FUNCTIONS, *_COSINES]]
    for given in [*named, "hann", 3.5, ("tukey", 0.3), ("tukey", 0.0), ("tukey", 1.0), ("exponential", None, 2.0)]:
        for size in (1, 2, 3, 7, 8):
            expected = scipy.signal.get_window(given[0] if given == ("boxcar",) else given, size)
            np.testing.assert_allclose(window(given, size), expected, atol=1e-14)
    for wrong in ("hanning", ("gaussian",), ("hann", 1.0), ()):
        with pytest.raises(ArgumentValueError, match="window"):
            window(wrong, 4)


@pytest.mark.parametrize(("x", "axis"), [(REAL, -1), (COMPLEX, 0), (COMPLEX, -2)])
@pytest.mark.filterwarnings("ignore")  # SciPy warns of windows longer than the signal, and where none covers it
def test_stft_and_istft_are_those_of_scipy(x: Any, axis: int) -> None:
    for size, overlap, nfft, trend, boundary, padded in itertools.product(
        (8, 9, None),
        (None, 3),
        (None, 64),
        (False, "linear"),
        ("zeros", "even", "odd", "constant", None),
        (True, False),
    ):
        options = {"window": ("tukey", 0.3), "nperseg": size, "noverlap": overlap, "nfft": nfft, "fs": 2.5}
        both = {**options, "detrend": trend, "boundary": boundary, "padded": padded, "axis": axis}
        found, expected = signal.stft(x, **both), scipy.signal.stft(x, **both)
        agree(found, expected)
        inverse = {**options, "nperseg": size or 50, "input_onesided": x is REAL}
        inverse["freq_axis"] = axis - 1 if axis < 0 else axis
        agree(signal.istft(found[2], **inverse)[1], scipy.signal.istft(expected[2], **inverse)[1])


def test_istft_inverts_stft() -> None:
    for x in (REAL, COMPLEX.T):
        times, found = signal.istft(signal.stft(x, 10.0, nperseg=8)[2], 10.0, input_onesided=x is REAL)
        np.testing.assert_allclose(found[:, :50], x, atol=1e-12)
        np.testing.assert_allclose(times, np.arange(found.shape[1]) / 10)


@pytest.mark.parametrize(
    ("x", "y", "axis"), [(REAL, REAL[:, :40], -1), (COMPLEX, COMPLEX[:, :1], 0), (REAL, REAL, 1), (REAL[:1], REAL, -1)]
)
def test_csd_and_welch_are_those_of_scipy(x: Any, y: Any, axis: int) -> None:
    for size, overlap, nfft, trend, scaling, average, onesided in itertools.product(
        (8, 9),
        (None, 3),
        (None, 12),
        ("constant", lambda z: z - 2),
        ("density", "spectrum"),
        ("mean", "median"),
        (0, 1),
    ):
        options: dict[str, Any] = {"nperseg": size, "noverlap": overlap, "nfft": nfft, "detrend": trend, "fs": 2.5}
        options |= {"scaling": scaling, "average": average, "axis": axis, "return_onesided": bool(onesided)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of complex signals, whose spectra are two-sided
            frequencies, density = scipy.signal.csd(x, y, **options)
            agree(signal.csd(x, y, **options), (frequencies, density.astype(complex)))  # real if y is x, in SciPy
            agree(signal.welch(x, **options), scipy.signal.welch(x, **options))


def test_detrend_between_breakpoints() -> None:
    for bp in (0, [3, 10], [0, 50], [1, 2]):
        agree(signal.detrend(REAL, bp=bp), scipy.signal.detrend(REAL, bp=bp))
        agree(signal.detrend(COMPLEX, 0, bp=bp), scipy.signal.detrend(COMPLEX, 0, bp=bp))
    steep = (1000.0 * np.arange(60)).astype(np.float16)
    assert np.all(np.abs(signal.detrend(steep)) < 60)


SHORT, LONG = REAL[0, :5], REAL[:2, :12]
DIFFERENTIATED = {
    "convolve": (lambda x, y: signal.convolve(x, y, "same"), (SHORT, REAL[1, :4])),
    "correlate2d": (lambda x, y: signal.correlate2d(x, y, "same", "symm"), (LONG[:, :4], LONG[:, 4:6])),
    "fftconvolve": (signal.fftconvolve, (SHORT, SHORT[:2])),
    "detrend": (lambda x: signal.detrend(x, bp=[4]), (LONG,)),
    "stft": (lambda x, w: signal.stft(x, window=w, nperseg=4, boundary="odd")[2], (LONG, SHORT[:4])),
    "istft": (lambda z: signal.istft(z, nperseg=4)[1], (numbers(2, 3, 4, complex_=True),)),
    "csd": (lambda x, y, fs: signal.csd(x, y, fs, nperseg=4), (LONG, LONG[::-1], np.array(2.0))),
    "welch": (lambda x: signal.welch(x, nperseg=4, average="median"), (LONG,)),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_signal_derivatives_batches_and_programs(name: str) -> None:
    held(*DIFFERENTIATED[name])


def test_signal_refuses_wrong_arguments() -> None:
    x = lnp.ones(4)
    for call in (
        lambda: signal.convolve(x, x[None]),
        lambda: signal.convolve(x, x[:0]),
        lambda: signal.convolve(x, x, "some"),
        lambda: signal.convolve(x, x, method="slow"),
        lambda: signal.convolve(lnp.ones((2, 3)), lnp.ones((3, 2)), "valid"),
        lambda: signal.convolve2d(x, x),
        lambda: signal.correlate2d(x[None], x[None], boundary="reflect"),
        lambda: signal.fftconvolve(lnp.ones((2, 3)), lnp.ones((3, 3)), axes=1),
        lambda: signal.detrend(x, type="square"),
        lambda: signal.detrend(x, bp=5),
        lambda: signal.stft(x, nperseg=2, noverlap=2),
        lambda: signal.stft(x, window=lnp.ones(9)),
        lambda: signal.stft(x, nperseg=2, nfft=1),
        lambda: signal.stft(x, boundary="some"),
        lambda: signal.istft(lnp.ones((3, 3)), time_axis=0, freq_axis=0),
        lambda: signal.csd(x, x, scaling="some"),
        lambda: signal.welch(x, average="mode"),
    ):
        with pytest.raises(ArgumentValueError, match="expected"):
            call()
