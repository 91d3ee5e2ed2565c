"""Elementwise primitives accept the same dtypes in evaluation and in abstract evaluation."""

import warnings

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, Primitive, get_aval

DTYPES = ("bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64")
PARAMS = {
    "beta_density": {"orders": (0, 0, 0)},
    "bessel_in": {"order": 2},
    "bessel_ine": {"order": 2},
    "digamma_mean": {"order": 1, "power": 0},
    "gamma_density": {"orders": (0, 0)},
    "igamma_grad_a": {"order": 1},
    "integer_pow": {"y": 3},
    "log_ndtr_derivative": {"order": 1},
    "reduce_precision": {"exponent_bits": 11, "mantissa_bits": 52},
    "regularized_incomplete_beta_derivative": {"orders": (1, 0)},
    "pow_derivative": {"by_base": 1, "by_exponent": 0},
    "zeta_derivative": {"order": 1},
}


def is_elementwise(primitive: object) -> bool:
    return (
        isinstance(primitive, Primitive)
        and primitive.declaration is not None
        and primitive.declaration.pointwise
        and primitive.rules["impl"].__qualname__.startswith("elementwise.")
    )


PRIMITIVES = {p.name: p for p in (getattr(ops, name) for name in dir(ops)) if is_elementwise(p)}


def dtype_of(primitive, slot, args, **params):
    """Returns the dtype of a result by a rule, or None if the operands are refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.dtype(primitive.rule(slot)(*args, **params).dtype)
    except TypeError:
        return None


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_bind_accepts_the_types_of_abstract_eval(name):
    primitive = PRIMITIVES[name]
    params = PARAMS.get(name, {})
    taken = set()
    for dtype in DTYPES:
        args = [np.ones(2, dtype)] * len(primitive.declaration.domain)
        typed = dtype_of(primitive, "abstract_eval", map(get_aval, args), **params)
        assert dtype_of(primitive, "impl", args, **params) == typed, dtype
        taken.add(typed)
    assert taken - {None}


def test_bind_refuses_types_that_functions_convert():
    seven = ("bessel_in", "bessel_ine", "igamma_grad_a", "log_ndtr_derivative", "regularized_incomplete_beta")
    for name in (*seven, "regularized_incomplete_beta_derivative", "zeta_derivative", "sin"):
        primitive = PRIMITIVES[name]
        args = [np.ones(2, np.uint8)] * len(primitive.declaration.domain)
        with pytest.raises(ArgumentTypeError, match=f"{name}_p: expected operands of a dtype .*, got uint8; call"):
            primitive.bind(*args, **PARAMS.get(name, {}))
    with pytest.raises(ArgumentTypeError, match="sin_p: expected"):
        ops.sin_p.bind(1)
