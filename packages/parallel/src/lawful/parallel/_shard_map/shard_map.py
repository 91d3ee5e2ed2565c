"""``shard_map``: the public function, which traces a function of parts and checks it against the specs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ClosedJaxpr,
    InvalidArgumentError,
    ShapedArray,
    TreeStructureError,
    deduplicated,
    get_aval,
)
from lawful.parallel._mesh.manual import manual_axes, outer_manual_axes
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh, get_mesh
from lawful.parallel._mesh.partition_spec import UNCONSTRAINED, PartitionSpec, axes_of_entry
from lawful.parallel._shard_map.axes import AxisName, Spec, axes_of, part_aval
from lawful.parallel._shard_map.primitive import bind_shard_map
from lawful.staging import (
    consts_as_inputs,
    copy_aliased,
    describe_argument,
    function_name,
    in_avals,
    kept,
    require_callable,
    trace_tree,
)

#: JAX's ``in_specs=jax.sharding.Infer``, its default: they are the shardings in the types of the arguments.
INFER: Final = object()


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    mesh: Mesh | AbstractMesh | None = None,
    in_specs: Any = INFER,
    out_specs: Any,
    axis_names: Iterable[AxisName] = frozenset(),
    check_vma: bool = True,
) -> Any:
    """Returns ``f`` mapped over the devices of a mesh: each runs it on its parts of the arguments.

    Args:
      f: a function of parts of arrays, in pytrees, that returns such a tree of parts. Collectives such as ``psum`` take
        the axes of the mesh by name. Without it, a decorator is returned.
      mesh: the mesh; by default that of an enclosing ``shard_map``, else that of `set_mesh`.
      in_specs: a `PartitionSpec` for each leaf of the arguments, or a prefix of their tree. An array that is not split
        over an axis is whole, and the same, on all devices along it. Under None, ``f`` gets the object itself.
      out_specs: a spec for each array of the result, or a prefix of its tree. A result that is not split over an axis
        must be the same along it.
      axis_names: the axes that ``f`` maps over; by default all that are not mapped over already. The others are left
        to the compiler.
      check_vma: whether types say which values vary over which axes, so that results are checked and derivatives have
        no collective that they do not need.

    Raises:
      ArgumentTypeError: a spec is none, or there are no ``in_specs``: types have no shardings that would say them.
      InvalidArgumentError: a result that ``out_specs`` calls the same along an axis varies over it, or there is
        no mesh.
      ArgumentValueError: specs do not fit the trees, ranks or sizes, or name an axis that is not mapped over.

    Laws: equal to ``vmap`` over the named axes, in value and every derivative. Source: ``jax.shard_map``.

    >>> import numpy as np
    >>> from lawful.batching import psum
    >>> from lawful.parallel import PartitionSpec as P, make_mesh, numpy_devices
    >>> mesh = make_mesh((4,), ("x",), devices=numpy_devices(4))
    >>> normalized = shard_map(lambda x: x / psum(x.sum(), "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    >>> normalized(np.array([1.0, 3.0, 4.0, 2.0]))
    array([0.1, 0.3, 0.4, 0.2])
    """
    if f is None:
        return functools.partial(
            shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, axis_names=axis_names, check_vma=check_vma
        )
    require_callable("shard_map", f)
    name = f"shard_map of {function_name(f)}"
    function = f

    @functools.wraps(f, updated=())
    def mapped(*args: Any) -> Any:
        on = _mesh(name, mesh)
        names = _names(name, on, axis_names)
        leaves, whole_tree = tree.flatten(args)
        found = _in_specs(name, in_specs, args)
        is_array = [spec is not None for spec in found]
        paths = kept([path for path, _ in tree.leaves_with_path((args, {}))], is_array)
        specs, arrays = [spec for spec in found if spec is not None], kept(leaves, is_array)
        avals = in_avals(name, (args, {}), arrays)
        for path, spec, aval in zip(paths, specs, avals, strict=True):
            _check(name, describe_argument(path), spec, aval, on, names)
        dims = [_dims(spec, aval.ndim) for spec, aval in zip(specs, avals, strict=True)]
        parts = tuple([part_aval(aval, spec, on.shape, check_vma) for aval, spec in zip(avals, dims, strict=True)])

        @functools.wraps(function, updated=())
        def of_arrays(*arrays: Any) -> Any:
            rest = iter(arrays)
            given = [next(rest) if array else leaf for array, leaf in zip(is_array, leaves, strict=True)]
            return function(*tree.unflatten(whole_tree, given))

        with manual_axes(on, names, check_vma):
            in_tree = tree.structure((tuple(arrays), {}))
            closed, out_tree = trace_tree("shard_map", of_arrays, in_tree, parts)
        out_dims = _out_dims(name, out_specs, out_tree, closed, on, names, check_vma)
        opened, consts = consts_as_inputs(closed)
        whole: list[Spec] = [((),) * get_aval(x).ndim for x in consts]
        outs = bind_shard_map(
            [*consts, *arrays],
            deduplicated(opened),
            [*whole, *dims],
            out_dims,
            mesh=on,
            axis_names=names,
            check_vma=check_vma,
        )
        return tree.unflatten(out_tree, copy_aliased(outs, [*consts, *arrays]))

    return mapped


def _mesh(name: str, mesh: Any) -> Mesh | AbstractMesh:
    found = get_mesh() if mesh is None else mesh
    if not isinstance(found, Mesh | AbstractMesh):
        raise InvalidArgumentError(
            f"{name}: expected a mesh, got {found!r}; give mesh=, or call it inside `with set_mesh(mesh)`"
        )
    return found


def _names(name: str, mesh: Mesh | AbstractMesh, axis_names: Any) -> tuple[AxisName, ...]:
    """Returns the axes to map over, in the order of the mesh."""
    wanted = {axis_names} if isinstance(axis_names, str) else {*axis_names}
    unknown = wanted - {*mesh.axis_names}
    if unknown:
        raise ArgumentValueError(
            f"{name}: expected axis_names of {mesh}, got {', '.join(map(repr, sorted(unknown, key=str)))}; correct them"
        )
    taken = outer_manual_axes()
    again = [axis for axis in mesh.axis_names if axis in wanted and axis in taken]
    if again:
        raise ArgumentValueError(
            f"{name}: expected axis_names that are not mapped over already, got {', '.join(map(repr, again))}; leave "
            "them out, or use vmap here"
        )
    return tuple([axis for axis in mesh.axis_names if (axis in wanted if wanted else axis not in taken)])


def _is_spec(x: Any) -> bool:
    return x is None or isinstance(x, PartitionSpec)


def _in_specs(name: str, specs: Any, args: Any) -> list[PartitionSpec | None]:
    """Returns the spec of each leaf of the arguments; None for an object that is passed as it is."""
    if specs is INFER:
        raise ArgumentTypeError(
            f"{name}: expected in_specs, got none; types have no shardings that would say them: write a PartitionSpec "
            "for each argument"
        )
    return _specs(name, "in_specs", tuple(specs) if isinstance(specs, list) else specs, "arguments", args)


def _specs(name: str, what: str, specs: Any, of: str, full: Any) -> list[PartitionSpec | None]:
    """Returns the spec of each leaf of a tree, of which the specs are a prefix; None where None stands."""
    for spec in tree.leaves(specs, is_leaf=_is_spec):
        if not _is_spec(spec):
            raise _no_spec(name, what, spec)
    try:
        return tree.broadcast_prefix(specs, full, is_leaf=_is_spec)
    except TreeStructureError as error:
        raise ArgumentValueError(
            f"{name}: expected {what} that is a prefix of the tree of the {of}, {tree.structure(full)}, got {specs}: "
            f"{error.message}"
        ) from error


def _no_spec(name: str, what: str, spec: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{name}: expected {what} of PartitionSpecs, got {spec!r}; write PartitionSpec() for an array that is whole on "
        "every device"
    )


def _check(
    name: str, where: str, spec: PartitionSpec, aval: ShapedArray, mesh: Mesh | AbstractMesh,
    names: Sequence[AxisName], *, is_result: bool = False,
) -> None:  # fmt: skip
    """Raises ArgumentValueError if a spec does not fit the type of an array, or of a part of one."""
    if len(spec) > aval.ndim:
        raise ArgumentValueError(
            f"{name}: expected a spec of at most {aval.ndim} dimensions for {where} of type {aval}, got {spec}; "
            "shorten the spec"
        )
    for dim, entry in enumerate(spec):
        axes = axes_of_entry(entry)
        wrong = [axis for axis in axes if axis not in names]
        if entry is UNCONSTRAINED or wrong:
            got = "UNCONSTRAINED" if entry is UNCONSTRAINED else repr(wrong[0])
            taken = wrong and wrong[0] in outer_manual_axes()
            cure = "an enclosing one maps over it: leave it out" if taken else "correct it, or add it to axis_names"
            raise ArgumentValueError(
                f"{name}: expected in the spec of {where} axes that are mapped over, "
                f"{', '.join(map(repr, names)) or 'of which there are none'}, got {got} in {spec}; {cure}"
            )
        count = math.prod(mesh.shape[axis] for axis in axes)
        if not is_result and aval.shape[dim] % count:
            of = f"axis {axes[0]!r}" if len(axes) == 1 else f"axes {', '.join(map(repr, axes))}"
            raise ArgumentValueError(
                f"{name}: expected dimension {dim} of {where} of type {aval} to be a multiple of {count}, the size of "
                f"{of} of the mesh, got {aval.shape[dim]}; pad it, or split another dimension"
            )


def _dims(spec: PartitionSpec, ndim: int) -> Spec:
    dims = tuple(map(axes_of_entry, spec))
    return dims + ((),) * (ndim - len(dims))


def _out_dims(
    name: str, out_specs: Any, out_tree: Any, closed: ClosedJaxpr, mesh: Mesh | AbstractMesh,
    names: Sequence[AxisName], checked: bool,
) -> list[Spec]:  # fmt: skip
    """Returns the spec of each result; raises an error if one does not fit the function."""
    numbered = tree.unflatten(out_tree, range(out_tree.num_leaves))
    specs = _specs(name, "out_specs", out_specs, "result", numbered)
    dims = []
    for (path, _), spec, aval in zip(tree.leaves_with_path(numbered), specs, closed.out_avals, strict=True):
        if spec is None:
            raise _no_spec(name, "out_specs", spec)
        where = f"result{tree.keystr(path)}"
        _check(name, where, spec, aval, mesh, names, is_result=True)
        dims.append(_dims(spec, aval.ndim))
        hidden = [axis for axis in names if axis in aval.vma and axis not in axes_of(dims[-1])]
        if checked and hidden:
            axes = ", ".join(map(repr, hidden))
            raise InvalidArgumentError(
                f"{name}: expected {where} to be the same along {axes}, as its spec {spec} says, got a value that may "
                f"vary over {axes}; apply a collective such as psum or pmean over it, or name the axis in out_specs"
            )
    return dims
