"""The batching trace: applies each primitive's batching rule to values that carry a batch dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final

from lawful.batching._axis import AxisData, mentions_axis, names_axis
from lawful.batching._weakness import weak_results
from lawful.core import (
    ClosedJaxpr,
    Hook,
    Primitive,
    ShapedArray,
    SourceLine,
    Trace,
    Tracer,
    at_source,
    current,
    eval_closed_jaxpr,
    get_aval,
    jaxprs_in_params,
    memoize,
    new_trace,
    pair_of_rule,
    register_array_type,
    set_current,
    user_source,
)
from lawful.ops import add_batch_dim, move_batch_dim
from lawful.staging import trace_to_jaxpr


class BatchTracer(Tracer):
    """One element of a batch: a value with a batch dimension, which the function being mapped does not see.

    The batch is an array, and so strong; ``weak_type`` says whether the element would be a Python scalar.
    """

    __slots__ = ("aval", "batch_dim", "source", "val")

    def __init__(self, trace: Trace, val: Any, batch_dim: int, source: SourceLine | None, weak_type: bool) -> None:
        self._trace = trace
        self.val = val
        self.batch_dim = batch_dim
        self.source = source
        batched = get_aval(val)
        shape = batched.shape[:batch_dim] + batched.shape[batch_dim + 1 :]
        self.aval = ShapedArray(shape, batched.dtype, weak_type, batched.vma)


register_array_type(BatchTracer, aval=attrgetter("aval"))


def batched_aval(aval: ShapedArray, dim: int | None, size: int) -> ShapedArray:
    """Returns the type of a batch of elements of a type; it is an array, and so strong."""
    if dim is None:
        return aval
    return aval.update(shape=(*aval.shape[:dim], size, *aval.shape[dim:]), weak_type=False)


class BatchTrace(Trace):
    """Applies batching rules, under the parent. Operations on constants go to the parent.

    >>> from lawful.ops import full, sin
    >>> with new_trace(trace := BatchTrace(current.trace, AxisData(3))):
    ...     sin(trace.new_tracer(full((3, 2), 0.0), 0))
    Tracer(f64[2], vmap)
    """

    __slots__ = ("axis_data", "collective")

    def __init__(self, parent: Trace, axis_data: AxisData) -> None:
        super().__init__(parent, "vmap")
        self.axis_data = axis_data
        #: Whether an operation over the mapped axis was applied, by its name.
        self.collective = False
        if axis_data.name is not None:
            self.axis_env = (*parent.axis_env, (axis_data.name, axis_data.size))

    def new_tracer(self, val: Any, dim: int | None, weak_type: bool = False) -> Any:
        """Returns an element of a batch; the value itself where it is not batched: it is a constant here."""
        return val if dim is None else BatchTracer(self, val, dim, self.source, weak_type)

    def split(self, x: Any) -> tuple[Any, int | None]:
        """Returns the value and the batch dimension of a value, which may be a constant."""
        return (x.val, x.batch_dim) if type(x) is BatchTracer and x._trace is self else (x, None)

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        parent = self.parent
        assert parent is not None
        named = self.axis_data.name is not None and self.is_named_in(params)
        if not named and not any([type(x) is BatchTracer and x._trace is self for x in args]):
            return parent.process_primitive(primitive, args, params)
        self.collective |= named
        vals, dims = zip(*map(self.split, args), strict=True) if args else ((), ())
        rule = primitive.rule("batch")
        if primitive.batch_takes_axis_data:
            rule = partial(rule, axis_data=self.axis_data)
        source = user_source()
        with at_source(source), set_current(parent):
            outs, dims_out = pair_of_rule(primitive, "batch", "(out, out_dim)", rule([*vals], [*dims], **params))
        if not primitive.multiple_results:
            outs, dims_out = [outs], [dims_out]
        weak = weak_results(primitive, args, params) or [False] * len(outs)
        results = [
            x if dim is None else BatchTracer(self, x, dim, source, is_weak)
            for x, dim, is_weak in zip(outs, dims_out, weak, strict=True)
        ]
        return results if primitive.multiple_results else results[0]

    def is_named_in(self, params: dict[str, Any]) -> bool:
        """Whether an operation depends on the mapped axis by its name, also if it is on constants."""
        name = self.axis_data.name
        is_over = names_axis(params.get("axis_name"), name)
        return is_over or any([mentions_axis(jaxpr, name) for jaxpr in jaxprs_in_params(params)])


#: The class of the traces of `vmap`.
batch_hook: Final[Hook[type[BatchTrace]]] = Hook("batching", BatchTrace)


def new_batch_trace(parent: Trace, axis_data: AxisData) -> BatchTrace:
    """Returns a trace that batches over an axis.

    >>> new_batch_trace(current.trace, AxisData(3, "rows")).axis_env
    (('rows', 3),)
    """
    return batch_hook.for_traces(parent, axis_data)


def batch_flat(
    function: Callable[..., Sequence[Any]],
    axis_data: AxisData,
    vals: Sequence[Any],
    dims: Sequence[int | None],
    weak_types: Sequence[bool] | None = None,
) -> tuple[list[Any], list[int | None]]:
    """Returns the flat outputs of a flat function of batches, and their batch dimensions.

    Args:
      function: of elements of the batch.
      axis_data: size and name of the batch.
      vals: the batches.
      dims: the batch dimension of each, or None.
      weak_types: whether each element stands for a Python scalar; by default none does.
    """
    trace = new_batch_trace(current.trace, axis_data)
    weak = (False,) * len(vals) if weak_types is None else weak_types
    with new_trace(trace):
        outs = function(*map(trace.new_tracer, vals, dims, weak))
    pairs = [trace.split(x) for x in outs]
    return [x for x, _ in pairs], [dim for _, dim in pairs]


def place_batch_dim(x: Any, dim: int | None, wanted: int | None, size: int) -> Any:
    """Returns a value with its batch dimension where it is wanted, repeated if it has none yet.

    >>> place_batch_dim(1.0, None, 0, 3)
    array([1., 1., 1.])
    """
    if wanted is None:
        assert dim is None, "a batched value cannot lose its batch dimension"
        return x
    return add_batch_dim(x, size, wanted) if dim is None else move_batch_dim(x, dim, wanted)


@memoize
def batch_jaxpr(
    closed: ClosedJaxpr,
    axis_data: AxisData,
    dims: tuple[int | None, ...],
    instantiate: bool | tuple[bool, ...],
) -> tuple[ClosedJaxpr, tuple[int | None, ...]]:
    """Returns the batched form of a jaxpr, and the batch dimension of each output.

    Args:
      closed: the program.
      axis_data: size and name of the batch.
      dims: for each input, its batch dimension, or None if all batch elements share it.
      instantiate: whether outputs that all batch elements share are repeated, for all or for each. An output that is
        instantiated has its batch dimension in front.

    >>> from lawful.staging import make_jaxpr
    >>> batch_jaxpr(make_jaxpr(lambda x: x)(2.0), AxisData(3), (0,), False)
    ({ lambda ; a:f64[3]. let in (a,) }, (0,))
    """
    size = axis_data.size
    in_avals = [batched_aval(aval, dim, size) for aval, dim in zip(closed.in_avals, dims, strict=True)]
    # Where the mapped axis stands for one of a mesh, no type says what varies over it.
    in_avals = [aval.update(vma=aval.vma - {axis_data.name}) for aval in in_avals]
    wanted = (instantiate,) * len(closed.out_avals) if isinstance(instantiate, bool) else instantiate
    dims_out: tuple[int | None, ...] = ()

    def batched(*args: Any) -> list[Any]:
        nonlocal dims_out
        weak = [aval.weak_type for aval in closed.in_avals]
        outs, found = batch_flat(lambda *xs: eval_closed_jaxpr(closed, *xs), axis_data, args, dims, weak)
        dims_out = tuple(0 if want else dim for dim, want in zip(found, wanted, strict=True))
        return [place_batch_dim(x, dim, to, size) for x, dim, to in zip(outs, found, dims_out, strict=True)]

    jaxpr = trace_to_jaxpr(batched, in_avals, transformation="vmap", name=f"vmap_{closed.jaxpr.name}")
    return jaxpr, dims_out
