"""Lowers a jaxpr to a StableHLO module, by the lowering rules of the primitives.

Large constants, and constants on a device, become the first arguments of ``main``, also those of sub-jaxprs; so the
text of the module does not contain their values. Small constants, such as a few indices, stay in the text, because XLA
optimizes known values. A jaxpr that is called becomes a private function, lowered once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    MissingRuleError,
    Primitive,
    ShapedArray,
    SourceLine,
    at_source,
    exact_params_key,
    float0,
    get_aval,
    has_effects,
    record,
    storage_dtypes,
)
from lawful.xla_backend._callbacks.checked_call import CheckedCall
from lawful.xla_backend._errors import LoweringError
from lawful.xla_backend._lowering.callback import ORDER
from lawful.xla_backend._lowering.collectives import MeshAxes
from lawful.xla_backend._lowering.context import LoweringContext
from lawful.xla_backend._lowering.donation import donation_attributes
from lawful.xla_backend._lowering.function import FunctionLowering
from lawful.xla_backend._lowering.meshes import MeshKey, MeshTable
from lawful.xla_backend._lowering.rule_errors import failed_rule
from lawful.xla_backend._lowering.types import TypeTable
from lawful.xla_backend._runtime import bindings
from lawful.xla_backend._runtime.bindings import func, ir, stablehlo

if TYPE_CHECKING:
    from lawful.xla_backend._arrays.sharding import Sharding
    from lawful.xla_backend._runtime.handles import Device

# A larger constant, in bytes, is an argument. With known indices, XLA makes a gather a slice, and a scatter a pad.
LARGE = 1024


@record
class StableHLO:
    """A verified module.

    Attributes:
      module: the ``ir.Module``, whose function ``main`` takes the constants, then the arguments, float0 left out.
      consts: the constants that the caller has to pass.
      functions: the Python functions that the program calls, by their numbers.
      meshes: the symbols of the meshes that it declares.
      shardings: a sharding on each of these that has devices.
      abstract: a sharding on each of the others.
      named: the shardings that it gives values, with their numbers of dimensions, the last one first.
    """

    module: Any
    consts: tuple[Any, ...]
    functions: tuple[CheckedCall, ...]
    meshes: tuple[tuple[MeshKey, str], ...] = ()
    shardings: tuple[Sharding, ...] = ()
    abstract: tuple[Sharding, ...] = ()
    named: tuple[tuple[Sharding, int], ...] = ()

    @property
    def device_order(self) -> tuple[Device, ...] | None:
        """The devices that the program runs on, in the order of partitions; None if it declares no mesh."""
        return self.shardings[0].device_order if self.shardings else None


def lower(closed: ClosedJaxpr, *, name: str, platform: str, donated: Sequence[int] = ()) -> StableHLO:
    """Lowers a program to StableHLO, and verifies the result.

    Args:
      closed: the program.
      name: what the module is called, after ``jit_``.
      platform: whose lowering rules are used.
      donated: the positions of the arguments whose memory the results may take.

    Raises:
      MissingRuleError: a primitive has no lowering rule.
      LoweringError: a lowering rule builds an operation that is not well typed.
    """
    lowering = ModuleLowering(platform)
    lowered = lowering.lower(closed, name, donated)
    try:
        lowered.module.operation.verify()
    except bindings.MLIRError as error:
        # Locations cost time, so they are recorded only to explain an error.
        located = ModuleLowering(platform, located=True)
        located.lower(closed, name, donated)
        raise located.explain_invalid(error) from error
    return lowered


def located_lines(closed: ClosedJaxpr, *, name: str, platform: str) -> list[tuple[str, SourceLine | None]]:
    """Returns the lines of a program in StableHLO, each with the user's line of the equation that it was built for.

    Args:
      closed: the program.
      name: as for `lower`.
      platform: as for `lower`.
    """
    lowering = ModuleLowering(platform, located=True)
    module = lowering.lower(closed, name, ()).module
    text = str(module.operation.get_asm(enable_debug_info=True))
    located = lowering.located or {}
    equations = {alias: located[label].source for alias, label in _ALIAS.findall(text) if label in located}
    lines: list[str] = []
    sources: list[SourceLine | None] = []
    # By indentation, the lines of an operation with regions: its location is at its end.
    opened: dict[int, list[int]] = {}
    for line in text.splitlines():
        if line.startswith("#loc"):
            continue
        found = _LOCATION.search(line)
        source = equations.get(found[1]) if found else None
        indentation = len(line) - len(line.lstrip())
        if found is None:
            opened.setdefault(indentation, []).append(len(lines))
        else:
            for number in opened.pop(indentation, ()):
                sources[number] = source
        lines.append(_LOCATIONS.sub("", line))
        sources.append(source)
    return [*zip(lines, sources, strict=True)]


#: The definition of a location's alias, a location at the end of a line, and any location, in a module's text.
_ALIAS: Final = re.compile(r'^(#loc\d*) = loc\("([^"]*)"\)$', re.MULTILINE)
_LOCATION: Final = re.compile(r" loc\((#loc\d*)\)$")
_LOCATIONS: Final = re.compile(r' loc\((?:#loc\d*|unknown|"[^"]*")\)')


class ModuleLowering:
    """A module being built: its types, its functions, and the rules of its primitives."""

    def __init__(self, platform: str, *, located: bool = False) -> None:
        self.platform = platform
        #: Equations by the name of their location; None if locations are not recorded.
        self.located: dict[str, JaxprEqn] | None = {} if located else None
        #: The mesh over which the program being lowered is split; None outside of any.
        self.mesh: MeshAxes | None = None
        self.context = bindings.new_context()
        self.rules: dict[Primitive, Callable[..., Any]] = {}
        #: The Python functions that the program calls.
        self.functions: list[CheckedCall] = []
        self._functions: dict[tuple[Any, ...], tuple[str, tuple[Any, ...]]] = {}
        self._rules: dict[tuple[Any, ...], str] = {}
        # The program is kept, so that its id is not reused.
        self._consts: dict[int, tuple[ClosedJaxpr, dict[int, Any]]] = {}
        self._names: dict[str, int] = {"main": 1}
        self._module: Any = None
        self.types: TypeTable
        #: The meshes that the program names.
        self.meshes: MeshTable

    def lower(self, closed: ClosedJaxpr, name: str, donated: Sequence[int]) -> StableHLO:
        """Builds the module; not yet verified."""
        with self.context, ir.Location.unknown():
            self.types = TypeTable()
            self._module = ir.Module.create()
            self.meshes = MeshTable(self._module, {}, ())
            self._module.operation.attributes["sym_name"] = ir.StringAttr.get(_identifier(f"jit_{name}"))
            consts = self.consts_of(closed)
            passed = [var for var in closed.jaxpr.invars if var.aval.dtype != float0]
            in_avals = [*map(get_aval, consts.values()), *[var.aval for var in passed]]
            out_avals = [aval for aval in closed.out_avals if aval.dtype != float0]
            passed_types = [[*map(self.types.passed_type, avals)] for avals in (in_avals, out_avals)]
            main = self._new_function("main", *passed_types)
            main.arg_attrs = ir.ArrayAttr.get(
                [ir.DictAttr.get({})] * len(consts) + donation_attributes(closed.jaxpr, donated)
            )
            with ir.InsertionPoint(main.add_entry_block()):
                held = self._converted(main.arguments, in_avals, self.types.tensor_type)
                function = FunctionLowering(self, dict(zip(consts, held, strict=False)))
                values = iter(held[len(consts) :])
                args = [
                    self.types.zeros(var.aval) if var.aval.dtype == float0 else next(values)
                    for var in closed.jaxpr.invars
                ]
                outs = function.inline(closed, args)
                kept = [out for out, aval in zip(outs, closed.out_avals, strict=True) if aval.dtype != float0]
                func.return_(self._converted(kept, out_avals, self.types.passed_type))
        meshes = tuple(self.meshes.symbols.items())
        return StableHLO(
            self._module, tuple(consts.values()), tuple(self.functions), meshes, tuple(self.meshes.shardings),
            tuple(self.meshes.abstract), tuple(reversed(self.meshes.named)),
        )  # fmt: skip

    def _converted(
        self, values: Sequence[Any], avals: Sequence[ShapedArray], type_of: Callable[[ShapedArray], Any]
    ) -> list[Any]:
        """Returns integers of 2 and 4 bits as the program holds them, or as it returns them."""
        return [
            stablehlo.convert(type_of(aval), value) if aval.dtype in storage_dtypes else value
            for value, aval in zip(values, avals, strict=True)
        ]

    # Functions

    def _new_function(self, name: str, arg_types: list[Any], result_types: list[Any]) -> Any:
        with ir.InsertionPoint(self._module.body):
            return func.FuncOp(
                name, ir.FunctionType.get(arg_types, result_types), visibility="public" if name == "main" else "private"
            )

    def _unique(self, name: str) -> str:
        name = _identifier(name) or "function"
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return name if not count else self._unique(f"{name}_{count}")

    def function_of(self, closed: ClosedJaxpr, name: str) -> tuple[str, tuple[Any, ...]]:
        """Returns the symbol of the function of a program, and the constants to call it with, lowering it if new."""
        key = (self.mesh, id(closed.jaxpr), *map(id, closed.consts))
        found = self._functions.get(key)
        if found is None:
            symbol = self._unique(name or closed.jaxpr.name)
            consts = self.consts_of(closed)
            found = self._functions[key] = symbol, tuple(consts.values())
            order = [ORDER] if has_effects(closed) else []
            arg_types = [*map(get_aval, consts.values()), *closed.in_avals, *order]
            result_types = [*closed.out_avals, *order]
            tensor_type = self.types.tensor_type
            op = self._new_function(symbol, [*map(tensor_type, arg_types)], [*map(tensor_type, result_types)])
            with ir.InsertionPoint(op.add_entry_block()):
                args = list(op.arguments)
                function = FunctionLowering(self, dict(zip(consts, args, strict=False)))
                if order:
                    function.set_order(args.pop())
                outs = function.inline(closed, args[len(consts) :])
                func.return_([*outs, function.order()] if order else outs)
        return found

    def function_of_rule(self, rule: Callable[..., Any], eqn: JaxprEqn, in_avals: Sequence[ShapedArray]) -> str:
        """Returns the symbol of the function that a rule builds for an equation, building it if new.

        The parameters of the equation must hold no programs.
        """
        out_avals = [var.aval for var in eqn.outvars]
        key = self.mesh, rule, *in_avals, *out_avals, exact_params_key(eqn.params)
        symbol = self._rules.get(key)
        if symbol is None:
            symbol = self._rules[key] = self._unique(eqn.primitive.name)
            op = self._new_function(symbol, *([*map(self.types.tensor_type, avals)] for avals in (in_avals, out_avals)))
            with ir.InsertionPoint(op.add_entry_block()):
                out = rule(LoweringContext(FunctionLowering(self, {}), eqn), *op.arguments, **eqn.params)
                func.return_(out if isinstance(out, list | tuple) else [out])
        return symbol

    # Constants

    def consts_of(self, closed: ClosedJaxpr) -> dict[int, Any]:
        """Returns the constants that are arguments, of a program and its sub-jaxprs, once each, by ``id``."""
        known = self._consts.get(id(closed))
        if known is not None:
            return known[1]
        found = {id(const): const for const in closed.consts if _is_argument(const)}
        self._add_inner_consts(closed.jaxpr, found)
        self._consts[id(closed)] = closed, found
        return found

    def _add_inner_consts(self, jaxpr: Jaxpr, found: dict[int, Any]) -> None:
        for eqn in jaxpr.eqns:
            for param in eqn.params.values():
                for inner in param if type(param) in (tuple, list) else (param,):
                    if type(inner) is ClosedJaxpr:
                        found.update(self.consts_of(inner))
                    elif type(inner) is Jaxpr:
                        self._add_inner_consts(inner, found)

    # Rules

    def rule(self, eqn: JaxprEqn) -> Callable[..., Any]:
        """Returns the lowering rule of an equation's primitive."""
        with at_source(eqn.source):
            try:
                rule = self.rules[eqn.primitive] = eqn.primitive.lowering_rule(self.platform)
            except MissingRuleError as error:
                error.add_note('jit(..., backend="numpy") needs no lowering rule: it calls the implementation.')
                raise
        return rule

    def location(self, eqn: JaxprEqn) -> Any:
        """Returns the MLIR location of an equation's operations; as a context it costs 1 µs per equation."""
        assert self.located is not None
        name = f"equation {len(self.located)}, {eqn.primitive.name}"
        self.located[name] = eqn
        return ir.Location.name(name)

    def explain_invalid(self, error: Exception) -> LoweringError:
        """Returns the error that names the equation for which the built module does not verify."""
        assert self.located is not None
        try:
            self._module.operation.verify()
        except bindings.MLIRError as with_locations:
            error = with_locations
        for name, eqn in self.located.items():
            if f'"{name}"' in str(error):
                return failed_rule(eqn, error)
        return LoweringError(f"lowering: expected rules that build well-typed StableHLO, got {error}; correct them")


def _identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _is_argument(const: Any) -> bool:
    """Whether a constant is an argument: it is large, or an array on a device."""
    aval = get_aval(const)
    on_device = aval.shape != () and not isinstance(const, np.ndarray)
    return aval.dtype != float0 and (on_device or aval.size * aval.dtype.itemsize > LARGE)
