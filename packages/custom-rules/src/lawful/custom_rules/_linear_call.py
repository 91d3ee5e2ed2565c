"""``linear_call``: a linear function together with its transpose, each as its author wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful import tree
from lawful.autodiff import instantiated, jvp_jaxpr, zero_tangent
from lawful.batching import batch_jaxpr, place_batch_dim
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    NotLinearError,
    Primitive,
    Run,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    eval_closed_jaxpr,
    is_inexact,
)
from lawful.custom_rules._cotangent_types import may_be_of_number
from lawful.ops import add_tangents, convert_element_type, move_batch_dim, with_weakness_of
from lawful.staging import (
    copy_aliased,
    eval_call,
    flatten_outputs,
    function_name,
    hoist_common,
    in_avals,
    require_callable,
    trace_to_jaxpr,
    with_common_axes,
)

linear_call_p = Primitive("linear_call", multiple_results=True, pure_rules=True)


def linear_call[A, B, R](
    fun: Callable[[A, B], R], fun_transpose: Callable[[A, R], B], residual_args: A, linear_args: B
) -> R:
    """Returns ``fun(residual_args, linear_args)``, a function that is transposed as another function says.

    Args:
      fun: linear in its second argument; a function of two pytrees of arrays that gives such a tree.
      fun_transpose: ``fun_transpose(residual_args, ct)`` gives the cotangent of ``linear_args`` from that of the
        result.
      residual_args: a pytree of arrays.
      linear_args: a pytree of floating or complex arrays.

    Whether the functions are linear, and one the transpose of the other, is not checked here but by `lawful.laws`. By
    ``residual_args`` the function is differentiated through ``fun``.

    Raises:
      ArgumentTypeError: ``linear_args`` has integers, or the transpose gives something else than ``linear_args`` is.

    Laws: ``⟨w, fun(r, v)⟩ = ⟨fun_transpose(r, w), v⟩``; transposing twice is the identity. Source:
    ``jax.custom_derivatives.linear_call``.

    >>> from lawful.autodiff import linear_transpose
    >>> def scale(r, x):
    ...     return linear_call(lambda r, x: r * x, lambda r, ct: r * ct, r, x)
    >>> linear_transpose(lambda x: scale(3.0, x), 1.0)(2.0)
    (6.0,)
    """
    require_callable("linear_call", fun)
    require_callable("linear_call", fun_transpose)
    residuals, residual_tree = tree.flatten(residual_args)
    linear, linear_tree = tree.flatten(linear_args)
    avals = in_avals("linear_call", ((residual_args, linear_args), {}), [*residuals, *linear])
    for (path, _), aval in zip(tree.leaves_with_path(linear_args), avals[len(residuals) :], strict=True):
        if not is_inexact(aval.dtype):
            raise ArgumentTypeError(
                f"linear_call: expected floating or complex linear arguments, got {aval} at "
                f"linear_args{tree.keystr(path)}; pass it with the residual arguments"
            )
    count = len(residuals)
    callee, out_tree = _trace(fun, residual_tree, linear_tree, avals, count)
    transposed, ct_tree = _trace(fun_transpose, residual_tree, out_tree, [*avals[:count], *callee.out_avals], count)
    transposed = _with_cotangents_of_numbers(transposed, avals[count:])
    _require_cotangents(function_name(fun_transpose), linear_tree, avals[count:], ct_tree, transposed.out_avals)
    (callee, transposed), consts = hoist_common([callee, transposed])
    outs = _bind([*consts, *residuals, *linear], callee, transposed, len(consts) + count)
    result: R = tree.unflatten(out_tree, copy_aliased(outs, [*consts, *residuals, *linear]))
    return result


def _trace(
    function: Callable[[Any, Any], Any], first_tree: Any, second_tree: Any, avals: Sequence[ShapedArray], count: int
) -> tuple[ClosedJaxpr, Any]:
    out_tree: Any = None
    name = function_name(function)

    def flat(*leaves: Any) -> list[Any]:
        nonlocal out_tree
        result = function(tree.unflatten(first_tree, leaves[:count]), tree.unflatten(second_tree, leaves[count:]))
        outs, out_tree = flatten_outputs(f"linear_call of {name}", result)
        return outs

    return trace_to_jaxpr(flat, avals, transformation="linear_call", name=name), out_tree


def _with_cotangents_of_numbers(transposed: ClosedJaxpr, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Returns a transpose whose cotangents of Python numbers have the dtypes of these."""
    pairs = [*zip(transposed.out_avals, avals, strict=False)]
    differ = any([got.dtype != aval.dtype and may_be_of_number(got, aval) for got, aval in pairs])
    if not differ or len(transposed.out_avals) != len(avals):  # an error follows
        return transposed

    def converted(*args: Any) -> list[Any]:
        outs = eval_closed_jaxpr(transposed, *args)
        return [
            convert_element_type(x, aval.dtype) if may_be_of_number(got, aval) else x
            for x, (got, aval) in zip(outs, pairs, strict=True)
        ]

    return trace_to_jaxpr(converted, transposed.in_avals, transformation="linear_call", name=transposed.jaxpr.name)


def _require_cotangents(
    name: str, linear_tree: Any, avals: Sequence[ShapedArray], ct_tree: Any, cts: Sequence[ShapedArray]
) -> None:
    same = linear_tree == ct_tree and all(
        a.shape == b.shape and a.dtype == b.dtype for a, b in zip(avals, cts, strict=True)
    )
    if not same:
        raise ArgumentTypeError(
            f"linear_call: expected {name} to give a cotangent like the linear arguments, "
            f"{', '.join(map(str, avals))} in {linear_tree}, got {', '.join(map(str, cts))} in {ct_tree}; return the "
            "same tree of the same types"
        )


