"""From a jaxpr to a StableHLO module, by the primitives' own lowering rules.

Large constants of the program, those of the programs inside it too, and those on a device become the first arguments
of ``main``, so that their values are not part of the text; a small one, such as a few indices, is compiled better where
it is known. A jaxpr that is called becomes a private function, lowered once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from lawful.core import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    LawfulError,
    Literal,
    Primitive,
    ShapedArray,
    Var,
    at_source,
    float0,
    get_aval,
    has_effects,
    record,
    to_numpy,
)
from lawful.xla_backend import _jaxlib
from lawful.xla_backend._callbacks import ORDER, CheckedCall
from lawful.xla_backend._context import LoweringContext, Value
from lawful.xla_backend._errors import LoweringError
from lawful.xla_backend._jaxlib import func, ir
from lawful.xla_backend._types import TypeTable

# A constant of more bytes is an argument. With indices that it knows XLA makes a slice of a gather, a pad of a scatter.
LARGE = 1024


@record
class StableHLO:
    """A verified module.

    Attributes:
      module: the ``ir.Module``, whose function ``main`` takes the constants, then the arguments, float0 left out.
      consts: the constants that the caller has to pass.
      functions: the Python functions that the program calls, by their numbers.
    """

    module: Any
    consts: tuple[Any, ...]
    functions: tuple[CheckedCall, ...]


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
    except _jaxlib.MLIRError as error:
        # Only now is it worth the time to say of each operation which equation it came from.
        located = ModuleLowering(platform, located=True)
        located.lower(closed, name, donated)
        raise located.explain_invalid(error) from error
    return lowered


class ModuleLowering:
    """A module being built: its types, its functions, and the rules that its equations use."""

    def __init__(self, platform: str, *, located: bool = False) -> None:
        self.platform = platform
        #: The equations by the names of their operations' locations; None where those are not kept.
        self.located: dict[str, JaxprEqn] | None = {} if located else None
        self.context = _jaxlib.new_context()
        self.rules: dict[Primitive, Callable[..., Any]] = {}
        #: The Python functions that the program calls.
        self.functions: list[CheckedCall] = []
        self._functions: dict[tuple[int, ...], tuple[str, tuple[Any, ...]]] = {}
        # With the program itself, so that its id stays its own.
        self._consts: dict[int, tuple[ClosedJaxpr, dict[int, Any]]] = {}
        self._names: dict[str, int] = {"main": 1}
        self._module: Any = None
        self.types: TypeTable

    def lower(self, closed: ClosedJaxpr, name: str, donated: Sequence[int]) -> StableHLO:
        """Builds the module; not yet verified."""
        with self.context, ir.Location.unknown():
            self.types = TypeTable()
            self._module = ir.Module.create()
            self._module.operation.attributes["sym_name"] = ir.StringAttr.get(_identifier(f"jit_{name}"))
            consts = self.consts_of(closed)
            passed = [var for var in closed.jaxpr.invars if var.aval.dtype != float0]
            arg_types = [self.types.tensor_type(get_aval(const)) for const in consts.values()]
            arg_types += [self.types.tensor_type(var.aval) for var in passed]
            returned = [atom for atom in closed.jaxpr.outvars if atom.aval.dtype != float0]
            main = self._new_function("main", arg_types, [self.types.tensor_type(atom.aval) for atom in returned])
            main.arg_attrs = ir.ArrayAttr.get(
                [ir.DictAttr.get({})] * len(consts) + _donation_attributes(closed.jaxpr, donated)
            )
            with ir.InsertionPoint(main.add_entry_block()):
                function = FunctionLowering(self, dict(zip(consts, main.arguments, strict=False)))
                values = iter(main.arguments[len(consts) :])
                args = [
                    self.types.zeros(var.aval) if var.aval.dtype == float0 else next(values)
                    for var in closed.jaxpr.invars
                ]
                outs = function.inline(closed, args)
                kept = [out for out, aval in zip(outs, closed.out_avals, strict=True) if aval.dtype != float0]
                func.return_(kept)
        return StableHLO(self._module, tuple(consts.values()), tuple(self.functions))

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
        key = (id(closed.jaxpr), *map(id, closed.consts))
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

    # Constants

    def consts_of(self, closed: ClosedJaxpr) -> dict[int, Any]:
        """Returns the constants of a program and of those inside it that are arguments, once each, by ``id``."""
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
            rule = self.rules[eqn.primitive] = eqn.primitive.lowering_rule(self.platform)
        return rule

    def location(self, eqn: JaxprEqn) -> Any:
        """Returns the MLIR location of an equation's operations; to use it as a context costs 1 µs an equation."""
        assert self.located is not None
        name = f"equation {len(self.located)}, {eqn.primitive.name}"
        self.located[name] = eqn
        return ir.Location.name(name)

    def explain_invalid(self, error: Exception) -> LoweringError:
        """Returns the error that names the equation for which the built module does not verify."""
        assert self.located is not None
        try:
            self._module.operation.verify()
        except _jaxlib.MLIRError as with_locations:
            error = with_locations
        for name, eqn in self.located.items():
            if f'"{name}"' in str(error):
                return _failed_rule(eqn, error)
        return LoweringError(f"lowering: expected rules that build well-typed StableHLO, got {error}; correct them")


