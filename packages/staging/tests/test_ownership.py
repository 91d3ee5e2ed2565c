"""Results of transformations share memory with nothing else, and are copied only where they would."""

import numpy as np

from lawful.staging import copy_aliased


def test_own_results_copies_only_aliased_results() -> None:
    own, other, whole, frozen = np.ones(3), np.ones(3), np.ones((2, 3)), np.ones(3)
    frozen.flags.writeable = False
    results = [own, other, whole[0], frozen, 1.5, np.float64(2.0)]
    found = copy_aliased(results, [other])
    for x, y in zip(found, results, strict=True):
        np.testing.assert_array_equal(x, y)
    assert [x is y for x, y in zip(found, results, strict=True)] == [True, False, False, False, True, True]
    for x in found[:4]:
        assert x.flags.writeable
        assert x.base is None


def test_own_results_of_one_array_are_distinct() -> None:
    x, y = np.ones(3), np.zeros(2)
    found = copy_aliased([x, y, x, x], [])
    assert found[0] is x
    assert found[1] is y
    assert len({id(z) for z in found}) == 4
    number = np.float64(1.0)
    assert copy_aliased([number, number], [number]) == [number, number]


def test_own_results_returns_unaliased_results() -> None:
    results = [np.ones(3), np.zeros(2), 1.0]
    found = copy_aliased(results, [np.ones(3)])
    assert found is not results
    assert all(x is y for x, y in zip(found, results, strict=True))
