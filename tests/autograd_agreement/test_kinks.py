"""Derivatives at kinks and poles: those that differ from Autograd's are the table of the page, and no others."""

from pathlib import Path
from typing import Any

import autograd
import autograd.numpy
import numpy
import pytest

import lawful.autograd
import lawful.autograd.numpy

PAGE = Path(__file__).parents[2] / "docs" / "coming_from_autograd.md"
INF, NAN = numpy.inf, numpy.nan
TIES = numpy.array([1.0, 1.0, 0.0])
ZEROS = numpy.array([0.0, 0.0, 3.0])

#: By the words of the page: the function, given the namespace, its argument, Autograd's gradient and lawful's.
DIFFERENT: dict[str, list[tuple[Any, Any, Any, Any]]] = {
    "Python's `abs(x)` at 0": [(lambda np, x: abs(x), numpy.zeros(()), 0.0, 1.0)],
    "`clip` at an end of its interval": [
        (lambda np, x: np.clip(x, 0.0, 1.0), 0.0, 0.0, 0.5),
        (lambda np, x: np.clip(x, 0.0, 1.0), 1.0, 0.0, 0.5),
    ],
    "`norm` of order infinity, at ties": [
        (lambda np, x: np.linalg.norm(x, INF), TIES, [1.0, 1.0, 0.0], [0.5, 0.5, 0.0])
    ],
    "`sinc` at 0": [(lambda np, x: np.sinc(x), 0.0, NAN, 0.0)],
    "`prod` of zeros and others": [
        (lambda np, x: np.prod(x), ZEROS, [NAN, NAN, 0.0], [0.0, 0.0, 0.0]),
        (lambda np, x: np.prod(x), numpy.array([0.0, 2.0, 3.0]), [NAN, 0.0, 0.0], [6.0, 0.0, 0.0]),
    ],
    "`std` of one element": [(lambda np, x: np.std(x), numpy.ones(1), [0.0], [NAN])],
    "`det` of a singular matrix": [
        (lambda np, x: np.linalg.det(x), numpy.ones((2, 2)), numpy.linalg.LinAlgError, [[1.0, -1.0], [-1.0, 1.0]])
    ],
    "`sqrt`, `x**0.5` and `x**-1` of the Python number 0.0": [
        (lambda np, x: np.sqrt(x), 0.0, ZeroDivisionError, INF),
        (lambda np, x: x**0.5, 0.0, ZeroDivisionError, INF),
        (lambda np, x: x**-1.0, 0.0, ZeroDivisionError, -INF),
    ],
}
#: Functions and arguments with the same gradient.
EQUAL: dict[str, tuple[Any, Any]] = {
    "abs": (lambda np, x: np.abs(x), 0.0),
    "absolute": (lambda np, x: np.sum(np.absolute(x)), ZEROS),
    "fabs": (lambda np, x: np.fabs(x), 0.0),
    "abs of NaN": (lambda np, x: np.abs(x), NAN),
    "softplus": (lambda np, x: np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))), 0.0),
    "maximum": (lambda np, x: np.maximum(x, 0.0), 0.0),
    "minimum": (lambda np, x: np.minimum(x, 0.0), 0.0),
    "fmax": (lambda np, x: np.fmax(x, 0.0), 0.0),
    "max": (lambda np, x: np.max(x), TIES),
    "min": (lambda np, x: np.min(x), ZEROS),
    "max along an axis": (lambda np, x: np.sum(np.max(x, axis=0)), numpy.ones((2, 2))),
    "sign": (lambda np, x: np.sign(x), 0.0),
    "where": (lambda np, x: np.where(x > 0.0, x, 0.0), 0.0),
    "sort": (lambda np, x: np.sum(np.sort(x) * TIES), TIES),
    "x ** 0": (lambda np, x: x**0.0, 0.0),
    "x ** 1": (lambda np, x: x**1.0, 0.0),
    "x ** 2": (lambda np, x: x**2, 0.0),
    "0 ** y": (lambda np, y: 0.0**y, 0.0),
    "x ** x": (lambda np, x: x**x, 0.0),
    "sqrt of an array": (lambda np, x: np.sum(np.sqrt(x)), numpy.zeros(2)),
    "norm": (lambda np, x: np.linalg.norm(x), numpy.zeros(2)),
    "norm along an axis": (lambda np, x: np.sum(np.linalg.norm(x, axis=1)), numpy.zeros((2, 2))),
    "angle": (lambda np, x: np.angle(x + 0j), 0.0),
    "abs of a complex": (lambda np, x: np.abs(x), 0j),
    "arctan2": (lambda np, x: np.arctan2(x, 0.0), 0.0),
    "std of equal values": (lambda np, x: np.std(x), numpy.ones(3)),
    "var of equal values": (lambda np, x: np.var(x), numpy.ones(3)),
    "logaddexp": (lambda np, x: np.logaddexp(x, x), 0.0),
    "logaddexp of -inf": (lambda np, x: np.logaddexp(x, -INF), -INF),
    "floor": (lambda np, x: np.floor(x), 1.0),
    "x % 1": (lambda np, x: x % 1.0, 1.0),
    "arccos": (lambda np, x: np.arccos(x), 1.0),
    "log": (lambda np, x: np.log(x), 0.0),
    "nan_to_num": (lambda np, x: np.nan_to_num(x), INF),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("words", DIFFERENT)
def test_derivative_that_differs_is_in_the_table(words: str) -> None:
    assert PAGE.read_text().count(f"\n| {words} |") == 1
    for f, x, theirs, ours in DIFFERENT[words]:
        gradient = autograd.grad(lambda x, f=f: f(autograd.numpy, x))
        if isinstance(theirs, type):
            with pytest.raises(theirs):
                gradient(x)
        else:
            numpy.testing.assert_array_equal(gradient(x), theirs)
        found = lawful.autograd.grad(lambda x, f=f: f(lawful.autograd.numpy, x))(x)
        numpy.testing.assert_allclose(found, ours, rtol=1e-14, atol=1e-14)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "x"), EQUAL.values(), ids=EQUAL)
def test_derivative_is_autograds(f: Any, x: Any) -> None:
    expected = autograd.grad(lambda x: f(autograd.numpy, x))(x)
    found = lawful.autograd.grad(lambda x: f(lawful.autograd.numpy, x))(x)
    numpy.testing.assert_array_equal(found, expected)


def test_table_has_no_other_rows() -> None:
    section = PAGE.read_text().split("| derivative of |")[1].split("\n\n")[0]
    assert len(section.splitlines()) - 2 == len(DIFFERENT)
