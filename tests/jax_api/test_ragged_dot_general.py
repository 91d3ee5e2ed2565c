"""`ragged_dot_general` beside JAX's: each kind of ragged dimension."""

from typing import Any

import jax
import numpy as np
import pytest

import lawful.jax
from lawful import ops
from lawful.autodiff import jvp, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.staging import jit

RANDOM = np.random.default_rng(0)


def numbers(contract: Any, batch: Any = ((), ()), ragged: Any = (0,), groups: Any = ()) -> Any:
    return ops.RaggedDotDimensionNumbers((contract, batch), list(ragged), list(groups))


# The shapes of the operands, the sizes of the groups, and the dimension numbers.
CALLS: dict[str, tuple[tuple[int, ...], tuple[int, ...], Any, Any]] = {
    "rows": ((6, 3), (2, 3, 4), [2, 3], numbers(((1,), (1,)), groups=(0,))),
    "rows with groups inside": ((3, 6), (3, 4, 2), [5, 1], numbers(((0,), (0,)), ragged=(1,), groups=(2,))),
    "rows in a batch": ((6, 5, 3), (5, 2, 3, 4), [2, 3], numbers(((2,), (2,)), ((1,), (0,)), groups=(1,))),
    "rows with sizes of each batch": (
        (6, 2, 3),
        (2, 2, 3, 4),
        [[2, 3], [0, 6]],
        numbers(((2,), (2,)), ((1,), (0,)), groups=(1,)),
    ),
    "rows inside others": ((2, 6, 3), (2, 3, 4), [[2, 3], [1, 1]], numbers(((2,), (1,)), ragged=(1,), groups=(0,))),
    "two batch dimensions in another order": (
        (3, 2, 5, 4),
        (2, 3, 2, 4, 2),
        [[[2, 1], [1, 3], [0, 5]], [[4, 0], [1, 1], [2, 2]]],
        numbers(((3,), (3,)), ((1, 0), (0, 1)), ragged=(2,), groups=(2,)),
    ),
    "contracted": ((6, 3), (6, 4), [2, 3, 1], numbers(((0,), (0,)))),
    "contracted of unlike positions": ((3, 6), (4, 6), [2, 0, 3], numbers(((1,), (1,)), ragged=(1,))),
    "contracted in a batch": (
        (5, 6, 3),
        (6, 5, 4),
        RANDOM.integers(0, 3, (5, 2)),
        numbers(((1,), (0,)), ((0,), (1,)), ragged=(1,)),
    ),
    "contracted inside others": (
        (2, 6, 3),
        (6, 4, 2),
        [[2, 3], [1, 5]],
        numbers(((0, 1), (2, 0)), ragged=(1,)),
    ),
    "batch": ((5, 2, 3), (5, 3, 4), [2, 3], numbers(((2,), (1,)), ((0,), (0,)))),
}

#: Cases whose transpose JAX has.
TRANSPOSED = {name for name in CALLS if not name.startswith(("contracted", "batch"))}


@pytest.mark.parametrize("name", CALLS)
def test_ragged_dot_general_agrees_with_jax(name: str) -> None:
    lhs, rhs, sizes, chosen = CALLS[name]
    x, y, sizes = RANDOM.normal(size=lhs), RANDOM.normal(size=rhs), np.asarray(sizes)
    theirs = jax.lax.RaggedDotDimensionNumbers(*chosen)
    expected = np.asarray(jax.lax.ragged_dot_general(x, y, sizes, theirs))

    def close(found: Any, wanted: Any) -> None:
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)

    def ours(x: Any, y: Any, sizes: Any = sizes) -> Any:
        return ops.ragged_dot_general(x, y, sizes, chosen)

    def reference(x: Any, y: Any) -> Any:
        return jax.lax.ragged_dot_general(x, y, sizes, theirs)

    close(ours(x, y), expected)
    for backend in ("numpy", "xla"):
        close(jit(ours, backend=backend)(x, y, sizes), expected)
    tangents = RANDOM.normal(size=lhs), RANDOM.normal(size=rhs)
    close(jvp(ours, (x, y), tangents)[1], np.asarray(jax.jvp(reference, (x, y), tangents)[1]))
    seed = RANDOM.normal(size=expected.shape)
    found = vjp(ours, x, y)[1](seed)
    if name in TRANSPOSED:
        for a, b in zip(found, jax.vjp(reference, x, y)[1](seed), strict=True):
            close(a, np.asarray(b))
    product = sum(np.sum(np.asarray(a) * t) for a, t in zip(found, tangents, strict=True))
    close(product, np.sum(seed * np.asarray(jvp(ours, (x, y), tangents)[1])))
    batches = [np.stack([a, a]) for a in (x, y, sizes)]
    for stacked in (vmap(ours, (0, None, None))(batches[0], y, sizes), vmap(ours)(*batches)):
        close(stacked, np.stack([expected, expected]))


def test_jax_ragged_dot_general_has_the_arguments_of_jax() -> None:
    lhs, rhs, sizes, chosen = CALLS["rows"]
    x, y, sizes = np.ones(lhs, np.float32), np.ones(rhs, np.float32), np.array(sizes, np.int32)
    out = []
    for lax in (lawful.jax.lax, jax.lax):
        named = lax.RaggedDotDimensionNumbers(
            dot_dimension_numbers=chosen[0], lhs_ragged_dimensions=[0], rhs_group_dimensions=[0]
        )
        out.append(lax.ragged_dot_general(x, y, sizes, named, preferred_element_type=np.float64, out_sharding=None))
    assert type(out[0]) is lawful.jax.Array
    assert out[0].dtype == out[1].dtype
    np.testing.assert_array_equal(out[0], np.asarray(out[1]))


@pytest.mark.parametrize(
    ("sizes", "chosen", "words"),
    [
        ([2, 3], None, "expected ragged_dot_dimension_numbers, got None"),
        ([2, 3], numbers(((1,), (1,)), ragged=(), groups=(0,)), "expected one of lhs_ragged_dimensions"),
        ([2, 3], numbers(((1,), (1,)), ragged=(0, 1), groups=(0,)), "expected one of lhs_ragged_dimensions"),
        ([2, 3], numbers(((1,), (1,))), r"expected one dimension in rhs_group_dimensions, .*, got \(\)"),
        ([2, 3], numbers(((1,), (1,)), ragged=(1,), groups=(0,)), r"expected none in rhs_group_dimensions, .*\(0,\)"),
        ([2, 3, 1], numbers(((1,), (1,)), groups=(0,)), "expected a dimension of length 3 for the groups"),
        ([2.0, 3.0], numbers(((1,), (1,)), groups=(0,)), "expected integers as group_sizes"),
        (2, numbers(((1,), (1,)), groups=(0,)), r"expected group_sizes of shape \(g,\)"),
        ([[2, 3]], numbers(((1,), (1,)), groups=(0,)), r"expected group_sizes of shape \(g,\)"),
    ],
)
def test_ragged_dot_general_arguments_error(sizes: Any, chosen: Any, words: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"ragged_dot_general: {words}"):
        ops.ragged_dot_general(np.ones((6, 3)), np.ones((2, 3, 4)), np.asarray(sizes), chosen)


def test_ragged_dot_general_group_offset_error() -> None:
    lhs, rhs, sizes, chosen = CALLS["rows"]
    with pytest.raises(ArgumentValueError, match="expected no group_offset"):
        ops.ragged_dot_general(np.ones(lhs), np.ones(rhs), np.array(sizes), chosen, group_offset=0)  # type: ignore[arg-type]
