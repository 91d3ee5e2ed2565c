"""A call of every function of `lawful.ops` that takes arrays, for the walk of dtypes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lawful import ops


@dataclass(frozen=True)
class Call:
    """A function, its arguments, and which of them take every dtype: the floats unless told, or else all."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    free: tuple[int, ...] | None = None


def call(function: Callable[..., Any], *args: Any, free: tuple[int, ...] | None = None) -> Call:
    """Returns a call of a function with arrays."""
    return Call(function, args, free)


VECTOR = np.array([0.5, 1.75, -1.0, 0.25])
OTHER = np.array([1.0, -0.75, 2.0, 0.5])
MATRIX = np.array([[0.5, 1.0, -1.25, 2.0], [1.5, -0.5, 0.75, 0.25], [1.0, 0.25, 1.75, -1.5]])
SQUARE = np.array([[3.0, 0.5, -1.0], [0.25, 2.0, 0.5], [1.0, -0.5, 4.0]])
FACTOR = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, -1.0, 3.0]])
SYMMETRIC = SQUARE + SQUARE.T
IMAGE, KERNEL = np.linspace(-1, 1.5, 40).reshape(1, 2, 5, 4), np.linspace(-1, 1, 24).reshape(3, 2, 2, 2)
POSITIONS = np.array([2, 0])
INDEX_VECTORS = np.array([[2], [0]])
ONE = np.asarray(0.5)
ROW = np.array([1.5, 0.5, 2.5])
ZERO = np.asarray(0)

ROWS = ops.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
INTO_ROWS = ops.ScatterDimensionNumbers(
    update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
)


def _scattered(name: str) -> list[Call]:
    scatter = getattr(ops, name)
    return [
        call(lambda x, i, y: scatter(x, i, y, INTO_ROWS), MATRIX, INDEX_VECTORS, MATRIX[:2] * 2),
        call(lambda x, i, y: scatter(x, i, y, INTO_ROWS), MATRIX, INDEX_VECTORS, MATRIX[:2] * 2, free=(1,)),
    ]


def _product_of_schur(t: Any, z: Any) -> Any:
    return ops.solve(ops.transpose(z, (1, 0)), ops.transpose(z @ t, (1, 0)))


def _reduced(name: str) -> list[Call]:
    reduce = getattr(ops, name)
    return [call(lambda x, axes=axes: reduce(x, axes), MATRIX) for axes in ((0,), (0, 1), ())]


def _cumulated(name: str) -> list[Call]:
    return [
        call(lambda x: getattr(ops, name)(x), MATRIX),
        call(lambda x: getattr(ops, name)(x, axis=1, reverse=True), MATRIX),
    ]


def _of_windows(name: str) -> list[Call]:
    return [call(lambda x: getattr(ops, name)(x, (2, 2), (1, 2), "SAME"), MATRIX)]


def _updated(method: str) -> list[Call]:
    def update(x: Any, i: Any, y: Any) -> Any:
        return getattr(ops.at(x)[i], method)(y)

    return [
        call(update, VECTOR, POSITIONS, OTHER[:2]),
        call(update, VECTOR, POSITIONS, OTHER[:2], free=(1,)),
        call(update, MATRIX, POSITIONS, ONE),
    ]


X, Y, Z = np.array([0.25, 0.5, 0.75]), np.array([0.3, 1.0, 1.6]), np.array([0.1, 0.4, 0.9])
ELEMENTWISE: dict[str, list[Call]] = {
    name: [call(op, *((X + 1, X[::-1].copy(), Z) if name == "acosh" else (X, Y, Z))[: op.arity])]
    for name in ops.__all__
    if isinstance(op := getattr(ops, name), ops.Elementwise)
}