def _bind(args: Sequence[Any], callee: ClosedJaxpr, transposed: ClosedJaxpr, num_res: int) -> list[Any]:
    args = [*map(with_weakness_of, args, callee.in_avals)]
    args, jaxprs = with_common_axes(args, {"callee": callee, "transposed": transposed})
    outs: list[Any] = linear_call_p.bind(*args, num_res=num_res, **jaxprs)
    return outs


@linear_call_p.def_expand
@linear_call_p.def_impl
def _impl(*args: Any, callee: ClosedJaxpr, **_: Any) -> list[Any]:
    return eval_call(callee, *args)


@linear_call_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], *, callee: ClosedJaxpr, **_: Any) -> Any:
    return compile(callee)


@linear_call_p.def_lowering
def _lower(ctx: Any, *args: Any, callee: ClosedJaxpr, **_: Any) -> Any:
    return ctx.inline(callee, args)


@linear_call_p.def_abstract_eval
def _abstract_eval(
    *avals: ShapedArray, callee: ClosedJaxpr, transposed: ClosedJaxpr, num_res: int
) -> list[ShapedArray]:
    if list(avals) != callee.in_avals:
        raise ArgumentTypeError(
            f"linear_call_p: expected arguments of types {', '.join(map(str, callee.in_avals))}, got "
            f"{', '.join(map(str, avals))}; call linear_call"
        )
    return callee.out_avals


@linear_call_p.def_rule_as("runs")
def _runs(eqn: JaxprEqn) -> list[Run]:
    return [Run(eqn.params["callee"].jaxpr, range(len(eqn.invars)), range(len(eqn.outvars)))]


@linear_call_p.def_rule_as("weakness")
def _weakness(params: dict[str, Any]) -> list[bool]:
    return [aval.weak_type for aval in params["callee"].in_avals]


@linear_call_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    (callee, transposed), consts = hoist_common([params["callee"], params["transposed"]])
    count = params["num_res"] + len(consts)
    return [*consts, *args], {"callee": callee, "transposed": transposed, "num_res": count}


@linear_call_p.def_jvp
def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, callee: ClosedJaxpr, transposed: ClosedJaxpr, num_res: int
) -> tuple[list[Any], list[Any]]:
    params: dict[str, Any] = {"callee": callee, "transposed": transposed, "num_res": num_res}
    outs = _bind(primals, **params)
    dots: list[Any] = [zero_tangent(x) for x in outs]
    residuals, moving = primals[:num_res], tangents[num_res:]
    if any(type(t) is not Zero for t in moving):
        dots = _bind([*residuals, *map(instantiated, moving)], **params)
    nonzeros = (*[type(t) is not Zero for t in tangents[:num_res]], *[False] * len(moving))
    if any(nonzeros):
        derived, given = jvp_jaxpr(callee, nonzeros, False)
        steps = [t for t in tangents[:num_res] if type(t) is not Zero]
        found = iter(eval_closed_jaxpr(derived, *primals, *steps)[len(outs) :])
        dots = [add_tangents(dot, next(found)) if has else dot for dot, has in zip(dots, given, strict=True)]
    return outs, dots


@linear_call_p.def_transpose
def _transpose(cts: Sequence[Any], *args: Any, callee: ClosedJaxpr, transposed: ClosedJaxpr, num_res: int) -> list[Any]:
    residuals, linear = args[:num_res], args[num_res:]
    if any(isinstance(x, UndefinedPrimal) for x in residuals):
        raise NotLinearError(
            "linear_call: expected to be transposed by its linear arguments, got residual arguments that depend on "
            "what is transposed; use vjp, which linearizes first"
        )
    if all(type(ct) is Zero for ct in cts):
        return [None] * num_res + [Zero(x.aval) if isinstance(x, UndefinedPrimal) else None for x in linear]
    found = _bind([*residuals, *map(instantiated, cts)], transposed, callee, num_res)
    return [None] * num_res + [
        with_weakness_of(ct, x.aval) if isinstance(x, UndefinedPrimal) else None
        for ct, x in zip(found, linear, strict=True)
    ]


@linear_call_p.def_batch
def _batch(
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    axis_data: Any,
    callee: ClosedJaxpr,
    transposed: ClosedJaxpr,
    num_res: int,
) -> tuple[list[Any], list[int | None]]:
    # All linear arguments and results are batches, as the arguments and results of the transpose then are.
    linear = [place_batch_dim(x, dim, 0, axis_data.size) for x, dim in zip(args[num_res:], dims[num_res:], strict=True)]
    # Residuals are moved here: inside the call they would be moved again each time that it is applied.
    residuals = [move_batch_dim(x, dim) if dim else x for x, dim in zip(args[:num_res], dims[:num_res], strict=True)]
    of_residuals = tuple(None if dim is None else 0 for dim in dims[:num_res])
    batched, _ = batch_jaxpr(callee, axis_data, (*of_residuals, *(0,) * len(linear)), True)
    of_cts = (0,) * len(callee.out_avals)
    back, _ = batch_jaxpr(transposed, axis_data, (*of_residuals, *of_cts), True)
    return _bind([*residuals, *linear], batched, back, num_res), [*of_cts]
