"""`lawful.fft`: SciPy's values of all types and norms; compiled, batched and differentiated."""

import itertools

import numpy as np
import pytest
import scipy.fft

from lawful import fft
from lawful.core import ArgumentValueError, as_dtype
from lawful.ops import AxisError

from ._held import agree, held

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward", None])
def test_dct_is_that_of_scipy(kind: int, norm: str | None) -> None:
    for size, n, name in itertools.product((2, 3, 4, 5, 8), (None, 2, 7), ("dct", "idct")):
        x = RANDOM.normal(size=(size, 2)) + 1j * RANDOM.normal(size=(size, 2))
        for given in (x, x.real):
            expected = getattr(scipy.fft, name)(given, kind, n, 0, norm)
            agree(getattr(fft, name)(given, kind, n, 0, norm), expected)
    if kind > 1:
        agree(fft.dct(np.array([3.0]), kind, norm=norm), scipy.fft.dct(np.array([3.0]), kind, norm=norm))


@pytest.mark.parametrize("name", ["dctn", "idctn"])
def test_dctn_is_that_of_scipy(name: str) -> None:
    x = RANDOM.normal(size=(2, 3, 4))
    for kwargs in ({}, {"s": (5,)}, {"s": (3, 6)}, {"axes": (0, 2)}, {"axes": 0}, {"s": (2, 2), "axes": (1, 0)}):
        agree(getattr(fft, name)(x, **kwargs), getattr(scipy.fft, name)(x, **kwargs))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "complex64"])
def test_dct_of_dtypes(dtype: str) -> None:
    x = (3 * RANDOM.normal(size=6)).astype(as_dtype(dtype))
    wide = fft.dct(x.astype(complex if dtype == "complex64" else float))
    expected = "complex64" if dtype == "complex64" else "float64" if x.dtype.kind in "biu" else "float32"
    agree(fft.dct(x), wide.astype(expected))


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_dct_derivatives_batches_and_programs(kind: int) -> None:
    held(lambda x: fft.dct(x, kind, norm="ortho"), (RANDOM.normal(size=(2, 5)),))
    if kind == 2:
        held(lambda x: fft.idctn(x, s=(2, 3)), (RANDOM.normal(size=(2, 2)),), order=1)


def test_dct_refuses_wrong_arguments() -> None:
    x = np.ones(4)
    for call in (
        lambda: fft.dct(x, 5),
        lambda: fft.dct(x, norm="some"),
        lambda: fft.dct(x, n=0),
        lambda: fft.dct(x[:1], 1),
        lambda: fft.dctn(x, s=(1, 2), axes=(0,)),
    ):
        with pytest.raises(ArgumentValueError, match="expected"):
            call()
    with pytest.raises(AxisError):
        fft.dct(x, axis=1)
