"""``pmap``: the public function."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lawful import tree
from lawful.batching import common_size, input_axes, output_axes
from lawful.core import ArgumentValueError, Tracer, deduplicated
from lawful.ops import static_integers
from lawful.parallel._mesh.devices import Device, local_devices, xla
from lawful.parallel._mesh.manual import manual_axes
from lawful.parallel._mesh.mesh import Mesh
from lawful.parallel._mesh.partition_spec import PartitionSpec
from lawful.parallel._mesh.sharding import NamedSharding
from lawful.parallel._pmap.primitive import xla_pmap_p
from lawful.staging import consts_as_inputs, function_name, in_avals, jit, require_callable, trace_tree


@dataclass(frozen=True, slots=True, repr=False)
class _Axis:
    """The name of an axis that the user gave none.

    Axes of functions of one name are equal: caches, whose keys hold axes, find what an equal function left there. In a
    nest, the inner axis hides the outer one, which no program can name.
    """

    function: str

    def __repr__(self) -> str:
        return re.sub(r"\W", "_", f"axis_of_{self.function}")


def pmap(
    fun: Callable[..., Any] | None = None,
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
) -> Any:
    """Returns ``fun`` mapped over a dimension of its arguments, with one element on each device.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. Without it, a decorator is returned.
      axis_name: a name for the mapped axis, which ``psum`` and its like refer to.
      in_axes: which dimension of each argument is mapped, as for ``vmap``; None for what every device gets whole.
      out_axes: where the mapped dimension goes in the result; None for the result of the first device.
      static_broadcasted_argnums: positions of hashable arguments that ``fun`` gets as they are.
      devices: the devices; by default the first of `devices`, as many as there are elements.
      backend: the platform of the devices: ``"cpu"``, ``"cuda"``, or ``"numpy"`` for those that NumPy plays.
      axis_size: the number of elements; needed only if no argument is mapped.
      donate_argnums: positions of arguments whose memory the result may take.

    The function is compiled, once for each signature. It is a `shard_map` over a mesh of one axis, whose collectives
    are differentiated as under ``vmap``: the transpose of ``psum`` is ``psum``. A call outside of any transformation
    moves Arrays that are on as many other devices, or on these in another order; an Array on one device, of an argument
    that is not mapped, it copies to each.

    Raises:
      ArgumentValueError: there are more elements than devices, the mapped dimensions differ in size, or ``in_axes``
        does not fit the arguments.

    Law: ``pmap(f)`` is ``vmap(f)``. Source: ``jax.pmap``.

    >>> import numpy as np
    >>> from lawful.batching import psum
    >>> from lawful.parallel import numpy_devices
    >>> pmap(lambda x: x / psum(x, "i"), "i", devices=numpy_devices(2))(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    if fun is None:
        return functools.partial(
            pmap, axis_name=axis_name, in_axes=in_axes, out_axes=out_axes,
            static_broadcasted_argnums=static_broadcasted_argnums, devices=devices, backend=backend,
            axis_size=axis_size, donate_argnums=donate_argnums,
        )  # fmt: skip
    require_callable("pmap", fun)
    if devices is not None and not len(devices):
        raise ArgumentValueError(
            "pmap: expected as many devices as elements, got none; give them, or leave devices out"
        )
    function = fun
    axis = _Axis(function_name(fun)) if axis_name is None else axis_name
    statics = _positions(static_broadcasted_argnums)
    donated = _positions(donate_argnums)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)

    label = f"pmap of {function_name(function)}"

    def fixed_positions(args: tuple[Any, ...]) -> set[int]:
        return {i % len(args) for i in statics} if args else set()  # a position may count from the end

    def axes_of_dynamic(args: tuple[Any, ...]) -> Any:
        if not (isinstance(in_axes, tuple) and len(in_axes) == len(args)):
            return in_axes
        return tuple([entry for i, entry in enumerate(in_axes) if i not in fixed_positions(args)])

    @functools.wraps(fun, updated=())
    def pmapped(*args: Any, **kwargs: Any) -> Any:
        fixed, axes = fixed_positions(args), axes_of_dynamic(args)
        dynamic = [x for i, x in enumerate(args) if i not in fixed]

        def of_dynamic(*xs: Any, **names: Any) -> Any:
            rest = iter(xs)
            return function(*[x if i in fixed else next(rest) for i, x in enumerate(args)], **names)

        return _bind(
            label, of_dynamic, function_name(function), axis, axes, out_axes, tuple(dynamic), kwargs, axis_size,
            devices, backend,
        )  # fmt: skip

    on_numpy = backend == "numpy" or (devices is not None and any(d.platform == "numpy" for d in devices))
    compiled = jit(
        pmapped, static_argnums=statics, donate_argnums=donated, inline=True, backend="numpy" if on_numpy else None
    )

    def place(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        fixed = fixed_positions(args)
        dynamic = tuple([x for i, x in enumerate(args) if i not in fixed])
        if not any(map(_is_elsewhere, tree.leaves((dynamic, kwargs)))):
            return args, kwargs
        moved, kwargs = _placed(label, axes_of_dynamic(args), dynamic, kwargs, axis_size, devices, backend)
        rest = iter(moved)
        return tuple([x if i in fixed else next(rest) for i, x in enumerate(args)]), kwargs

    if not on_numpy:
        compiled.place = place
    compiled.__wrapped__ = fun
    return compiled


def _is_elsewhere(x: Any) -> bool:
    """Whether a value is an Array that may have to be moved: on several devices, or on one that was asked for."""
    module = xla()
    return module is not None and type(x) is module.Array and x.committed


def _placed(
    label: str, in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], axis_size: int | None,
    devices: Sequence[Device] | None, backend: str | None,
) -> tuple[tuple[Any, ...], dict[str, Any]]:  # fmt: skip
    """Returns the arguments of a call with their Arrays on the mapped devices, where these are moved at all."""
    leaves, structure = tree.flatten((args, kwargs))
    if any([isinstance(x, Tracer) for x in leaves]):
        return args, kwargs
    avals = in_avals(label, (args, kwargs), leaves)
    dims = input_axes(label, in_axes, args, kwargs, avals)
    wanted = (*_chosen(label, common_size(label, axis_size, (args, kwargs), avals, dims), devices, backend),)
    module: Any = xla()
    for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
        if not _is_elsewhere(x):
            continue
        have = x.sharding.device_order
        if isinstance(x.sharding, NamedSharding) and len(have) == len(wanted) and have != wanted:
            leaves[i] = module.device_put(x, x.sharding.on_devices(wanted))
        elif len(have) == 1 and dim is None:
            leaves[i] = module.device_put(x, NamedSharding(Mesh(wanted, ("all",)), PartitionSpec()))
    placed: tuple[tuple[Any, ...], dict[str, Any]] = tree.unflatten(structure, leaves)
    return placed


