"""Static arguments that are equal and mean different programs are told apart."""

import functools
import math
from dataclasses import dataclass
from enum import StrEnum

from lawful import tree
from lawful.ops import div
from lawful.staging import jit, make_jaxpr


class Letter(StrEnum):
    A = "a"


@tree.register_dataclass
@dataclass(frozen=True)
class Scaled:
    x: float
    scale: float = tree.static()


def identity(x):
    return x


def test_jit_numbers_inside_static_tuple_are_told_apart_by_type():
    f = jit(lambda t, x: t[0] * x, static_argnums=0, backend="numpy")
    assert [type(f((number,), 2)) for number in (1, 1.0, 1 + 0j)] == [int, float, complex]


def test_jit_zeros_are_told_apart_by_sign():
    f = jit(lambda t, x: div(x, t), static_argnums=0, backend="numpy")
    assert [math.copysign(1.0, f(zero, 1.0)) for zero in (0.0, -0.0)] == [1.0, -1.0]


def test_jit_gives_the_keys_of_dicts_that_it_got():
    f = jit(lambda tree: tree, backend="numpy")
    for key in (1, 1.0, True, 1, 0.0, -0.0, "a", Letter.A, 1.0):
        for _ in range(2):
            (found,) = f({key: 2.0})
            assert (type(found), str(found)) == (type(key), str(key))


def test_jit_tells_static_fields_of_nodes_apart():
    f = jit(lambda node: node.x * 0 + math.copysign(1.0, node.scale), backend="numpy")
    for _ in range(2):
        assert [f(Scaled(2.0, scale)) for scale in (0.0, -0.0)] == [1.0, -1.0]


def test_jit_traces_once_for_nan():
    traces = []
    f = jit(lambda t, x: traces.append(t) or x, static_argnums=0, backend="numpy")
    for _ in range(3):
        f((float("nan"),), 1.0)
    assert len(traces) == 1


def test_jit_tells_partial_passes_apart():
    def scaled(closed, by):
        return make_jaxpr(lambda x: x / by)(1.0)

    for by in (0.0, -0.0):
        f = jit(identity, passes=(functools.partial(scaled, by=by),), backend="numpy")
        assert math.copysign(1.0, f(1.0)) == math.copysign(1.0, by)
