"""``jit`` with ``in_shardings`` and ``out_shardings``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from lawful import tree
from lawful.core import ArgumentValueError, Tracer
from lawful.parallel._mesh.devices import xla
from lawful.parallel._mesh.mesh import AbstractMesh
from lawful.parallel._mesh.partition_spec import UNCONSTRAINED, PartitionSpec
from lawful.parallel._mesh.sharding import NamedSharding
from lawful.parallel._sharded_jit.constraint import constrain_leaves, is_sharding, shardings_of_leaves
from lawful.staging import Traced, describe_argument, function_name


class ShardedFunction:
    """The result of ``jit`` with shardings: it puts arguments on devices, and constrains arguments and results.

    Args:
      function: the user's.
      in_shardings: of the positional arguments that are not static, a prefix of their tree.
      out_shardings: of the result.
      compile: ``jit`` with the other arguments.
    """

    def __init__(
        self, function: Callable[..., Any], in_shardings: Any, out_shardings: Any, compile: Callable[..., Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self._name = f"jit of {function_name(function)}"
        _require_constrained(self._name, "in_shardings", in_shardings)
        _require_constrained(self._name, "out_shardings", out_shardings)
        self._in_shardings = tuple(in_shardings) if isinstance(in_shardings, list) else in_shardings
        self._out_shardings = out_shardings
        self._function = function
        self.compiled = compile(self._constrained())
        # Specs alone depend on the mesh of the context. Otherwise a call first tries the programs that ran last, which
        # check shardings themselves.
        self._follows_context = any(
            isinstance(x, PartitionSpec) for x in tree.leaves(in_shardings, is_leaf=is_sharding)
        )
        if in_shardings is not None and not self._follows_context:
            self.compiled.place = self._place

    def __repr__(self) -> str:
        return f"<{self._name} with shardings>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name == "compiled":
            raise AttributeError(name)
        return getattr(self.compiled, name)

    def _constrained(self) -> Callable[..., Any]:
        function = self._function

        @functools.wraps(function)
        def constrained(*args: Any, **kwargs: Any) -> Any:
            dynamic, positions = self._dynamic(args)
            given = list(args)
            found = constrain_leaves(self._name, "args", dynamic, self._wanted(dynamic, kwargs))
            for position, value in zip(positions, found, strict=True):
                given[position] = value
            result = function(*given, **kwargs)
            if self._out_shardings is None:
                return result
            wanted = shardings_of_leaves(self._name, self._out_shardings, "the result", result, may_be_none=True)
            return constrain_leaves(self._name, "result", result, wanted)

        return constrained

    def _dynamic(self, args: Sequence[Any]) -> tuple[tuple[Any, ...], list[int]]:
        """Returns the positional arguments that are not static, and their positions."""
        statics = {i % len(args) if args else i for i in self.compiled._statics.argnums}
        positions = [i for i in range(len(args)) if i not in statics]
        return tuple([args[i] for i in positions]), positions

    def _wanted(self, dynamic: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Returns the sharding of each leaf of the arguments, or None."""
        if self._in_shardings is None:
            return [None] * len(tree.leaves(dynamic))
        names = [name for name in kwargs if name not in self.compiled._statics.argnames]
        if names:
            raise ArgumentValueError(
                f"{self._name}: expected positional arguments with in_shardings, got {', '.join(names)} by name; pass "
                "them by position"
            )
        return shardings_of_leaves(self._name, self._in_shardings, "the arguments", dynamic, may_be_none=True)

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Returns the function traced at the types of these arguments; see ``jit``."""
        traced: Traced = self.compiled.trace(*args, **kwargs)
        dynamic, _ = self._dynamic(args)
        wanted = self._wanted(dynamic, kwargs)
        wanted = [sharding if _has_devices(sharding) else None for sharding in wanted]
        if all(sharding is None for sharding in wanted):
            return traced
        count = traced.in_tree.num_leaves
        known = traced.shardings or (None,) * count
        merged = [new or old for new, old in zip_longest(wanted, known)]
        return Traced(
            traced.jaxpr, traced.in_tree, traced.out_tree, traced.name, traced.donated, traced.backend, traced.statics,
            tuple(merged),
        )  # fmt: skip

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Returns ``trace(*args, **kwargs).lower()``."""
        return self.trace(*args, **kwargs).lower()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._follows_context:
            args, kwargs = self._place(args, kwargs)
        return self.compiled(*args, **kwargs)

    def _place(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments, those by position on the devices of their shardings; tracers stay."""
        if any([isinstance(x, Tracer) for x in tree.leaves(args)]):
            return args, kwargs
        dynamic, positions = self._dynamic(args)
        given = list(args)
        for position, value in zip(positions, self._placed(dynamic, kwargs), strict=True):
            given[position] = value
        return tuple(given), kwargs

    def _placed(self, dynamic: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the arguments on the devices of their shardings.

        Raises:
          ArgumentValueError: an Array is on several devices in another way.
        """
        backend = xla()
        if backend is None:
            return dynamic
        leaves, structure = tree.flatten(dynamic)
        wanted = self._wanted(dynamic, kwargs)
        for i, (x, sharding) in enumerate(zip(leaves, wanted, strict=True)):
            if not _has_devices(sharding):
                continue
            if type(x) is backend.Array:
                have = x.sharding
                if have is sharding or have == sharding or sharding.is_equivalent_to(have, x.ndim):
                    continue
                if (len(have.device_set) > 1 or x.committed) and not _is_reordered(have, sharding, x.ndim):
                    path, _ = tree.leaves_with_path((dynamic, {}))[i]
                    raise ArgumentValueError(
                        f"{self._name}: expected {describe_argument(path)} with the sharding {_on(sharding, have)} "
                        f"that in_shardings has, got one with {_on(have, sharding)}; move it with device_put(x, "
                        "sharding), or leave in_shardings out, so that the function follows its arguments"
                    )
            try:
                leaves[i] = backend.device_put(x, sharding)
            except ArgumentValueError as error:
                path, _ = tree.leaves_with_path((dynamic, {}))[i]
                raise ArgumentValueError(f"{self._name}: {describe_argument(path)}: {error.message}") from error
        return tree.unflatten(structure, leaves)


def _require_constrained(name: str, argument: str, shardings: Any) -> None:
    """Raises ArgumentValueError if a dimension of an argument or result is left to the compiler."""
    for x in tree.leaves(shardings, is_leaf=is_sharding):
        spec = x.spec if isinstance(x, NamedSharding) else x
        if isinstance(spec, PartitionSpec) and UNCONSTRAINED in spec:
            raise ArgumentValueError(
                f"{name}: expected {argument} that say how each dimension is split, got UNCONSTRAINED in {spec}; leave "
                f"{argument} out, or use with_sharding_constraint inside"
            )


def _is_reordered(have: Any, wanted: Any, ndim: int) -> bool:
    """Whether two shardings split arrays equally over the same devices, which they have in different orders."""
    if have.device_set != wanted.device_set:
        return False
    shape = (len(have.device_set),) * ndim
    mine, theirs = have.devices_indices_map(shape), wanted.devices_indices_map(shape)
    return [mine[d] for d in have.device_order] == [theirs[d] for d in wanted.device_order]


def _on(sharding: Any, other: Any) -> str:
    """Returns the text of a sharding, with its devices where another one has other devices, or another order."""
    if sharding.device_order == other.device_order:
        return str(sharding)
    return f"{sharding} on [{', '.join(map(str, sharding.device_order))}]"


def _has_devices(sharding: Any) -> bool:
    if sharding is None:
        return False
    if not isinstance(sharding, NamedSharding):
        return True
    return not isinstance(sharding.mesh, AbstractMesh) and sharding.mesh.flat_devices[0].platform != "numpy"
