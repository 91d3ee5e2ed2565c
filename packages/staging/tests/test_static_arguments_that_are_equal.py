"""Static arguments that are equal and mean different programs are told apart."""

import math

from lawful.ops import div
from lawful.staging import jit


def test_numbers_inside_a_static_tuple_are_told_apart_by_type():
    f = jit(lambda t, x: t[0] * x, static_argnums=0, backend="numpy")
    assert [type(f((number,), 2)) for number in (1, 1.0, 1 + 0j)] == [int, float, complex]


def test_zeros_are_told_apart_by_sign():
    f = jit(lambda t, x: div(x, t), static_argnums=0, backend="numpy")
    assert [math.copysign(1.0, f(zero, 1.0)) for zero in (0.0, -0.0)] == [1.0, -1.0]
