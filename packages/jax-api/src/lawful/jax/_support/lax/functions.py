"""Names of `jax.lax` that lawful has elsewhere, or with other arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful import control_flow, numpy, ops
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype, get_aval
from lawful.jax._support.devices import xla_backend
from lawful.jax._support.lax.bit_generator import RandomAlgorithm as RandomAlgorithm
from lawful.jax._support.lax.bit_generator import rng_bit_generator as rng_bit_generator
from lawful.jax._support.lax.scatter_apply import scatter_apply as scatter_apply
from lawful.jax._support.numpy.dtype_functions import dtype_of

dtype = dtype_of
_ABSENT = object()


def _operands(name: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    if operand is _ABSENT:
        return operands
    if operands:
        raise ArgumentTypeError(f"{name}: expected operands by position or operand=, got both")
    return (operand,)


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any, operand: Any = _ABSENT
) -> Any:
    """Returns the result of the function that a condition chooses; see `lawful.control_flow.cond`.

    >>> cond(True, lambda x: x, lambda x: -x, 3.0)
    np.float64(3.0)
    """
    if not callable(true_fun) and len(operands) == 2 and callable(false_fun) and callable(operands[1]):
        # The old order of arguments: cond(pred, true_operand, true_fun, false_operand, false_fun).
        return control_flow.cond(pred, lambda x, _: false_fun(x), lambda _, y: operands[1](y), true_fun, operands[0])
    return control_flow.cond(pred, true_fun, false_fun, *_operands("cond", operands, operand))


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = _ABSENT) -> Any:
    """Returns the result of the function of a number; see `lawful.control_flow.switch`.

    >>> switch(1, [lambda x: x, lambda x: -x], 3.0)
    np.float64(-3.0)
    """
    return control_flow.switch(index, branches, *_operands("switch", operands, operand))


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """Returns a function that XLA may replace as a whole; here it is the decomposition.

    >>> composite(lambda x: x * 2.0, "my.double")(3.0)
    6.0
    """

    def call(*args: Any, **attributes: Any) -> Any:
        return decomposition(*args, **attributes)

    call.__name__ = name
    return call


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Returns a product of vectors, matrices, or dimensions that are given; see `lawful.ops.dot_general`.

    >>> dot(numpy.arange(3.0), numpy.arange(3.0))
    np.float64(5.0)
    """
    left, right = get_aval(lhs).ndim, get_aval(rhs).ndim
    if dimension_numbers is None:
        if not (1 <= left <= 2 and 1 <= right <= 2):
            raise ArgumentTypeError(
                f"dot: expected vectors or matrices, got {get_aval(lhs)} and {get_aval(rhs)}; give dimension_numbers"
            )
        dimension_numbers = (((left - 1,), (0,)), ((), ()))
    return ops.dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    """Returns the product, of a dtype; see `lawful.ops.mul`.

    >>> mul(2, 3, out_dtype="float32")
    np.float32(6.0)
    """
    if out_dtype is None:
        return ops.mul(x, y)
    wide = as_dtype(out_dtype)
    return ops.mul(ops.convert_element_type(x, wide), ops.convert_element_type(y, wide))


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> Any:
    """Returns the largest elements along a dimension and their positions, all of them exactly.

    >>> approx_max_k(numpy.asarray([3.0, 1.0, 2.0]), 2)
    (array([3., 2.]), array([0, 2], dtype=int32))
    """
    return ops.top_k(operand, k, axis=reduction_dimension)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> Any:
    """Returns the smallest elements along a dimension and their positions, all of them exactly.

    >>> approx_min_k(numpy.asarray([3.0, 1.0, 2.0]), 2)
    (array([1., 2.]), array([1, 2], dtype=int32))
    """
    values, positions = ops.top_k(ops.neg(operand), k, axis=reduction_dimension)
    return ops.neg(values), positions


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """Returns the result of the function for the platform that programs run on, or of the default one.

    >>> platform_dependent(3.0, default=lambda x: x * 2.0)
    6.0
    """
    platform = "cpu" if xla_backend is None else xla_backend.default_backend()
    chosen = per_platform.get(platform, default)
    if chosen is None:
        raise ArgumentValueError(f"platform_dependent: expected a function for {platform!r} or a default, got neither")
    return chosen(*args)


def stage(x: Any) -> Any:
    """Returns a value as an array.

    >>> stage([1.0, 2.0])
    array([1., 2.])
    """
    return numpy.asarray(x)


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Keeps the computation of a value in JAX's programs; it has no effect here, nor a result.

    >>> dce_sink(3.0)
    """


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Returns the shape of a reduction over windows.

    >>> reduce_window_shape_tuple((4, 4), (2, 2), (1, 1), [(0, 0), (0, 0)])
    (3, 3)
    """
    ones = (1,) * len(operand_shape)

    def grown(size: int, dilation: int) -> int:
        return (size - 1) * dilation + 1 if size else 0

    return tuple(
        max(0, (grown(size, base) + sum(pad) - grown(window, dilation)) // stride + 1)
        for size, window, stride, pad, base, dilation in zip(
            *(operand_shape, window_dimensions, window_strides, padding),
            *(base_dilation or ones, window_dilation or ones),
            strict=True,
        )
    )


#: The argument of `lawful.ops.conv_dimension_numbers`.
ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | ops.ConvDimensionNumbers | None


def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Returns the positions of the dimensions of both operands and of the result of a convolution.

    Raises:
      TypeError: these are not the letters of one convolution.

    >>> conv_general_permutations(("NHWC", "HWIO", "NHWC"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    shape = (1,) * len(dimension_numbers[0])
    return tuple(map(tuple, ops.conv_dimension_numbers(shape, shape, tuple(dimension_numbers))))


def shape_as_value(shape: Sequence[int]) -> Any:
    """Returns a shape as an array of int32.

    >>> shape_as_value((2, 3))
    array([2, 3], dtype=int32)
    """
    return numpy.asarray(tuple(shape), "int32")
