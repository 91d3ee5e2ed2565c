"""Names of JAX for many devices: `lawful.parallel` with JAX's arguments, and `Array`s as results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy

from lawful import parallel, tree
from lawful.core import ArgumentTypeError, InvalidArgumentError, Tracer, current, to_numpy
from lawful.jax._support.array import as_jax, on_device
from lawful.jax._support.devices import SingleDeviceSharding, xla_backend
from lawful.jax._support.jit import jit, unwrapped
from lawful.jax._support.namespaces.wrapping import Returned, to_jax

Device = parallel.Device
AbstractMesh, AxisType, Mesh = parallel.AbstractMesh, parallel.AxisType, parallel.Mesh
NamedSharding, PartitionSpec, P = parallel.NamedSharding, parallel.PartitionSpec, parallel.P
make_mesh, set_mesh = parallel.make_mesh, parallel.set_mesh
make_single_device_sharding = SingleDeviceSharding
sharding_constraint_p = parallel.sharding_constraint_p

#: `jax.sharding.Sharding` and `jax.Shard` are classes of XLA's backend, where it is installed.
Sharding: Any = NamedSharding if xla_backend is None else xla_backend.Sharding
Shard: Any = None if xla_backend is None else xla_backend.Shard


class OnDevices(Returned):
    """A function of arrays on several devices, whose results are `Array`s.

    >>> numpy.asarray(OnDevices(lambda x: x * 2.0)(numpy.arange(3.0)))
    array([0., 2., 4.])
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the function gives."""
        args = tuple([unwrapped(x, on_device) for x in args])
        kwargs = {name: unwrapped(x, on_device) for name, x in kwargs.items()}
        return to_jax(self._function(*args, **kwargs))


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = ...,
    mesh: Any = None,
    axis_names: Iterable[Hashable] = frozenset(),
    check_vma: bool = True,
) -> Any:
    """Returns ``f`` mapped over the devices of a mesh; see `lawful.parallel.shard_map`.

    >>> mesh = make_mesh((1,), ("x",))
    >>> mapped = shard_map(lambda x: x * 2.0, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    >>> numpy.asarray(mapped(numpy.arange(3.0)))
    array([0., 2., 4.])
    """
    options = {"out_specs": out_specs, "mesh": mesh, "axis_names": axis_names, "check_vma": check_vma}
    if in_specs is not ...:
        options["in_specs"] = in_specs
    if f is None:
        return functools.partial(shard_map, **options)
    return OnDevices(parallel.shard_map(f, **options))


def smap(f: Callable[..., Any] | None = None, /, *, in_axes: Any = None, out_axes: Any, axis_name: Hashable) -> Any:
    """Returns ``f`` mapped over one axis of the mesh of the context.

    Args:
      f: a function of parts of arrays; without it, a decorator is returned.
      in_axes: for each argument the dimension that is split over the axis, or None: a prefix of their tree.
      out_axes: the same for the result.
      axis_name: the axis.

    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     numpy.asarray(smap(lambda x: x * 2.0, in_axes=0, out_axes=0, axis_name="x")(numpy.arange(3.0)))
    array([0., 2., 4.])

    Source: ``jax.smap``.
    """
    if f is None:
        return functools.partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)

    def spec(dim: int | None) -> Any:
        return P() if dim is None else P(*[None] * dim, axis_name)

    def specs(dims: Any) -> Any:
        return tree.map(spec, dims, is_leaf=lambda dim: dim is None)

    return shard_map(f, in_specs=specs(in_axes), out_specs=specs(out_axes), axis_names={axis_name})


def experimental_shard_map(
    f: Callable[..., Any], mesh: Any, in_specs: Any, out_specs: Any, check_rep: bool = True, auto: Any = frozenset()
) -> Any:
    """Returns ``f`` mapped over the devices of a mesh, by the older arguments.

    Args:
      f: a function of parts of arrays.
      mesh: the mesh.
      in_specs: a spec for each leaf of the arguments.
      out_specs: the same for the result.
      check_rep: ``check_vma`` of ``jax.shard_map``.
      auto: the axes that are left to the compiler.

    >>> mesh = make_mesh((1,), ("x",))
    >>> numpy.asarray(experimental_shard_map(lambda x: x * 2.0, mesh, P("x"), P("x"))(numpy.arange(3.0)))
    array([0., 2., 4.])

    Source: ``jax.experimental.shard_map.shard_map``.
    """
    names = {*mesh.axis_names} - {*auto}
    return shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, axis_names=names, check_vma=check_rep)


def pmap(
    fun: Callable[..., Any] | None = None,
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
) -> Any:
    """Returns ``fun`` mapped over a dimension of its arguments, one element a device; see `lawful.parallel.pmap`.

    >>> numpy.asarray(pmap(lambda x: x * 2.0)(numpy.ones((1, 3))))
    array([[2., 2., 2.]])
    """
    options: dict[str, Any] = {
        "axis_name": axis_name, "in_axes": in_axes, "out_axes": out_axes, "devices": devices, "backend": backend,
        "static_broadcasted_argnums": static_broadcasted_argnums, "axis_size": axis_size,
        "donate_argnums": donate_argnums,
    }  # fmt: skip
    if fun is None:
        return functools.partial(pmap, **options)
    mapped: Any = OnDevices(parallel.pmap(fun, **options))
    mapped.__wrapped__ = fun
    return mapped


def with_sharding_constraint[T](x: T, shardings: Any) -> T:
    """Returns ``x`` with a layout on devices; see `lawful.parallel.with_sharding_constraint`.

    >>> sharding = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> numpy.asarray(with_sharding_constraint(numpy.arange(3.0), sharding))
    array([0., 1., 2.])
    """
    result: T = to_jax(parallel.with_sharding_constraint(unwrapped(x, on_device), shardings))
    return result


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Returns a pytree laid out on devices as a tree of shardings or specs, a prefix of it, says.

    >>> sharding = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> numpy.asarray(reshard(numpy.arange(3.0), sharding))
    array([0., 1., 2.])

    Source: ``jax.sharding.reshard``.
    """
    return put(xs, out_shardings)


def auto_axes(f: Callable[..., Any] | None = None, /, *, axes: Any = None, out_sharding: Any = None) -> Any:
    """Returns ``f`` with a result that is laid out as ``out_sharding`` says; without it here, a call may give it.

    Args:
      f: the function; without it, a decorator is returned.
      axes: which axes the compiler has inside: it has them all, whatever their `AxisType`.
      out_sharding: a tree of shardings or specs, a prefix of the result's. Without a mesh of `set_mesh`, specs say
        nothing.

    Raises:
      ArgumentTypeError: a call has no ``out_sharding``, and neither has the decorator.

    >>> sharding = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> numpy.asarray(auto_axes(lambda x: x * 2.0, out_sharding=sharding)(numpy.arange(3.0)))
    array([0., 2., 4.])

    Source: ``jax.sharding.auto_axes``.
    """
    if f is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)
    function = f

    @functools.wraps(function)
    def constrained(*args: Any, **kwargs: Any) -> Any:
        place = _of_call("auto_axes", "out_sharding", out_sharding, kwargs)
        result = function(*args, **kwargs)
        says_nothing = parallel.get_mesh() is None and any(map(_is_spec, tree.leaves(place, is_leaf=_is_place)))
        return result if says_nothing else reshard(result, place)

    return constrained


