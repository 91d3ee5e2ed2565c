"""The stages of compilation as values: traced, lowered, compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import ArgumentTypeError, ArgumentValueError, ClosedJaxpr, ShapedArray, record, shorten
from lawful.staging._backends import Backend, CompiledProgram, CompilerOptions, LoweredProgram, get_backend
from lawful.staging._jit.compiler_options import ChosenBackend, name_of, options_of
from lawful.staging._jit.compiling import compiling
from lawful.staging._make_jaxpr import struct_of
from lawful.staging._signature import Statics, describe_argument, in_avals


@record
class ArgInfo:
    """The type of an argument's leaf, and whether its memory is donated."""

    aval: ShapedArray
    donated: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its dtype."""
        return self.aval.dtype


@record
class Traced:
    """A function traced at the types of its arguments: its ``jaxpr``, and the way to lower it.

    >>> from lawful.staging import jit
    >>> traced = jit(lambda x: x * x).trace(3.0)
    >>> traced.jaxpr, traced.out_info
    ({ lambda ; a:~f64[]. let b:~f64[] = mul a a in (b,) }, ShapeDtypeStruct(shape=(), dtype=float64, weak_type=True))
    """

    jaxpr: ClosedJaxpr
    in_tree: Any
    out_tree: Any
    name: str
    donated: tuple[int, ...]
    backend: ChosenBackend
    statics: Statics
    #: How each argument lies on several devices, or None; None if none does.
    shardings: tuple[Any, ...] | None = None

    @property
    def out_info(self) -> Any:
        """The tree of ``ShapeDtypeStruct`` of the result."""
        return tree.unflatten(self.out_tree, [struct_of(aval) for aval in self.jaxpr.out_avals])

    @property
    def args_info(self) -> Any:
        """The tree ``(args, kwargs)`` of ``ArgInfo``; static arguments are left out."""
        pairs = enumerate(self.jaxpr.in_avals)
        return tree.unflatten(self.in_tree, [ArgInfo(aval, i in self.donated) for i, aval in pairs])

    def lower(self, *, lowering_platforms: tuple[str, ...] | None = None) -> Lowered:
        """Returns the function in the backend's input language.

        Args:
          lowering_platforms: None, or a tuple of the platform that the backend's programs run on.

        Raises:
          ArgumentTypeError: ``lowering_platforms`` is no sequence of names.
          ArgumentValueError: a platform is not that of the backend, or there is none.
        """
        backend = get_backend(name_of(self.backend))
        if lowering_platforms is not None:
            _check_platforms(backend, lowering_platforms)
        program = backend.lower(self.jaxpr, name=self.name, donated=self.donated)
        return Lowered(self, program)


def shardings_of(leaves: Sequence[Any]) -> tuple[Any, ...] | None:
    """Returns how each argument lies on several devices, or None where it does not; None if none does."""
    found = [getattr(x, "sharding", None) for x in leaves]
    several = [sharding if sharding is not None and _num_devices(sharding) > 1 else None for sharding in found]
    return tuple(several) if any(sharding is not None for sharding in several) else None


def _num_devices(sharding: Any) -> int:
    """Returns the number of devices of a sharding, also of one on a mesh that has axes alone."""
    found: int | None = getattr(sharding, "num_devices", None)
    return len(sharding.device_set) if found is None else found


def _devices_text(sharding: Any) -> str:
    return f"[{', '.join(map(str, sharding.device_order))}]"


def _check_platforms(backend: Backend, platforms: Any) -> None:
    if not isinstance(platforms, tuple | list) or not all(isinstance(name, str) for name in platforms):
        raise ArgumentTypeError(
            f"lower: expected lowering_platforms as a tuple of names, got {shorten(platforms)}; "
            f"write ({backend.platform!r},)"
        )
    if {*platforms} != {backend.platform}:
        raise ArgumentValueError(
            f"lower: expected lowering_platforms of backend {backend.name!r}, which has {backend.platform!r} alone, "
            f"got {shorten(platforms)}; leave it out"
        )


class _Stage:
    """The properties that `Lowered` and `Compiled` share, named as in ``jax.stages``."""

    __slots__ = ()

    traced: Traced

    @property
    def in_tree(self) -> Any:
        """The tree of ``(args, kwargs)``."""
        return self.traced.in_tree

    @property
    def out_tree(self) -> Any:
        """The tree of the result."""
        return self.traced.out_tree

    @property
    def args_info(self) -> Any:
        """The tree ``(args, kwargs)`` of ``ArgInfo``; static arguments are left out."""
        return self.traced.args_info

    @property
    def in_avals(self) -> Any:
        """The tree ``(args, kwargs)`` of the types of arguments."""
        return tree.unflatten(self.in_tree, self.traced.jaxpr.in_avals)

    @property
    def out_info(self) -> Any:
        """The tree of ``ShapeDtypeStruct`` of the result."""
        return self.traced.out_info

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The positions of donated leaves among those of the arguments."""
        return self.traced.donated