FUNCTIONS: dict[str, list[Call]] = {
    "argmax": [call(lambda x: ops.argmax(x, 1, "int32"), MATRIX), call(lambda x: ops.argmax(x, 0, "uint8"), MATRIX)],
    "argmin": [call(lambda x: ops.argmin(x, 1, "int64"), MATRIX)],
    "argsort": [call(ops.argsort, MATRIX), call(lambda x: ops.argsort(x, 0), MATRIX)],
    "at": [
        *[c for m in ("set", "add", "subtract", "multiply", "divide", "min", "max") for c in _updated(m)],
        call(lambda x, i, y: ops.at(x)[i].power(y), VECTOR, POSITIONS, OTHER[:2] ** 2),
        call(lambda x, i: ops.at(x)[i].get(mode="fill", fill_value=1), VECTOR, POSITIONS),
        call(lambda x, i: ops.at(x)[i].apply(lambda y: y + y), VECTOR, POSITIONS),
    ],
    "balanced": [call(ops.balanced, SQUARE)],
    "mean_exponents": [call(ops.mean_exponents, SQUARE)],
    "sum_of_products": [call(ops.sum_of_products, MATRIX)],
    "times_power_of_two": [call(lambda x: ops.times_power_of_two(x, np.arange(4)), VECTOR)],
    "bessel_in": [call(lambda x: ops.bessel_in(x, 2), VECTOR)],
    "betainc": [call(ops.betainc, VECTOR**2, OTHER**2, VECTOR**2 / 4)],
    "bitcast_convert_type": [
        call(lambda x, to=to: ops.bitcast_convert_type(x, to), MATRIX) for to in ("uint8", "int32", "float64")
    ],
    "broadcast_in_dim": [
        call(lambda x: ops.broadcast_in_dim(x, (2, 4), (1,)), VECTOR),
        call(lambda x: ops.broadcast_in_dim(x, (2, 4), ()), ONE),
    ],
    "cholesky": [call(ops.cholesky, SYMMETRIC), call(lambda x: ops.cholesky(x, symmetrize_input=False), SYMMETRIC)],
    "clamp": [call(ops.clamp, VECTOR, OTHER, VECTOR + 1), call(ops.clamp, ONE, MATRIX, ONE * 2)],
    "clz": [call(ops.clz, VECTOR)],
    "complex": [call(ops.complex, VECTOR, OTHER)],
    "concatenate": [call(lambda x, y: ops.concatenate([x, y], 0), VECTOR, OTHER)],
    "conj": [call(ops.conj, VECTOR)],
    "conv": [call(lambda x, k: ops.conv(x, k, (1, 2), "SAME"), IMAGE, KERNEL)],
    "conv_general_dilated": [
        call(lambda x, k: ops.conv_general_dilated(x, k, (1, 1), [(1, 0), (2, 1)], (2, 1), (1, 2)), IMAGE, KERNEL),
        call(
            lambda x, k: ops.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=2),
            IMAGE,
            np.concatenate([KERNEL[:2, :1], KERNEL[1:, 1:]]),
        ),
    ],
    "conv_transpose": [
        call(
            lambda x, k: ops.conv_transpose(x, k, (2,), "SAME"),
            np.linspace(-1, 1.5, 8).reshape(1, 4, 2),
            np.linspace(-1, 1, 12).reshape(3, 2, 2),
        )
    ],
    "conv_with_general_padding": [
        call(lambda x, k: ops.conv_with_general_padding(x, k, (1, 1), [(1, 0), (0, 1)], (1, 1), (1, 1)), IMAGE, KERNEL)
    ],
    "convert_element_type": [
        call(lambda x, to=to: ops.convert_element_type(x, to), np.array([0.0, 1.0, 2.0]))
        for to in ("bool", "int8", "uint64", "bfloat16", "float8_e5m2", "complex64")
    ],
    "copysign": [call(ops.copysign, VECTOR, OTHER)],
    **{name: _cumulated(name) for name in ("cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum")},
    "det": [call(ops.det, SQUARE)],
    "det_by_pivots": [call(ops.det_by_pivots, SQUARE)],
    "dot": [call(ops.dot, MATRIX, MATRIX.T.copy()), call(ops.dot, ONE, MATRIX)],
    "dot_general": [
        call(lambda x, y: ops.dot_general(x, y, (((1,), (1,)), ((), ()))), MATRIX, MATRIX[:2]),
        call(lambda x, y: ops.dot_general(x, y, (((0,), (0,)), ((1,), (1,)))), MATRIX, MATRIX + 1),
        *[
            call(
                lambda x, y, to=to: ops.dot_general(x, y, (((0,), (0,)), ((), ())), preferred_element_type=to),
                VECTOR,
                OTHER,
            )
            for to in ("int32", "float32", "complex128")
        ],
    ],
    "dynamic_index_in_dim": [
        call(lambda x, i: ops.dynamic_index_in_dim(x, i, 1), MATRIX, ZERO),
        call(lambda x, i: ops.dynamic_index_in_dim(x, i, 1, keepdims=False), MATRIX, ZERO - 1, free=(1,)),
    ],
    "dynamic_slice": [
        call(lambda x, i, j: ops.dynamic_slice(x, (i, j), (2, 2)), MATRIX, ZERO + 1, ZERO),
        call(lambda x, i, j: ops.dynamic_slice(x, (i, j), (2, 2)), MATRIX, ZERO + 1, ZERO + 7, free=(1, 2)),
    ],
    "dynamic_slice_in_dim": [
        call(lambda x, i: ops.dynamic_slice_in_dim(x, i, 2, 1), MATRIX, ZERO + 1),
        call(lambda x, i: ops.dynamic_slice_in_dim(x, i, 2, 1), MATRIX, ZERO + 1, free=(1,)),
    ],
    "dynamic_update_index_in_dim": [
        call(lambda x, y, i: ops.dynamic_update_index_in_dim(x, y, i, 0), MATRIX, VECTOR, ZERO + 1),
        call(lambda x, y, i: ops.dynamic_update_index_in_dim(x, y, i, 0), MATRIX, VECTOR, ZERO + 1, free=(2,)),
    ],
    "dynamic_update_slice": [
        call(lambda x, y, i: ops.dynamic_update_slice(x, y, (i, i)), MATRIX, MATRIX[:2, :2] * 2, ZERO + 1),
        call(lambda x, y, i: ops.dynamic_update_slice(x, y, (i, i)), MATRIX, MATRIX[:2, :2], ZERO + 1, free=(2,)),
    ],
    "dynamic_update_slice_in_dim": [
        call(lambda x, y, i: ops.dynamic_update_slice_in_dim(x, y, i, 0), MATRIX, MATRIX[:2] * 2, ZERO + 1)
    ],
    "eig": [
        call(
            lambda x: ops.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0],
            np.array([[2.0, 1.0], [0.0, 5.0]]),
        )
    ],
    "eigh": [call(lambda x: ops.eigh(x)[1], SYMMETRIC)],
    "expand_dims": [call(lambda x: ops.expand_dims(x, (0, 2)), VECTOR)],
    "fft": [
        call(lambda x, kind=kind: ops.fft(x, kind, (4,)), VECTOR if kind != "IRFFT" else VECTOR[:3])
        for kind in ("FFT", "IFFT", "RFFT", "IRFFT")
    ],
    "floor_divide": [call(ops.floor_divide, VECTOR * 4, OTHER)],
    "full": [call(lambda x, to=to: ops.full((2,), x, to), ONE + 0.5) for to in (None, "int8", "bfloat16", "bool")],
    "full_like": [call(ops.full_like, VECTOR, ONE), call(lambda x: ops.full_like(x, 1.5), VECTOR)],
    "gather": [
        call(lambda x, i: ops.gather(x, i, ROWS, (1, 4)), MATRIX, INDEX_VECTORS),
        call(lambda x, i: ops.gather(x, i, ROWS, (1, 4), mode="fill"), MATRIX, INDEX_VECTORS + 2),
        call(lambda x, i: ops.gather(x, i, ROWS, (1, 4)), MATRIX, INDEX_VECTORS, free=(1,)),
        call(lambda x, i: ops.gather(x, i, ROWS, (1, 4), mode="clip"), MATRIX, INDEX_VECTORS + 2, free=(1,)),
    ],
    "getitem": [
        call(lambda x, i: ops.getitem(x, (i, 1)), MATRIX, POSITIONS),
        call(ops.getitem, MATRIX, POSITIONS, free=(1,)),
        call(lambda x, i: ops.getitem(x, i > 0), VECTOR, np.array([True, False, True, True])),
    ],
    "hessenberg": [call(ops.hessenberg, SQUARE)],
    "householder_product": [call(ops.householder_product, SQUARE, ROW[:2])],
    "igamma_grad_a": [call(ops.igamma_grad_a, VECTOR**2, OTHER**2)],
    "imag": [call(ops.imag, VECTOR)],
    "integer_pow": [call(lambda x, n=n: ops.integer_pow(x, n), VECTOR) for n in (0, 1, 3, -2)],
    "inv": [call(ops.inv, SQUARE)],
    "lu": [call(lambda x: ops.lu(x)[0], SQUARE)],
    "lu_pivots_to_permutation": [call(lambda p: ops.lu_pivots_to_permutation(p, 3), np.array([1, 1, 2], "int32"))],
    "matmul": [call(ops.matmul, MATRIX, MATRIX.T.copy()), call(ops.matmul, VECTOR, OTHER)],
    "optimization_barrier": [call(lambda x, y: ops.optimization_barrier((x, y)), VECTOR, ONE)],
    "ormqr": [call(lambda a, t, c: ops.ormqr(a, t, c, left=False, transpose=True), SQUARE, ROW[:2], SQUARE[:2])],
    "pad": [call(lambda x, y: ops.pad(x, y, [(1, 2, 1)]), VECTOR, ONE)],
    "log_gamma_quotient": [call(ops.log_gamma_quotient, OTHER + 10, OTHER)],
    "polygamma": [call(ops.polygamma, np.array([0, 1, 2, 3]), OTHER**2), call(ops.polygamma, OTHER**2, OTHER**2)],
    "population_count": [call(ops.population_count, VECTOR)],
    "put_along_axis": [
        call(
            lambda x, i, y: ops.put_along_axis(x, i, y, 1, inplace=False),
            MATRIX,
            np.array([[0], [1], [3]]),
            np.array([[9.0], [1.5], [2.5]]),
        )
    ],
    "qr": [call(lambda x: [abs(y) for y in ops.qr(x)], SQUARE)],
    "random_bits": [
        call(lambda k, n: ops.random_bits((k, k), (n, n)), np.array([1, 2, 3], "uint32"), np.array([5, 6, 7], "uint32"))
    ],
    "random_gamma_grad": [call(ops.random_gamma_grad, OTHER**2, VECTOR**2)],
    "real": [call(ops.real, VECTOR)],
    **{f"reduce_{name}": _reduced(f"reduce_{name}") for name in ("and", "or", "xor", "max", "min", "prod", "sum")},
    "reduce_precision": [call(lambda x: ops.reduce_precision(x, 5, 4), VECTOR * 1.234)],
    **{name: _of_windows(name) for name in ("reduce_window_max", "reduce_window_min", "reduce_window_sum")},
    "remainder": [call(ops.remainder, VECTOR * 4, OTHER)],
    "reshape": [call(lambda x: ops.reshape(x, (2, 6)), MATRIX), call(lambda x: ops.reshape(x, (1,)), ONE)],
    "rev": [call(lambda x: ops.rev(x, (1,)), MATRIX)],
    "round": [call(lambda x, m=m: ops.round(x, m), np.array([0.5, 1.5, -2.5, 0.75])) for m in ops.RoundingMethod],
    **{
        name: _scattered(name)
        for name in ("scatter", "scatter_add", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub")
    },
    "schur": [call(lambda x: _product_of_schur(*ops.schur(x)), SQUARE)],
    "select": [call(ops.select, VECTOR > 0.3, VECTOR, OTHER), call(ops.select, VECTOR > 0.3, VECTOR, OTHER, free=(0,))],
    "select_and_gather_add": [call(lambda t, x: ops.select_and_gather_add(t, x, "ge", (2, 2)), MATRIX + 1, MATRIX)],
    "select_and_scatter_add": [
        call(lambda s, x: ops.select_and_scatter_add(s, x, "ge", (2, 2)), MATRIX[:2, :3] + 1, MATRIX)
    ],
    "select_n": [
        call(ops.select_n, VECTOR > 0.3, VECTOR, OTHER),
        call(ops.select_n, np.array([0, 2, 1, 0], "int32"), VECTOR, OTHER, VECTOR + 1),
        call(ops.select_n, np.array([0, 1, 1, 0]), VECTOR, OTHER, free=(0,)),
    ],
    "signbit": [call(ops.signbit, VECTOR)],
    "signed_pivots": [call(ops.signed_pivots, SQUARE)],
    "signed_product": [call(ops.signed_product, np.array([2.0, -3.0]), np.bool(True))],
    "slice": [call(lambda x: ops.slice(x, (0, 1), (3, 4), (2, 1)), MATRIX)],
    "slice_in_dim": [call(lambda x: ops.slice_in_dim(x, 1, 4, axis=1), MATRIX)],
    "slogdet": [call(ops.slogdet, SQUARE)],
    "slogdet_by_pivots": [call(ops.slogdet_by_pivots, SQUARE)],
    "solve": [call(ops.solve, SQUARE, ROW), call(lambda a, b: ops.solve(a, b, transpose_a=True), SQUARE, SQUARE)],
    "solve_by_factors": [
        call(ops.solve_by_factors, FACTOR, np.array([2, 0, 1], "int32"), ROW),
        call(ops.solve_by_factors, FACTOR, np.array([2, 0, 1], "int32"), ROW, free=(1,)),
    ],
    "sort": [
        call(ops.sort, MATRIX),
        call(lambda x, y: ops.sort((x, y), num_keys=1), VECTOR, OTHER),
        call(lambda x, y: ops.sort((x, y), num_keys=2), np.array([1.0, 0.5, 1.0, 0.5]), OTHER),
    ],
    "sort_key_val": [call(ops.sort_key_val, VECTOR, OTHER)],
    "split": [call(lambda x: ops.split(x, (1, 3)), VECTOR)],
    "squeeze": [call(lambda x: ops.squeeze(x, (0,)), MATRIX[:1])],
    "svd": [call(lambda x: ops.svd(x, compute_uv=False), MATRIX)],
    "symmetric_product": [
        call(lambda a, c: ops.symmetric_product(a, c, alpha=0.5, beta=2.0), SQUARE[:, :2], SYMMETRIC),
    ],
    "take": [
        call(lambda x, i: ops.take(x, i, 1), MATRIX, POSITIONS),
        call(lambda x, i: ops.take(x, i, 1), MATRIX, POSITIONS, free=(1,)),
        call(lambda x, i: ops.take(x, i, 1, mode="wrap"), MATRIX, POSITIONS + 3, free=(1,)),
    ],
    "take_along_axis": [
        call(lambda x, i: ops.take_along_axis(x, i, 1), MATRIX, np.array([[0], [1], [3]])),
        call(lambda x, i: ops.take_along_axis(x, i, 1), MATRIX, np.array([[0], [1], [3]]), free=(1,)),
    ],
    "take_along_dimension": [call(lambda x, i: ops.take_along_dimension(x, i, 1), MATRIX, np.array([[0], [1], [3]]))],
    "tensordot": [call(lambda x, y: ops.tensordot(x, y, 1), MATRIX, MATRIX.T.copy())],
    "top_k": [call(lambda x: ops.top_k(x, 2), MATRIX), call(lambda x: ops.top_k(x, 2, axis=0), MATRIX)],
    "transpose": [call(lambda x: ops.transpose(x, (1, 0)), MATRIX)],
    "triangular_solve": [
        call(lambda a, b: ops.triangular_solve(a, b, left_side=True, lower=True), FACTOR, SQUARE),
        call(lambda a, b: ops.triangular_solve(a, b, transpose_a=True, unit_diagonal=True), FACTOR.T.copy(), SQUARE),
    ],
    "tridiagonal": [call(ops.tridiagonal, SYMMETRIC)],
    "tridiagonal_solve": [call(ops.tridiagonal_solve, ROW - 1, ROW + 3, ROW, SQUARE)],
    "where": [
        call(ops.where, VECTOR > 0.3, VECTOR, OTHER),
        call(ops.where, VECTOR > 0.3, VECTOR, ONE),
        call(ops.where, VECTOR, VECTOR, OTHER, free=(0,)),
    ],
    "broadcasted_iota": [call(lambda x: ops.broadcasted_iota(x.dtype, (2, 3), 1), MATRIX)],
    "iota": [call(lambda x: ops.iota(x.dtype, 5), MATRIX)],
    "add_tangents": [call(lambda x: ops.add_tangents(x, x), VECTOR)],
    "apply_promoted": [call(lambda x, y: ops.apply_promoted(ops.add_p, "add", np.add, (x, y)), VECTOR, OTHER)],
    "promote": [call(lambda x: list(ops.promote("add", np.add, (x, np.int8(1)))), VECTOR)],
    "add_batch_dim": [call(lambda x: ops.add_batch_dim(x, 3, 1), VECTOR)],
    "align_to_front": [call(lambda x, y: ops.align_to_front((x, y), (1, None)), MATRIX, VECTOR)],
    "move_batch_dim": [call(lambda x: ops.move_batch_dim(x, 1, 0), MATRIX)],
    "align_scalars": [call(lambda x, y: list(ops.align_scalars((x, y), (1, 0), (1,))[0]), MATRIX, VECTOR)],
    "batch_matmul": [call(ops.batch_matmul, IMAGE[0], IMAGE[0].swapaxes(1, 2).copy())],
    "broadcast": [call(lambda x: ops.broadcast(x, (2, 1)), VECTOR)],
    "broadcast_like": [call(ops.broadcast_like, VECTOR, MATRIX)],
    "broadcast_to_rank": [call(lambda x: ops.broadcast_to_rank(x, 3), VECTOR)],
    "collapse": [call(lambda x: ops.collapse(x, 1, 3), IMAGE)],
    "conv_general_dilated_local": [
        call(
            lambda x, k: ops.conv_general_dilated_local(x, k, (1, 1), "VALID", (2, 2)),
            IMAGE[:, :, :3, :3],
            np.linspace(-1, 1, 32).reshape(1, 8, 2, 2),
        )
    ],
    "conv_general_dilated_patches": [
        call(lambda x: ops.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"), IMAGE)
    ],
    "from_array_like": [call(ops.from_array_like, VECTOR)],
    "index_in_dim": [call(lambda x: ops.index_in_dim(x, 1, 1, keepdims=False), MATRIX)],
    "index_take": [
        call(lambda x, i: ops.index_take(x, (i,), (0,)), MATRIX, POSITIONS),
        call(lambda x, i: ops.index_take(x, (i,), (0,)), MATRIX, POSITIONS, free=(1,)),
    ],
    "mulhi": [call(ops.mulhi, VECTOR, OTHER)],
    "one_minus_square": [call(ops.one_minus_square, VECTOR)],
    "polynomial": [call(lambda x, a: ops.polynomial(x, (a, a, a)), VECTOR, ONE)],
    "round_integer": [call(lambda x: ops.round_integer(x, 1), VECTOR)],
    "ragged_dot": [call(lambda x, y: ops.ragged_dot(x, y, np.array([2, 1])), MATRIX, IMAGE[0, :, :4].copy())],
    "ragged_dot_general": [
        call(
            lambda x, y: ops.ragged_dot_general(
                x, y, np.array([2, 1]), ops.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
            ),
            MATRIX,
            IMAGE[0, :, :4].copy(),
        )
    ],
}