def explicit_axes(f: Callable[..., Any] | None = None, /, *, axes: Any = None, in_sharding: Any = None) -> Any:
    """Returns ``f`` with positional arguments laid out as ``in_sharding`` says; without it here, a call may give it.

    Args:
      f: the function; without it, a decorator is returned.
      axes: which axes are explicit inside: types have no shardings, so the compiler has them.
      in_sharding: a tree of shardings or specs, a prefix of that of the arguments.

    Raises:
      ArgumentTypeError: a call has no ``in_sharding``, and neither has the decorator.

    >>> sharding = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> numpy.asarray(explicit_axes(lambda x: x * 2.0, in_sharding=sharding)(numpy.arange(3.0)))
    array([0., 2., 4.])

    Source: ``jax.sharding.explicit_axes``.
    """
    if f is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)
    function = f

    @functools.wraps(function)
    def placed(*args: Any, **kwargs: Any) -> Any:
        return function(*reshard(args, _of_call("explicit_axes", "in_sharding", in_sharding, kwargs)), **kwargs)

    return placed


def _of_call(name: str, argument: str, given: Any, kwargs: dict[str, Any]) -> Any:
    """Returns the shardings of a decorator, or those that its function is called with."""
    place = kwargs.pop(argument, None) if given is None else given
    if place is None:
        raise ArgumentTypeError(f"{name}: expected {argument}, got none; give it to the decorator or to the call")
    return place


