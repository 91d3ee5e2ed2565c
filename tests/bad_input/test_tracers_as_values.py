"""A tracer used as bool, int, float, index, or passed to NumPy: the error has the line, and the alternative."""

import math

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.core import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)

STATIC = "make the argument static (static_argnums of jit)"

BOOLS = {
    "if": lambda x: x if x > 0.0 else -x,
    "bool": lambda x: x * bool(x),
    "and": lambda x: x and 2.0,
    "not": lambda x: x * (not x),
    "max": lambda x: max(x, 0.0),
    "in": lambda x: x * (x in (1.0, 2.0)),
    "chain": lambda x: x * (0.0 < x < 2.0),
    "assert": lambda x: [x for _ in range(1) if x == AT][0],  # noqa: RUF015
}
AT = 1.5
INTS = {
    "int": lambda x: x * int(x),
    "index": lambda x: [x, x][ops.convert_element_type(x, np.int64)],
    "range": lambda x: [x for _ in range(ops.convert_element_type(x, np.int64))][0],  # noqa: RUF015
}
FLOATS = {
    "float": lambda x: x * float(x),
    "complex": lambda x: x * abs(complex(x)),
    "math": lambda x: x * math.sin(x),
}
ARRAYS = {
    "asarray": lambda x: x * np.asarray(x),
    "array": lambda x: x * np.array(x),
    "list": lambda x: x * np.asarray([x, 1.0])[0],
    "nested": lambda x: x * np.array([[x, x], [1.0, 2.0]])[0, 0],
    "asarray of a dtype": lambda x: x * np.asarray(x, np.float64),
}


@pytest.mark.parametrize("function", BOOLS.values(), ids=BOOLS)
def test_tracer_as_a_bool(abstractly, refused, function):
    error = refused(TracerBoolConversionError, STATIC, lambda: abstractly(function), at=function)
    for words in ("use lawful.control_flow.cond or lawful.numpy.where", "logical_and", "lawful.numpy.maximum"):
        assert words in str(error)


@pytest.mark.parametrize("function", INTS.values(), ids=INTS)
def test_tracer_as_an_integer(abstractly, refused, function):
    refused(TracerIntegerConversionError, STATIC, lambda: abstractly(function), at=function)


@pytest.mark.parametrize("function", FLOATS.values(), ids=FLOATS)
def test_tracer_as_a_number(abstractly, refused, function):
    error = refused(ConcretizationTypeError, STATIC, lambda: abstractly(function), at=function)
    assert "lawful.numpy in place of math" in str(error)


@pytest.mark.parametrize("function", ARRAYS.values(), ids=ARRAYS)
def test_tracer_as_a_numpy_array(under, refused, function):
    words = "use the function of lawful.numpy of the same name"
    refused(TracerArrayConversionError, words, lambda: under(function), at=function)


@pytest.mark.parametrize("function", BOOLS.values(), ids=BOOLS)
def test_tracer_derivatives_know_conditions(concretely, usable, function):
    concretely(function)
    usable()


@pytest.mark.parametrize("function", FLOATS.values(), ids=FLOATS)
def test_tracer_number_would_lose_its_derivative(concretely, refused, function):
    refused(
        ConcretizationTypeError,
        "take stop_gradient(x), or getval(x)",
        lambda: concretely(function),
        at=function,
    )


@pytest.mark.parametrize("inner", [vmap, grad], ids=["vmap", "grad"])
def test_a_tracer_closed_over(abstractly, refused, inner):
    def mistake(x):
        return inner(lambda y: y if x > 0.0 else -y)(np.ones(2) if inner is vmap else 1.0)

    with pytest.raises(TracerBoolConversionError) as caught:
        abstractly(mistake)
    # The condition stands in the lambda of the function's last line.
    line = mistake.__code__.co_firstlineno + 1
    assert str(caught.value).startswith(f"{__file__}:{line} (<lambda>): ")
