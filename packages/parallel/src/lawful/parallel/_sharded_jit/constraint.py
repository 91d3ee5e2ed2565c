"""``with_sharding_constraint``: says how an intermediate value of a compiled program lies on devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    InvalidArgumentError,
    Primitive,
    ShapedArray,
    Tracer,
    TreeStructureError,
    Zero,
)
from lawful.parallel._mesh.devices import xla
from lawful.parallel._mesh.manual import outer_manual_axes
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh, get_mesh
from lawful.parallel._mesh.partition_spec import UNCONSTRAINED, PartitionSpec
from lawful.parallel._mesh.sharding import NamedSharding

#: Its parameter is the ``sharding``, whose spec has an entry for each dimension.
sharding_constraint_p = Primitive("sharding_constraint", pure_rules=True)


@sharding_constraint_p.def_abstract_eval
def _abstract_eval(x: ShapedArray, *, sharding: NamedSharding) -> ShapedArray:
    return x


def _impl(x: Any, *, sharding: NamedSharding) -> Any:
    backend = xla()
    if backend is None:
        return x
    mesh = sharding.mesh
    if isinstance(mesh, AbstractMesh):
        found = mesh_of(x, mesh)
        if found is None:
            raise InvalidArgumentError(
                f"with_sharding_constraint: expected an array on a mesh with the axes of {mesh}, which has no devices, "
                f"got one with the sharding {getattr(x, 'sharding', None)}; give the constraint a Mesh"
            )
        mesh, sharding = found, NamedSharding(found, sharding.spec)
    if mesh.flat_devices[0].platform == "numpy":
        return x
    if sharding.unconstrained_dimensions():
        spec = PartitionSpec(*[None if entry is UNCONSTRAINED else entry for entry in sharding.spec])
        sharding = NamedSharding(mesh, spec)
    return backend.device_put(x, sharding)


def mesh_of(x: Any, axes: AbstractMesh) -> Mesh | None:
    """Returns the mesh that an array is on, if it has the axes of one without devices; else None."""
    have = getattr(getattr(x, "sharding", None), "mesh", None)
    return have if isinstance(have, Mesh) and have.shape_tuple == axes.shape_tuple else None


sharding_constraint_p.def_impl(_impl, any_array=True)
sharding_constraint_p.def_rule("numpy", lambda avals, compile, **_: lambda x: x)
sharding_constraint_p.def_expand(lambda x, **_: x)


@sharding_constraint_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, sharding: NamedSharding) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = sharding_constraint_p.bind(x, sharding=sharding)
    return out, t if type(t) is Zero else sharding_constraint_p.bind(t, sharding=sharding)


@sharding_constraint_p.def_transpose
def _transpose(ct: Any, x: Any, *, sharding: NamedSharding) -> list[Any]:
    return [ct if type(ct) is Zero else sharding_constraint_p.bind(ct, sharding=sharding)]


@sharding_constraint_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, sharding: NamedSharding
) -> tuple[Any, int | None]:
    (x,), (dim,) = args, dims
    if dim is None:
        return sharding_constraint_p.bind(x, sharding=sharding), None
    entries = [*sharding.spec]
    entries.insert(dim, axis_data.spmd_axes or UNCONSTRAINED)
    return sharding_constraint_p.bind(x, sharding=NamedSharding(sharding.mesh, PartitionSpec(*entries))), dim


@sharding_constraint_p.def_lowering
def _lower(ctx: Any, x: Any, *, sharding: NamedSharding) -> Any:
    return ctx.constrain(x, sharding)


def with_sharding_constraint[T](x: T, shardings: Any) -> T:
    """Returns ``x``, which in a compiled program is laid out on devices in a given way.

    Args:
      x: a pytree of arrays.
      shardings: a `NamedSharding` for each leaf, or a prefix of the tree; or specs, where `set_mesh` gives the mesh. A
        dimension with ``PartitionSpec.UNCONSTRAINED`` is left to the compiler.

    Outside of ``jit`` it is ``device_put``. Derivatives are constrained in the same way.

    Raises:
      ArgumentTypeError: a leaf of ``shardings`` is no sharding.
      ArgumentValueError: they do not fit the tree, the ranks or the sizes.

    Law: the value is that of ``x``. Source: ``jax.lax.with_sharding_constraint``.

    >>> import numpy as np
    >>> from lawful.parallel import PartitionSpec as P, make_mesh, numpy_devices
    >>> mesh = make_mesh((2,), ("x",), devices=numpy_devices(2))
    >>> with_sharding_constraint(np.array([1.0, 2.0]), NamedSharding(mesh, P("x")))
    array([1., 2.])
    """
    name = "with_sharding_constraint"
    result: T = constrain_leaves(name, "x", x, shardings_of_leaves(name, shardings, "x", x))
    return result


def constrain_leaves(name: str, what: str, full: Any, shardings: Sequence[Any]) -> Any:
    """Returns a tree whose leaves have constraints.

    Args:
      name: the public function, for messages.
      what: the words for the tree.
      full: the tree.
      shardings: that of each leaf; None is none.

    Raises:
      ArgumentValueError: a sharding does not fit the shape of its leaf, or an axis is mapped over.
    """
    leaves, structure = tree.flatten(full)
    for i, (x, sharding) in enumerate(zip(leaves, shardings, strict=True)):
        try:
            leaves[i] = constrain(x, sharding)
        except ArgumentValueError as error:
            if type(error) is not ArgumentValueError:
                raise
            path, _ = tree.leaves_with_path(full)[i]
            raise ArgumentValueError(f"{name}: {what}{tree.keystr(path)}: {error.message}") from error
    return tree.unflatten(structure, leaves)


def constrain(x: Any, sharding: NamedSharding | None) -> Any:
    """Returns an array with a constraint; None is none."""
    if sharding is None:
        return x
    if isinstance(sharding, NamedSharding):
        taken = outer_manual_axes() & {*sharding.spec.axes()}
        if taken:
            raise ArgumentValueError(
                f"sharding constraint: expected axes that no enclosing shard_map or pmap maps over, got "
                f"{', '.join(sorted(map(repr, taken)))} in {sharding.spec}; the part is on one device along them"
            )
        return sharding.constrain(x)
    # On one device there is nothing to split; a program runs where its arguments are.
    backend = xla()
    return x if backend is None or isinstance(x, Tracer) else backend.device_put(x, sharding)


def shardings_of_leaves(name: str, shardings: Any, what: str, full: Any, *, may_be_none: bool = False) -> list[Any]:
    """Returns the `NamedSharding` of each leaf of a tree, of which the shardings are a prefix.

    Args:
      name: the public function, for messages.
      shardings: shardings, or specs where there is a mesh in the context.
      what: the words for the tree.
      full: the tree.
      may_be_none: whether a leaf may be None, which says nothing.

    Raises:
      ArgumentTypeError: a leaf is neither a sharding nor a spec, or there is no mesh for a spec.
      ArgumentValueError: the shardings are no prefix.
    """
    try:
        found = tree.broadcast_prefix(shardings, full, is_leaf=is_sharding)
    except TreeStructureError as error:
        raise ArgumentValueError(
            f"{name}: expected shardings that are a prefix of the tree of {what}, {tree.structure(full)}, got "
            f"{shardings}: {error.message}"
        ) from error
    return [as_sharding(name, sharding, may_be_none=may_be_none) for sharding in found]


def is_sharding(x: Any) -> bool:
    return x is None or isinstance(x, PartitionSpec | NamedSharding)


def as_sharding(name: str, sharding: Any, *, may_be_none: bool = False) -> Any:
    """Returns a sharding: itself, or that of a spec on the mesh of the context."""
    if isinstance(sharding, PartitionSpec):
        mesh = get_mesh()
        if not isinstance(mesh, Mesh):
            raise ArgumentTypeError(
                f"{name}: expected a sharding, or a mesh in the context, got {sharding} alone; write "
                "NamedSharding(mesh, spec), or call it inside `with set_mesh(mesh)`"
            )
        return NamedSharding(mesh, sharding)
    if isinstance(sharding, NamedSharding) or (may_be_none and sharding is None) or hasattr(sharding, "device_order"):
        return sharding
    raise InvalidArgumentError(f"{name}: expected a NamedSharding, got {sharding!r}; write NamedSharding(mesh, spec)")
