"""The determinant of lawful.autograd under reverse mode, which has an accelerator by one inverse."""

import sys
from types import FrameType
from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import elementwise_grad, grad, hessian, jacobian
from lawful.core import plain

A = numpy.array([[4.0, 1.0, 0.5, 0.0], [0.2, 3.0, 1.0, 0.1], [1.0, 0.3, 5.0, 0.7], [0.0, 0.4, 0.2, 2.0]])
MATRICES = {
    "regular": A,
    "two rows": A[:2, :2],
    "singular": numpy.outer(A[0], A[1]),
    "nearly singular": numpy.outer(A[0], A[1]) + 1e-9 * A,
    "huge": A * 1e120,
    "stack": numpy.stack([A, A.T]),
    "single": A.astype(numpy.float32),
    "complex": A + 1j * A.T,
}


@pytest.mark.parametrize("name", MATRICES)
def test_det_derivatives_agree_with_plain(name: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.real(np.linalg.det(x))) * 1.0

    def found() -> list[Any]:
        with numpy.errstate(all="ignore"):
            return [grad(f)(x), elementwise_grad(lambda x: np.real(grad(f)(x)))(x)]

    x = MATRICES[name]
    fast = found()
    with plain():
        expected = found()
    for one, wanted in zip(fast, expected, strict=True):
        assert one.dtype == wanted.dtype
        scale = numpy.max(numpy.abs(wanted))
        tolerance = 1e-5 if name == "single" else 1e-13
        assert numpy.array_equal(one, wanted, equal_nan=True) or numpy.max(numpy.abs(one - wanted)) <= tolerance * scale


def test_det_hessian() -> None:
    found = hessian(np.linalg.det)(A)
    assert numpy.allclose(found, found.transpose(2, 3, 0, 1))
    assert numpy.allclose(jacobian(lambda x: np.linalg.det(x) * x[0])(A)[1, 0, 1], numpy.linalg.det(A) + A[0, 1] * _c())


def _c() -> Any:
    return (numpy.linalg.det(A) * numpy.linalg.inv(A).T)[0, 1]


def test_det_of_a_matrix_that_is_no_square() -> None:
    with pytest.raises(numpy.linalg.LinAlgError):
        grad(np.linalg.det)(numpy.ones((2, 3)))


@pytest.mark.fast
def test_det_gradient_inverts_once() -> None:
    gradient = grad(np.linalg.det)
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls.append(frame.f_code.co_name)

    for _ in range(3):
        gradient(A)
    sys.setprofile(note)
    try:
        gradient(A)
    finally:
        sys.setprofile(None)
    assert calls.count("inv") == 1