def _bind(
    label: str, function: Callable[..., Any], name: str, axis: Hashable, in_axes: Any, out_axes: Any,
    args: tuple[Any, ...], kwargs: dict[str, Any], axis_size: int | None, devices: Sequence[Device] | None,
    backend: str | None,
) -> Any:  # fmt: skip
    """Traces a function of one element, and binds it for all."""
    leaves, in_tree = tree.flatten((args, kwargs))
    avals = in_avals(label, (args, kwargs), leaves)
    dims = input_axes(label, in_axes, args, kwargs, avals)
    size = common_size(label, axis_size, (args, kwargs), avals, dims)
    mesh = Mesh(_chosen(label, size, devices, backend), (axis,))
    elements = [
        aval if dim is None else aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1 :], weak_type=False)
        for aval, dim in zip(avals, dims, strict=True)
    ]
    with manual_axes(mesh, (axis,), False):
        closed, out_tree = trace_tree("pmap", function, in_tree, tuple(elements))
    jaxpr, consts = consts_as_inputs(closed)
    out_dims = output_axes(label, out_axes, out_tree, closed.out_avals, [None] * out_tree.num_leaves)
    outs = xla_pmap_p.bind(
        *consts, *leaves, name=name, call_jaxpr=deduplicated(jaxpr), axis_name=axis, axis_size=size,
        in_axes=(*[None] * len(consts), *dims), out_axes=tuple(out_dims), devices=mesh,
    )  # fmt: skip
    return tree.unflatten(out_tree, outs)


def _positions(argnums: Any) -> tuple[int, ...]:
    return static_integers("pmap", "argnums", argnums if isinstance(argnums, Iterable) else (argnums,))


def _chosen(name: str, size: int, given: Sequence[Device] | None, backend: str | None) -> Sequence[Device]:
    """Returns the devices for so many elements."""
    if given is not None:
        if len(given) != size:
            raise ArgumentValueError(
                f"{name}: expected as many devices as elements of the mapped dimension, {size}, got {len(given)}; give "
                "that many"
            )
        return given
    known = local_devices(backend=backend)
    if len(known) < size:
        raise ArgumentValueError(
            f"{name}: expected at most {len(known)} elements of the mapped dimension, one for each device, got {size}; "
            "map fewer, use vmap inside, or call set_cpu_device_count before the first use"
        )
    return known[:size]