def get_mesh() -> Any:
    """Returns the mesh of `set_mesh`; an empty one outside of any.

    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     get_mesh().axis_names
    ('x',)
    """
    mesh = parallel.get_mesh()
    return AbstractMesh((), ()) if mesh is None else mesh


def get_abstract_mesh() -> Any:
    """Returns the axes of the mesh of `set_mesh`; none outside of any.

    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     get_abstract_mesh().axis_names
    ('x',)
    """
    mesh = get_mesh()
    return mesh.abstract_mesh if isinstance(mesh, Mesh) else mesh


def unsharded(ndim: int) -> Any:
    """Returns the sharding of a type with a number of dimensions: no mesh, and each dimension whole.

    >>> unsharded(1)
    NamedSharding(AbstractMesh(), PartitionSpec(None))
    """
    return NamedSharding(AbstractMesh((), ()), P(*[None] * ndim))


def pjit(
    fun: Callable[..., Any], in_shardings: Any = None, out_shardings: Any = None, static_argnums: Any = None,
    static_argnames: Any = None, donate_argnums: Any = None, donate_argnames: Any = None, **options: Any
) -> Any:  # fmt: skip
    """Returns a compiled function; see ``jax.jit``.

    >>> float(pjit(lambda x: x * 2.0)(3.0))
    6.0
    """
    return jit(
        fun, in_shardings=in_shardings, out_shardings=out_shardings, static_argnums=static_argnums,
        static_argnames=static_argnames, donate_argnums=donate_argnums, donate_argnames=donate_argnames, **options
    )  # fmt: skip


def put(x: Any, places: Any) -> Any:
    """Returns a pytree with its leaves where a tree of shardings and devices, a prefix of it, says.

    >>> sharding = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> numpy.asarray(put(numpy.arange(3.0), sharding))
    array([0., 1., 2.])
    """
    places = tree.map(in_context, places, is_leaf=_is_place)
    of_leaves = tree.broadcast_prefix(places, x, is_leaf=_is_place)
    if any(map(_is_constraint, tree.leaves(x), of_leaves)):
        return tree.map(_placed, x, tree.unflatten(tree.structure(x), of_leaves))
    if xla_backend is not None and not any(map(_is_numpy, tree.leaves(places))):
        return to_jax(xla_backend.device_put(unwrapped(x, on_device), places))
    for leaf, place in zip(tree.leaves(x), tree.broadcast_prefix(places, x), strict=True):
        if isinstance(place, NamedSharding):
            place.shard_shape(numpy.shape(leaf))
    return tree.map(lambda leaf: leaf if isinstance(leaf, Tracer) else as_jax(numpy.array(to_numpy(leaf))), x)


def _is_constraint(x: Any, place: Any) -> bool:
    """Whether a program is traced, in which an array on several devices is one with a constraint."""
    return isinstance(place, NamedSharding) and (isinstance(x, Tracer) or not current.trace.evaluates_constants)


def _placed(x: Any, place: Any) -> Any:
    return with_sharding_constraint(x, place) if _is_constraint(x, place) else put(x, place)


def _is_place(x: Any) -> bool:
    return x is None or isinstance(x, PartitionSpec)


def _is_spec(x: Any) -> bool:
    return isinstance(x, PartitionSpec)


def in_context(place: Any) -> Any:
    """Returns a place; the sharding of a spec is that on the mesh of `set_mesh`."""
    if not isinstance(place, PartitionSpec):
        return place
    mesh = parallel.get_mesh()
    if mesh is None:
        raise InvalidArgumentError(
            f"sharding: expected a mesh in the context, got {place} alone; write NamedSharding(mesh, spec), or call it "
            "inside `with set_mesh(mesh)`"
        )
    return NamedSharding(mesh, place)


def _is_numpy(place: Any) -> bool:
    """Whether NumPy plays the devices of a sharding."""
    if isinstance(place, NamedSharding):
        return isinstance(place.mesh, Mesh) and place.mesh.flat_devices[0].platform == "numpy"
    return getattr(place, "platform", None) == "numpy"