@record
class Lowered(_Stage):
    """A function in the backend's input language: StableHLO, or Python for the NumPy backend.

    >>> from lawful.staging import jit
    >>> type(jit(lambda x: x * x, backend="numpy").lower(3.0)).__name__
    'Lowered'
    """

    traced: Traced
    program: LoweredProgram

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Returns the program as text.

        Args:
          dialect: of XLA ``"stablehlo"``, which is the default, or ``"hlo"``.
          debug_info: whether StableHLO is printed with its locations, which are unknown: lawful writes none.

        Raises:
          ArgumentValueError: the backend has no such dialect.
        """
        return self.program.as_text(dialect, debug_info=debug_info)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """Returns the program as an object of the backend: jaxlib's module of StableHLO, its computation of HLO.

        Raises:
          ArgumentValueError: the backend has no such dialect.
        """
        return self.program.compiler_ir(dialect)

    def compile(
        self, compiler_options: CompilerOptions | None = None, device_assignment: Sequence[Any] | None = None
    ) -> Compiled:
        """Returns the function ready to run.

        Args:
          compiler_options: the backend's own, by name: XLA's flags as ``{"xla_backend_optimization_level": 0}``. They
            are added to those of `jit`, and replace the ones of their names.
          device_assignment: the devices of the program, in order, where its shardings are on an ``AbstractMesh``,
            which has none.

        Raises:
          ArgumentValueError: the backend has no options or no devices; or the devices are not as many as those of the
            abstract mesh, or others than those of a mesh that has them; or nothing says what they are.
          XlaError: XLA refuses an option.
        """
        devices = None if device_assignment is None else tuple(device_assignment)
        given = {"shardings": self.traced.shardings, "devices": devices}
        options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        with compiling(self.traced.name):
            chosen = {**options_of(self.traced.backend), **(compiler_options or {})}
            return Compiled(self.traced, self.program.compile(chosen or None, **options))

    def cost_analysis(self) -> dict[str, Any]:
        """Returns what the backend expects a call to cost."""
        return self.compile().cost_analysis()


@record
class Compiled(_Stage):
    """A compiled function: called with arguments of the types that it was traced at.

    >>> from lawful.staging import jit
    >>> compiled = jit(lambda x: x * x, backend="numpy").lower(3.0).compile()
    >>> float(compiled(4.0))
    16.0
    """

    traced: Traced
    program: CompiledProgram

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function.

        Args:
          args: the arguments without the static ones.
          kwargs: the same, by name.

        Raises:
          ArgumentTypeError: the tree or the types differ from those that it was compiled for.
          ArgumentValueError: an array lies on devices in another way than the sharding that was given for it.
        """
        traced = self.traced
        name = f"compiled {traced.name}"
        leaves, in_tree = tree.flatten((args, kwargs))
        if in_tree != traced.in_tree:
            raise ArgumentTypeError(
                f"{name}: expected arguments of the tree {traced.in_tree}, got {in_tree}; "
                "leave static arguments out, and give the others as they were traced"
            )
        avals = in_avals(name, (args, kwargs), leaves)
        if list(avals) != traced.jaxpr.in_avals:
            raise ArgumentTypeError(
                f"{name}: expected arguments of types {', '.join(map(str, traced.jaxpr.in_avals))}, "
                f"got {', '.join(map(str, avals))}; convert them, or compile for these types"
            )
        if traced.shardings is not None:
            self._require_shardings(name, (args, kwargs), leaves)
        # A program for several devices puts values of the host there.
        run = getattr(self.program, "run_here", self.program)
        return tree.unflatten(traced.out_tree, run(*leaves))

    def _require_shardings(self, name: str, arguments: Any, leaves: Sequence[Any]) -> None:
        """Raises ArgumentValueError if an array on devices lies otherwise than the sharding that was given for it."""
        places = getattr(self.program, "input_shardings", None) or [None] * len(leaves)
        for number, (x, given, place) in enumerate(zip(leaves, self.traced.shardings or (), places, strict=True)):
            if given is None or place is None or not getattr(x, "committed", False):
                continue
            if not place.is_equivalent_to(x.sharding, x.ndim):
                path, _ = tree.leaves_with_path(arguments)[number]
                raise ArgumentValueError(
                    f"{name}: expected {describe_argument(path)} with the sharding that it was compiled for, {place} "
                    f"on {_devices_text(place)}, got one with {x.sharding} on {_devices_text(x.sharding)}; move it "
                    "with device_put(x, sharding), or call the function of jit, which is compiled for each sharding"
                )

    @property
    def input_shardings(self) -> Any:
        """The tree ``(args, kwargs)`` of where the program takes its arguments; None for a backend without devices."""
        found = getattr(self.program, "input_shardings", None)
        return tree.unflatten(self.in_tree, found or [None] * self.in_tree.num_leaves)

    @property
    def output_shardings(self) -> Any:
        """The tree of where the program gives its results; None where the backend has no devices."""
        found = getattr(self.program, "output_shardings", None)
        return tree.unflatten(self.out_tree, found or [None] * self.out_tree.num_leaves)

    @property
    def out_info(self) -> Any:
        """The tree of ``ShapeDtypeStruct`` of the result, with the shardings where the backend has devices."""
        structs = map(struct_of, self.traced.jaxpr.out_avals)
        found = getattr(self.program, "output_shardings", None)
        if found:
            structs = map(lambda struct, sharding: struct.update(sharding=sharding), structs, found)
        return tree.unflatten(self.out_tree, list(structs))

    def as_text(self) -> str:
        """Returns the compiled program as text."""
        return self.program.as_text()

    def cost_analysis(self) -> dict[str, Any]:
        """Returns what the backend expects a call to cost."""
        return self.program.cost_analysis()

    def memory_analysis(self) -> Any:
        """Returns what the backend knows of the memory of a call."""
        return self.program.memory_analysis()