class FunctionLowering:
    """A function being built: the values of its constants, and of its scalar literals in the current block."""

    __slots__ = ("_consts", "_in_region", "_literals", "_order", "module")

    def __init__(self, module: ModuleLowering, consts: dict[int, Value]) -> None:
        self.module = module
        self._consts = consts
        # What the last call with effects gave to the next one; None before the first.
        self._order: Value | None = None
        self._in_region = False
        self._literals: dict[tuple[np.dtype[Any], Any], Value] = {}

    def inline(self, closed: ClosedJaxpr, operands: Sequence[Value]) -> list[Value]:
        """Lowers the equations of a program here, and returns its results."""
        jaxpr = closed.jaxpr
        env: dict[Var, Value] = {
            var: self._const(const) for var, const in zip(jaxpr.constvars, closed.consts, strict=True)
        }
        env.update(zip(jaxpr.invars, operands, strict=True))
        self._equations(jaxpr.eqns, env)
        return [self._read(atom, env) for atom in jaxpr.outvars]

    def call(self, closed: ClosedJaxpr, operands: Sequence[Value], name: str, inlined: bool) -> list[Value]:
        """Builds a call of the function of a program, and returns its results."""
        symbol, consts = self.module.function_of(closed, name)
        types = [self.module.types.tensor_type(aval) for aval in closed.out_avals]
        args = [*map(self._const, consts), *operands]
        effects = has_effects(closed)
        if effects:
            types.append(self.module.types.tensor_type(ORDER))
            args.append(self.order())
        call = func.CallOp(types, ir.FlatSymbolRefAttr.get(symbol), args)
        if not inlined:
            call.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get({"inlineable": ir.StringAttr.get("false")})
        results = list(call.results)
        if effects:
            self.set_order(results.pop())
        return results

    def order(self, eqn: JaxprEqn | None = None) -> Value:
        """Returns what the last call with effects gave to the next one."""
        if self._order is None:
            if self._in_region:
                raise LoweringError(
                    "lowering: expected effects in functions, branches and loops only, got one in a region of an "
                    "operation that may run it any number of times; take it out of there",
                    source=None if eqn is None else eqn.source,
                )
            self._order = self.module.types.constant(np.zeros(ORDER.shape, ORDER.dtype))
        return self._order

    def set_order(self, value: Value) -> None:
        """Makes a value the one that the next call with effects takes."""
        self._order = value

    @contextmanager
    def block(self, region: Any, types: Sequence[Any], order: Value | None = None) -> Iterator[tuple[Value, ...]]:
        """Fills a region of an operation with one block, and gives the block's arguments.

        Args:
          region: the region.
          types: the types of the arguments.
          order: what calls with effects in the block begin with; None where there may be none.
        """
        outside = self._literals, self._order, self._in_region
        # A literal built in a block cannot be used outside of it.
        self._literals, self._order, self._in_region = {}, order, True
        block = region.blocks.append(*types)
        try:
            with ir.InsertionPoint(block):
                yield tuple(block.arguments)
        finally:
            self._literals, self._order, self._in_region = outside

    def _const(self, const: Any) -> Value:
        value = self._consts.get(id(const))
        return self.module.types.constant(_host_value(const)) if value is None else value

    def _read(self, atom: Atom, env: dict[Var, Value]) -> Value:
        return self._literal(atom) if type(atom) is Literal else env[atom]  # type: ignore[index]

    def _literal(self, literal: Literal) -> Value:
        number, dtype = literal.val, literal.aval.dtype
        # By its bytes where equal numbers may differ: 0.0 and -0.0 do, and the parts of complex ones.
        is_itself = dtype.kind in "fiu" and number and number == number
        key = dtype, number if is_itself else np.asarray(number, dtype).tobytes()
        found = self._literals.get(key)
        if found is None:
            found = self._literals[key] = self.module.types.constant(np.asarray(number, dtype))
        return found

    def _equations(self, eqns: Sequence[JaxprEqn], env: dict[Var, Value]) -> None:
        module = self.module
        rules, tensor_type = module.rules, module.types.tensor_type
        for eqn in eqns:
            primitive = eqn.primitive
            rule = rules.get(primitive)
            if rule is None:
                rule = module.rule(eqn)
            operands = [env[atom] if type(atom) is Var else self._literal(atom) for atom in eqn.invars]  # type: ignore[arg-type]
            try:
                ctx = LoweringContext(self, eqn)
                if module.located is not None:
                    with module.location(eqn):
                        out = rule(ctx, *operands, **eqn.params)
                else:
                    out = rule(ctx, *operands, **eqn.params)
                if out is ctx.built is not None:  # to ask for its type takes as long as to build it
                    env[eqn.outvars[0]] = out
                    continue
                results = out if isinstance(out, list | tuple) else (out,)
                for var, value in zip(eqn.outvars, results, strict=True):
                    if not isinstance(value, ir.Value) or value.type != tensor_type(var.aval):
                        raise _wrong_result(eqn, var.aval, value)
                    env[var] = value
            except LawfulError:
                raise
            except Exception as error:
                raise _failed_rule(eqn, error) from error


