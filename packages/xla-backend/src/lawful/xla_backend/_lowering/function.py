"""Lowers the equations of a jaxpr into one function of a StableHLO module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful.core import (
    Atom,
    ClosedJaxpr,
    JaxprEqn,
    LawfulError,
    Literal,
    ShapedArray,
    Var,
    get_aval,
    has_effects,
    to_numpy,
)
from lawful.xla_backend._errors import LoweringError
from lawful.xla_backend._lowering.callback import ORDER
from lawful.xla_backend._lowering.context import LoweringContext, Value
from lawful.xla_backend._lowering.rule_errors import failed_rule, wrong_result
from lawful.xla_backend._runtime.bindings import func, ir

if TYPE_CHECKING:
    from lawful.xla_backend._lowering.module import ModuleLowering


class FunctionLowering:
    """A function being built: the values of its constants, and of its scalar literals in the current block."""

    __slots__ = ("_consts", "_in_region", "_order", "built", "module")

    def __init__(self, module: ModuleLowering, consts: dict[int, Value]) -> None:
        self.module = module
        self._consts = consts
        # The order token that the last call with effects returned; None before the first.
        self._order: Value | None = None
        self._in_region = False
        self.built: dict[tuple[Any, ...], Any] = {}

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
        results = _call(symbol, types, args, inlined)
        if effects:
            self.set_order(results.pop())
        return results

    def call_rule(
        self, rule: Callable[..., Any], eqn: JaxprEqn, operands: Sequence[Value], avals: Sequence[ShapedArray]
    ) -> list[Value]:
        """Builds a call of the function that a rule builds for an equation, compiled alone, and returns its results."""
        symbol = self.module.function_of_rule(rule, eqn, avals)
        types = [self.module.types.tensor_type(var.aval) for var in eqn.outvars]
        return _call(symbol, types, operands, inlined=False)

    def order(self, eqn: JaxprEqn | None = None) -> Value:
        """Returns the order token of the last call with effects."""
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
        """Sets the order token of the next call with effects."""
        self._order = value

    @contextmanager
    def block(
        self, region: Any, types: Sequence[Any], order: Value | None = None, *, runs_once: bool = False
    ) -> Iterator[tuple[Value, ...]]:
        """Fills a region of an operation with one block, and yields the block's arguments.

        Args:
          region: the region.
          types: the types of the arguments.
          order: the order token of the block's first call with effects; None where there may be none.
          runs_once: whether the block may have effects in an order of its own.
        """
        outside = self.built, self._order, self._in_region
        # A value built in a block cannot be used outside of it.
        self.built, self._order, self._in_region = {}, order, not runs_once
        block = region.blocks.append(*types)
        try:
            with ir.InsertionPoint(block):
                yield tuple(block.arguments)
        finally:
            self.built, self._order, self._in_region = outside

    def _const(self, const: Any) -> Value:
        value = self._consts.get(id(const))
        return self.module.types.constant(_host_value(const)) if value is None else value

    def _read(self, atom: Atom, env: dict[Var, Value]) -> Value:
        return self._literal(atom) if type(atom) is Literal else env[atom]

    def _literal(self, literal: Literal) -> Value:
        number, dtype = literal.val, literal.aval.dtype
        # 0.0 equals -0.0, as do parts of complex numbers, so such constants are looked up by their bytes.
        is_itself = dtype.kind in "fiu" and number and number == number
        key = dtype, number if is_itself else np.asarray(number, dtype).tobytes()
        found = self.built.get(key)
        if found is None:
            found = self.built[key] = self.module.types.constant(np.asarray(number, dtype))
        return found

    def _equations(self, eqns: Sequence[JaxprEqn], env: dict[Var, Value]) -> None:
        module = self.module
        rules, tensor_type, located = module.rules, module.types.tensor_type, module.located
        for eqn in eqns:
            primitive = eqn.primitive
            rule = rules.get(primitive)
            if rule is None:
                rule = module.rule(eqn)
            operands = [env[atom] if type(atom) is Var else self._literal(atom) for atom in eqn.invars]
            try:
                ctx = LoweringContext(self, eqn)
                if located is not None:
                    with module.location(eqn):
                        out = rule(ctx, *operands, **eqn.params)
                else:
                    out = rule(ctx, *operands, **eqn.params) if eqn.params else rule(ctx, *operands)
                if out is ctx.built is not None:  # reading its type is as slow as building it
                    env[eqn.outvars[0]] = out
                    continue
                results = out if isinstance(out, list | tuple) else (out,)
                for var, value in zip(eqn.outvars, results, strict=True):
                    if not isinstance(value, ir.Value) or value.type != tensor_type(var.aval):
                        raise wrong_result(eqn, var.aval, value)
                    env[var] = value
            except (LawfulError, RecursionError):
                raise
            except Exception as error:
                raise failed_rule(eqn, error) from error


def _call(symbol: str, types: Sequence[Any], args: Sequence[Value], inlined: bool) -> list[Value]:
    call = func.CallOp(types, ir.FlatSymbolRefAttr.get(symbol), args)
    if not inlined:
        call.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get({"inlineable": ir.StringAttr.get("false")})
    return list(call.results)


def _host_value(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(to_numpy(x), dtype=get_aval(x).dtype)
