"""Errors are of NumPy's class, the same eagerly and under a trace, and say what to do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad
from lawful.core import LawfulError
from lawful.staging import jit, make_jaxpr

from .calls import OPERATORS, mistakes

MATRIX, VECTOR = numpy.ones((3, 4)), numpy.ones(3)

CLASSES = (numpy.exceptions.AxisError, numpy.linalg.LinAlgError, TypeError, IndexError, OverflowError, ValueError)
CLASSES += (RuntimeError,)
FILE = str(Path(__file__).parent / "calls" / "mistakes.py")


def compiled(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda np, x: jit(lambda x: call(np, x), backend="numpy")(x)


@pytest.mark.parametrize("name", mistakes | OPERATORS)
def test_class_of_the_error(name: str):
    call, x = (mistakes | OPERATORS)[name]
    with pytest.raises(Exception) as numpys:  # noqa: PT011 its class is what is compared
        call(numpy, x)
    built_in = next(cls for cls in CLASSES if isinstance(numpys.value, cls))
    for run in (call, compiled(call)) if name in mistakes else (compiled(call),):
        with pytest.raises(built_in) as ours:
            run(lnp, x)
        assert isinstance(ours.value, LawfulError)
        assert re.search("expected", str(ours.value))
        assert str(ours.value).startswith(FILE)


ONLY_OURS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a list": (lambda x: lnp.sum([1, 2]), TypeError, "asarray"),
    "a list to a ufunc": (lambda x: lnp.add(x, [1, 2, 3]), TypeError, "asarray"),
    "out": (lambda x: lnp.sum(x, out=numpy.zeros(())), TypeError, "use the result"),
    "out by position": (lambda x: lnp.sum(x, 0, None, numpy.zeros(())), TypeError, "use the result"),
    "order": (lambda x: lnp.reshape(x, (3, 1), order="F"), ValueError, "transpose"),
    "a condition only": (lambda x: lnp.where(x), TypeError, "depends on values"),
    "where without initial": (lambda x: lnp.max(x, where=x > 0), ValueError, "initial"),
    "strings": (lambda x: lnp.array(["a"]), TypeError, "dtype: expected one of"),
    "objects": (lambda x: lnp.array([object()]), TypeError, "dtype: expected one of"),
    "no parts": (lambda x: lnp.split(x, 0), ValueError, "number of parts"),
    "step of zero": (lambda x: lnp.arange(0, 1, 0), ValueError, "step"),
    "no arrays": (lambda x: lnp.result_type(), ValueError, "at least one"),
    "unknown dtype": (lambda x: lnp.zeros(3, "float31"), TypeError, "float31"),
    "unsupported dtype": (lambda x: lnp.zeros(3, "float128"), TypeError, "float128"),
}


@pytest.mark.parametrize("name", ONLY_OURS)
def test_errors_of_ours(name: str):
    call, cls, text = ONLY_OURS[name]
    for run in (call, jit(call, backend="numpy")):
        with pytest.raises(cls, match=text):
            run(VECTOR)


def test_a_traced_shape_says_static_argnums():
    for call in (lnp.zeros, lnp.arange, lambda n: lnp.reshape(VECTOR, n), lambda n: lnp.tile(VECTOR, n), lnp.eye):
        with pytest.raises(TypeError, match=r"static_argnums|length of the result"):
            jit(call, backend="numpy")(3)


def test_creation_is_recorded():
    text = str(make_jaxpr(lambda: lnp.zeros((1000,)) + lnp.arange(1000))())
    assert "broadcast_in_dim" in text
    assert "iota" in text


def test_eager_results_are_numpy_arrays_of_their_own():
    for x in (lnp.zeros(3), lnp.full((2, 2), VECTOR[:2]), lnp.tile(VECTOR, 2), lnp.repeat(VECTOR, 2), lnp.copy(VECTOR)):
        assert type(x) is numpy.ndarray
        assert x.flags.writeable
        assert not numpy.shares_memory(x, VECTOR)


def test_the_system_is_usable_after_an_error():
    with pytest.raises(ValueError, match="broadcast"):
        grad(lambda x: lnp.sum(lnp.add(x, numpy.zeros(5))))(VECTOR)
    numpy.testing.assert_array_equal(grad(lnp.sum)(VECTOR), numpy.ones(3))
