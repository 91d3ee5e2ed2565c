"""Programs that the direct call of jit caches."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import tree
from lawful.core import LawfulError
from lawful.staging import clear_caches, jit
from lawful.staging._fast.direct_call import recent_programs
from lawful.xla_backend import device_put

BACKENDS = ["numpy", "xla"]
every_backend = pytest.mark.parametrize("backend", BACKENDS)

X = np.array([0.5, -1.5, 2.0])


@pytest.mark.fast
@every_backend
def test_jit_program_never_is_run_directly_is_cached_once(backend: str) -> None:
    compiled = jit(lambda x: x + x, backend=backend)
    for _ in range(3):
        assert float(compiled(ml_dtypes.bfloat16(2))) == 4.0
    assert len(recent_programs(compiled)) == 1


@every_backend
def test_jit_alternating_arrays_and_values(backend: str) -> None:
    compiled = jit(lambda x, y: x + 2 * y, backend=backend)
    a, b = device_put(X), device_put(-X)
    for _ in range(3):
        for x, y in [(X, X), (a, X), (X, b), (a, b), (b, a), (X, b), (X, X)]:
            np.testing.assert_array_equal(np.asarray(compiled(x, y)), np.asarray(x) + 2 * np.asarray(y))


@every_backend
def test_jit_alternating_signatures_are_traced_once_each(backend: str) -> None:
    traced = []

    def double(x: Any) -> Any:
        traced.append(x)
        return tree.map(lambda leaf: leaf + leaf, x)

    compiled = jit(double, backend=backend)
    for _ in range(3):
        for n in range(7):
            np.testing.assert_array_equal(np.asarray(compiled([np.ones(n)])[0]), 2 * np.ones(n))
            np.testing.assert_array_equal(np.asarray(compiled(np.ones(n))), 2 * np.ones(n))
    assert len(traced) == 14


@every_backend
def test_jit_class_that_becomes_a_node_between_calls(backend: str) -> None:
    class Late:
        def __init__(self, child: Any) -> None:
            self.child = child

    compiled = jit(lambda xs: [2 * x for x in tree.leaves(xs)], backend=backend)
    assert float(compiled([1.0])[0]) == 2.0
    with pytest.raises(LawfulError):
        compiled([Late(1.0)])
    tree.register_node(Late, lambda node: ((node.child,), None), lambda _, nodes: Late(nodes[0]))
    for _ in range(2):
        assert float(compiled([Late(1.0)])[0]) == 2.0
        assert float(compiled([1.0])[0]) == 2.0


@pytest.mark.parametrize("forget", [lambda compiled: compiled.clear_cache(), lambda _: clear_caches()])
def test_jit_program_that_is_forgotten_is_not_run(forget: Callable[[Any], None]) -> None:
    factor = 2.0
    compiled = jit(lambda x: x * factor, backend="xla")
    for _ in range(2):
        assert float(compiled(device_put(3.0))) == 6.0
    factor = 5.0
    assert float(compiled(device_put(3.0))) == 6.0
    forget(compiled)
    assert float(compiled(device_put(3.0))) == 15.0