def _wrong_result(eqn: JaxprEqn, aval: ShapedArray, value: Value) -> LoweringError:
    actual = f"a value of type {value.type}" if isinstance(value, ir.Value) else repr(value)
    return LoweringError(
        f"lowering: expected the rule of '{eqn.primitive.name}' to give {aval}, got {actual}; "
        f"correct what {eqn.primitive.name}_p.def_lowering defines",
        source=eqn.source,
    )


def _failed_rule(eqn: JaxprEqn, error: Exception) -> LoweringError:
    name = eqn.primitive.name
    return LoweringError(
        f"lowering: expected the rule of '{name}' to build StableHLO, got {type(error).__name__}: {error}; "
        f"correct what {name}_p.def_lowering defines",
        source=eqn.source,
    )


def _identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _is_argument(const: Any) -> bool:
    """Tells whether the value of a constant is no part of the text: it is large, or an array on a device."""
    aval = get_aval(const)
    on_device = aval.shape != () and not isinstance(const, np.ndarray)
    return aval.dtype != float0 and (on_device or aval.size * aval.dtype.itemsize > LARGE)


def _host_value(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(to_numpy(x), dtype=get_aval(x).dtype)


def _donation_attributes(jaxpr: Jaxpr, donated: Sequence[int]) -> list[Any]:
    """Returns the attributes of the arguments: which result takes the memory of which donated argument.

    A donated argument that fits no result is still given up: XLA may use it for what it computes on the way.
    """
    free: dict[tuple[tuple[int, ...], Any], list[int]] = {}
    results = [atom.aval for atom in jaxpr.outvars if atom.aval.dtype != float0]
    for position, aval in enumerate(results):
        free.setdefault((aval.shape, aval.dtype), []).append(position)
    given_up = frozenset(donated)
    attributes = []
    for position, var in enumerate(jaxpr.invars):
        if var.aval.dtype == float0:
            continue
        entry = {}
        if position in given_up:
            fitting = free.get((var.aval.shape, var.aval.dtype))
            if fitting:
                entry["tf.aliasing_output"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), fitting.pop(0))
            else:
                entry["jax.buffer_donor"] = ir.BoolAttr.get(True)
        attributes.append(ir.DictAttr.get(entry))
    return attributes
