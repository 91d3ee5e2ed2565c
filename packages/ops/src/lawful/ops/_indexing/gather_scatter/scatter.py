"""The family of scatters: windows of an array, written at dynamic positions or combined with its elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    Call,
    Choose,
    Declaration,
    Interval,
    Primitive,
    ShapedArray,
    get_aval,
    is_inexact,
)
from lawful.ops._indexing.gather_scatter.scatter_derivatives import (
    Rule,
    jvp_of_extremum,
    jvp_of_linear,
    jvp_of_product,
    jvp_of_replacement,
    transpose_of_addition,
    transpose_of_product,
    transpose_of_replacement,
)
from lawful.ops._indexing.gather_scatter.scatter_evaluation import lower_scatter, write_rows, write_windows
from lawful.ops._indexing.gather_scatter.window_positions import layout, reads_rows
from lawful.ops._indexing.gather_scatter.windows import (
    DimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    Windows,
    check_indices,
    draw_windows,
    has_one_window,
    plain_dimension_numbers,
    shifted,
    window_start,
    windows_of_updates,
)
from lawful.ops._support.batch_dimensions import add_batch_dim, move_batch_dim
from lawful.ops._support.dtypes import check_kind
from lawful.ops._support.promotion import convert
from lawful.ops._support.structural import strong

__all__ = [
    "scatter",
    "scatter_add",
    "scatter_add_p",
    "scatter_max",
    "scatter_max_p",
    "scatter_min",
    "scatter_min_p",
    "scatter_mul",
    "scatter_mul_p",
    "scatter_p",
    "scatter_sub",
    "scatter_sub_p",
]


class Scatter(Protocol):
    """A function that writes windows."""

    def __call__(
        self,
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
    ) -> Any: ...


def _scatter(
    name: str,
    doc: str,
    ufunc: np.ufunc | None,
    hlo: str | None,
    *,
    kinds: str,
    prints: str,
    jvp: Rule,
    transpose: Rule | None = None,
    linear: tuple[tuple[int, ...], ...] = (),
    repeats: bool = True,
) -> tuple[Scatter, Primitive]:
    """Declares a scatter.

    Args:
      name: the primitive's name, and the function's.
      doc: the first line of the function's docstring.
      ufunc: combines elements with updates; None to replace them.
      hlo: the StableHLO op that does so.
      kinds: the dtype kinds that it is defined for.
      prints: what the example in the docstring prints.
      jvp: ``jvp(primitive, primals, tangents, **params)``.
      transpose: ``transpose(primitive, ct, operand, indices, updates, **params)``; None where it is not linear.
      linear: sets of arguments in which it is jointly linear.
      repeats: whether the derivative exists where indices repeat.
    """
    primitive = Primitive(name, pure_rules=True)
    primitive.def_rule("operations", lambda eqn: eqn.invars[-1].aval.size if name != "scatter" else 0)

    def function(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
    ) -> Any:
        operand, aval = strong(operand), get_aval(operand)
        updates = _converted(updates, aval.dtype)
        _check_dtypes(name, kinds, aval, get_aval(scatter_indices), get_aval(updates))
        return primitive.bind(
            operand,
            strong(scatter_indices),
            updates,
            dimension_numbers=plain_dimension_numbers(name, dimension_numbers),
            indices_are_sorted=bool(indices_are_sorted),
            unique_indices=bool(unique_indices),
            mode=GatherScatterMode.from_any(mode).value,
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc}

    Most programs write ``x.at[...]``, which is made of this.

    Args:
      operand: an array.
      scatter_indices: integers, of which the last dimension is the index vector.
      updates: the windows, of the dtype of the operand, or a Python number's.
      dimension_numbers: how the dimensions belong together.
      indices_are_sorted: a promise that may make it faster.
      unique_indices: a promise that windows do not overlap, which derivatives use.
      mode: what becomes of a window that is partly outside: ``"clip"`` moves it inside, ``"drop"``, the default,
        leaves it out, ``"promise_in_bounds"`` says that there is none.

    Raises:
      ArgumentTypeError: the shapes, dtypes and dimension numbers do not fit together.
      ArgumentValueError: there is no such mode.

    Where several updates meet, they are taken in the order of their indices on the CPU; elsewhere in any order.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> {name}(np.array([1, 2, 3]), np.array([[0], [0], [2]]), np.array([4, 5, 2]), numbers)
    {prints}

    Source: ``jax.lax.{name}``.
    """

    @primitive.def_impl
    def impl(x: Any, indices: Any, updates: Any, *, dimension_numbers: DimensionNumbers, mode: str, **_: Any) -> Any:
        x, indices, updates = map(np.asarray, (x, indices, updates))
        windows = windows_of_updates(x.shape, indices.shape, updates.shape, dimension_numbers)
        return write_windows(x, indices, updates, layout(name, windows), ufunc, clip=mode == "clip")

    @primitive.def_rule_as("numpy")
    def specialised(avals: Sequence[ShapedArray], compile: Any, **params: Any) -> Callable[..., Any]:
        function = primitive.rule("impl")
        x, indices, updates = [aval.shape for aval in avals]
        if function is not impl or not (x and updates):
            return partial(function, **params)
        # Operands with dimensions are arrays; the layout of their windows is precomputed.
        of_windows = layout(name, windows_of_updates(x, indices, updates, params["dimension_numbers"]))
        clip = params["mode"] == "clip"
        if ufunc is not None and of_windows.is_in_order and reads_rows(of_windows):
            return partial(write_rows, of_windows=of_windows, ufunc=ufunc, clip=clip)
        return partial(write_windows, of_windows=of_windows, ufunc=ufunc, clip=clip)

    @primitive.def_abstract_eval
    def abstract_eval(
        x: ShapedArray, indices: ShapedArray, updates: ShapedArray, *, dimension_numbers: DimensionNumbers, **_: Any
    ) -> ShapedArray:
        return _infer(name, kinds, x, indices, updates, dimension_numbers)

    @primitive.def_jvp
    def jvp_rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        return jvp(primitive, primals, tangents, **params)

    if transpose is None:
        primitive.declare_absent("transpose", "it is not linear")
    else:

        @primitive.def_transpose
        def transpose_rule(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
            return transpose(primitive, ct, x, indices, updates, **params)

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int | None], **params: Any) -> tuple[Any, int]:
        return _batch(primitive, args, dims, **params)

    @primitive.def_lowering
    def lower(ctx: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
        return lower_scatter(ctx, x, indices, updates, hlo, **params)

    def sample(choose: Choose) -> Call:
        windows, dtype = draw_windows(choose), choose.dtype(kinds.replace("V", ""))
        if not repeats and is_inexact(dtype):
            windows = _without_repetition(windows)
        single = has_one_window(windows)
        params = {
            "dimension_numbers": tuple(windows.numbers),
            "indices_are_sorted": single and choose.one_of((False, True)),
            "unique_indices": single and ((not repeats and is_inexact(dtype)) or choose.one_of((False, True))),
            "mode": choose.one_of(("clip", "fill_or_drop")),
        }
        indices = ShapedArray(windows.indices, choose.dtype("iu"))
        return (ShapedArray(windows.operand, dtype), indices, ShapedArray(windows.gathered, dtype)), params

    primitive.declaration = Declaration(
        sample=sample,
        reference=_reference(ufunc),
        domain=(Interval(), Interval(-2.0, 4.0), Interval()),
        kinds=kinds,
        linear=linear,
    )
    return function, primitive


def _converted(updates: Any, dtype: np.dtype[Any]) -> Any:
    aval = get_aval(updates)
    return convert(updates, dtype) if aval.weak_type else updates


def _check_dtypes(name: str, kinds: str, x: ShapedArray, indices: ShapedArray, updates: ShapedArray) -> None:
    check_kind(name, x, kinds)
    check_indices(name, indices)
    if updates.dtype != x.dtype:
        raise ArgumentTypeError(
            f"{name}: expected updates of the operand's dtype, got {x} and {updates}; convert with astype"
        )


def _infer(
    name: str, kinds: str, x: ShapedArray, indices: ShapedArray, updates: ShapedArray, numbers: DimensionNumbers
) -> ShapedArray:
    _check_dtypes(name, kinds, x, indices, updates)
    windows = windows_of_updates(x.shape, indices.shape, updates.shape, numbers)
    windows.check(name)
    if windows.gathered != updates.shape:
        raise ArgumentTypeError(
            f"{name}: expected updates of shape {windows.gathered}, a window for each index vector of {indices}, got "
            f"{updates}; broadcast or reshape them"
        )
    return ShapedArray(x.shape, x.dtype)


def _batch(
    primitive: Primitive,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: DimensionNumbers,
    indices_are_sorted: bool,
    **params: Any,
) -> tuple[Any, int]:
    size = next(get_aval(x).shape[dim] for x, dim in zip(args, dims, strict=True) if dim is not None)
    x, indices, updates = (
        x if dim is None and i == 1 else add_batch_dim(x, size) if dim is None else move_batch_dim(x, dim)
        for i, (x, dim) in enumerate(zip(args, dims, strict=True))
    )
    offset, inserted, index_map, batching, index_batching = dimension_numbers
    offset, inserted = shifted(offset), shifted(inserted)
    index_map, batching = shifted(index_map), shifted(batching)
    if dims[1] is None:
        offset = (0, *offset)  # each window is written to the whole batch
    else:
        batching, index_batching = (0, *batching), (0, *shifted(index_batching))
    out = primitive.bind(
        x,
        indices,
        updates,
        dimension_numbers=(offset, inserted, index_map, batching, index_batching),
        # Index vectors are sorted within each batch element only.
        indices_are_sorted=indices_are_sorted and dims[1] is None,
        **params,
    )
    return out, 0


def _without_repetition(windows: Windows) -> Windows:
    """Returns windows with at most one in each batch element."""
    index_batching = windows.numbers.start_indices_batching_dims
    batch = [size if dim in index_batching else min(size, 1) for dim, size in enumerate(windows.batch)]
    return Windows(windows.operand, (*batch, windows.indices[-1]), windows.sizes, windows.numbers)


def _reference(ufunc: np.ufunc | None) -> Callable[..., Any]:
    def scatter(x: Any, indices: Any, updates: Any, *, dimension_numbers: DimensionNumbers, mode: str, **_: Any) -> Any:
        """Scatters window by window."""
        windows = windows_of_updates(x.shape, indices.shape, updates.shape, dimension_numbers)
        out = np.array(x)
        by_window = np.moveaxis(np.asarray(updates), windows.batch_dims, range(len(windows.batch)))
        for where in np.ndindex(windows.batch):
            starts, last = window_start(windows, indices, where)
            if mode != "clip" and any(not 0 <= a <= b for a, b in zip(starts, last, strict=True)):
                continue
            starts = [min(max(a, 0), b) for a, b in zip(starts, last, strict=True)]
            box: tuple[Any, ...] = (*[slice(a, a + n) for a, n in zip(starts, windows.sizes, strict=True)], ...)
            update = by_window[where].reshape(windows.sizes)
            out[box] = update if ufunc is None else ufunc(out[box], update)
        return out

    return scatter


scatter, scatter_p = _scatter(
    "scatter",
    "Returns ``operand`` with windows of it replaced by updates.",
    None,
    None,
    kinds="fiubcV",
    jvp=jvp_of_replacement,
    transpose=transpose_of_replacement,
    linear=((0, 2),),
    prints="array([5, 2, 2])",
)
scatter_add, scatter_add_p = _scatter(
    "scatter_add",
    "Returns ``operand`` with updates added to windows of it.",
    np.add,
    "add",
    kinds="fiuc",
    jvp=jvp_of_linear,
    transpose=transpose_of_addition,
    linear=((0, 2),),
    prints="array([10,  2,  5])",
)
scatter_sub, scatter_sub_p = _scatter(
    "scatter_sub",
    "Returns ``operand`` with updates subtracted from windows of it.",
    np.subtract,
    "subtract",
    kinds="fiuc",
    jvp=jvp_of_linear,
    transpose=transpose_of_addition,
    linear=((0, 2),),
    prints="array([-8,  2,  1])",
)
scatter_mul, scatter_mul_p = _scatter(
    "scatter_mul",
    "Returns ``operand`` with windows of it multiplied by updates; differentiable in these if ``unique_indices``.",
    np.multiply,
    "multiply",
    kinds="fiuc",
    jvp=jvp_of_product,
    transpose=transpose_of_product,
    linear=((0,),),
    repeats=False,
    prints="array([20,  2,  6])",
)
scatter_min, scatter_min_p = _scatter(
    "scatter_min",
    "Returns ``operand`` with windows of it replaced by updates where these are smaller.",
    np.minimum,
    "minimum",
    kinds="fiub",
    jvp=jvp_of_extremum,
    prints="array([1, 2, 2])",
)
scatter_max, scatter_max_p = _scatter(
    "scatter_max",
    "Returns ``operand`` with windows of it replaced by updates where these are larger.",
    np.maximum,
    "maximum",
    kinds="fiub",
    jvp=jvp_of_extremum,
    prints="array([5, 2, 3])",
)
