"""A tracer asked for its value: an answer where it is known, an error of its own class where only the type is."""

import copy
import operator
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lawful.core import (
    ArgumentTypeError,
    ConcretizationTypeError,
    LawfulError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)

WANTED = [
    (bool, TracerBoolConversionError, "lawful.control_flow.cond"),
    (operator.not_, TracerBoolConversionError, "lawful.numpy.where"),
    (int, TracerIntegerConversionError, "static_argnums"),
    (operator.index, TracerIntegerConversionError, "static_argnums"),
    (range, TracerIntegerConversionError, "static_argnums"),
    (lambda x: [1, 2, 3][x], TracerIntegerConversionError, "static_argnums"),
    (lambda x: np.zeros(3)[x], TracerArrayConversionError, "lawful.numpy.take(a, x)"),
    (float, ConcretizationTypeError, "lawful.numpy in place of math"),
    (complex, ConcretizationTypeError, "lawful.numpy in place of math"),
    (lambda x: x.item(), ConcretizationTypeError, "lawful.numpy in place of math"),
    (np.asarray, TracerArrayConversionError, "lawful.numpy of the same name"),
    (np.array, TracerArrayConversionError, "lawful.numpy of the same name"),
    (lambda x: np.asarray([x, x]), LawfulError, ""),
    (lambda x: np.float64(x), TracerArrayConversionError, "write x.astype(numpy.float64)"),
    (lambda x: np.random.normal(x), TracerArrayConversionError, "draw by lawful.random"),  # noqa: NPY002
    (lambda x: np.sin([x, x]), TracerArrayConversionError, "numpy.sin: expected a NumPy array"),
    (lambda x: np.sum([x, x]), TracerArrayConversionError, "lawful.numpy.array([x, ...]) in place of a list"),
    (lambda x: x.tolist(), TracerArrayConversionError, "; index it, print it by lawful.debug.print, or take the"),
    (lambda x: f"{x:.3f}", ConcretizationTypeError, "lawful.debug.print('{:.3f}', x)"),
    (lambda x: "{:>9}".format(x), ConcretizationTypeError, "lawful.debug.print"),  # noqa: UP032
    (bool, TracerBoolConversionError, "lawful.numpy.logical_and"),
    (bool, TracerBoolConversionError, "lawful.numpy.maximum"),
]


def traced(counting: SimpleNamespace, use: Callable[[Any], Any], value: Any, known: bool) -> Any:
    results = []
    counting.count(lambda x: results.append(use(x)) or x, value, known=known)
    return results[0]


@pytest.mark.parametrize(("use", "error", "cure"), WANTED)
def test_an_abstract_tracer_raises_an_error_of_its_own_class(
    counting: SimpleNamespace, use: Callable[[Any], Any], error: type[LawfulError], cure: str
) -> None:
    with pytest.raises(error) as caught:
        traced(counting, use, 1, known=False)
    message = str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert message.startswith(f"{__file__}:"), "the user's line comes first"
    assert "of count made at" in message
    assert cure in message


@pytest.mark.parametrize(
    ("use", "value", "expected"),
    [
        (bool, np.float64(0.0), False),
        (bool, np.ones((1, 1)), True),
        (int, 3, 3),
        (int, 3.7, 3),
        (int, np.float32(3.7), 3),
        (int, np.full((1,), 3), 3),
        (operator.index, 3, 3),
        (operator.index, np.uint8(3), 3),
        (lambda x: [10, 20][x], 1, 20),
        (lambda x: list(range(x)), 2, [0, 1]),
        (lambda x: f"{x:.2f}", 1.0, "1.00"),
    ],
)
def test_tracer_known_value_answers(
    counting: SimpleNamespace, use: Callable[[Any], Any], value: Any, expected: Any
) -> None:
    assert traced(counting, use, value, known=True) == expected


def test_tracer_format_without_a_specification(counting: SimpleNamespace) -> None:
    assert traced(counting, lambda x: f"{x}", 1, known=False).startswith("Tracer(~i64[], ")


@pytest.mark.parametrize("use", [float, complex, lambda x: x.item()])
def test_tracer_known_value_loses_derivative_error(counting: SimpleNamespace, use: Callable[[Any], Any]) -> None:
    """A known tracer that is differentiated does not convert to a Python number."""
    with pytest.raises(ConcretizationTypeError, match="expected a value that is not differentiated"):
        traced(counting, use, 1.0, known=True)


@pytest.mark.parametrize("use", [bool, int])
def test_tracer_more_than_one_element_has_no_truth_value(counting: SimpleNamespace, use: Callable[[Any], Any]) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected an array of one element, got f64\[2\]"):
        traced(counting, use, np.ones(2), known=True)


@pytest.mark.parametrize("value", [1.0, np.ones(1, int), True])
def test_tracer_only_an_integer_scalar_is_an_index(counting: SimpleNamespace, value: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="expected an integer scalar"):
        traced(counting, operator.index, value, known=True)


@pytest.mark.parametrize("known", [True, False])
def test_tracer_what_the_type_tells_is_always_known(counting: SimpleNamespace, known: bool) -> None:
    def use(x: Any) -> Any:
        return x.shape, x.dtype, x.ndim, x.size, x.itemsize, x.nbytes, x.weak_type, len(x)

    expected = ((2, 3), np.dtype(np.float32), 2, 6, 4, 24, False, 2)
    assert traced(counting, use, np.ones((2, 3), np.float32), known) == expected


def test_tracer_len_of_a_scalar_is_a_type_error(counting: SimpleNamespace) -> None:
    with pytest.raises(TypeError, match="len: expected an array with at least one dimension"):
        traced(counting, len, 1.0, known=False)


def test_a_tracer_is_immutable(counting: SimpleNamespace) -> None:
    with pytest.raises(ArgumentTypeError, match="immutable"):
        traced(counting, lambda x: operator.setitem(x, 0, 1.0), np.ones(3), known=True)


def test_a_tracer_is_not_hashable(counting: SimpleNamespace) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        traced(counting, hash, 1.0, known=True)


def test_a_tracer_does_not_pickle(counting: SimpleNamespace) -> None:
    with pytest.raises(ArgumentTypeError, match="pickle"):
        traced(counting, pickle.dumps, 1.0, known=True)


@pytest.mark.parametrize("use", [copy.copy, copy.deepcopy, lambda x: copy.deepcopy({"a": [x]})["a"][0]])
@pytest.mark.parametrize("known", [True, False])
def test_a_tracer_is_its_own_copy(counting: SimpleNamespace, use: Callable[[Any], Any], known: bool) -> None:
    assert traced(counting, lambda x: use(x) is x, 1.0, known=known) is True


def test_a_tracer_prints_its_type_and_the_value_it_knows(counting: SimpleNamespace) -> None:
    assert traced(counting, repr, 2.0, known=True) == "Tracer(~f64[], count, value=2.0)"
    assert traced(counting, repr, 2.0, known=False) == "Tracer(~f64[], count)"
    assert traced(counting, lambda x: f"{x}", 2.0, known=False) == "Tracer(~f64[], count)"
