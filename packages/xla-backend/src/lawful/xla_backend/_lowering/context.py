"""The context of a lowering rule: the types of its equation, StableHLO, and helpers, with no import of jaxlib.

A rule is ``rule(ctx, *operands, **params)``. The operands are MLIR values; it returns the MLIR value, or a list
of them where the primitive has several results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful.core import ClosedJaxpr, JaxprEqn, ShapedArray, Var, as_dtype, has_effects
from lawful.xla_backend._callbacks.checked_call import CheckedCall
from lawful.xla_backend._lowering.callback import call_python
from lawful.xla_backend._lowering.collectives import CollectiveLowering
from lawful.xla_backend._lowering.kernels import call_kernel
from lawful.xla_backend._lowering.meshes import MeshMethods
from lawful.xla_backend._lowering.programs import recorded, recorded_once
from lawful.xla_backend._lowering.regions import case, while_loop, while_loop_in_order
from lawful.xla_backend._lowering.types import TypeTable
from lawful.xla_backend._runtime.bindings import chlo, ir, stablehlo
from lawful.xla_backend._runtime.lapack import lapack_target, load_hybrid_lapack

if TYPE_CHECKING:
    from lawful.xla_backend._lowering.function import FunctionLowering

#: An MLIR value: the result of an operation, or an argument of a block.
Value = Any


class LoweringContext(CollectiveLowering, MeshMethods):
    """One equation that is being lowered.

    Attributes:
      hlo: the StableHLO dialect: ``ctx.hlo.add(x, y)``.
      chlo: the CHLO dialect, of functions that are decomposed into StableHLO: ``ctx.chlo.erf(x)``.
      ir: MLIR's types, attributes and regions.

    >>> from lawful.core import Primitive
    >>> from lawful.staging import jit
    >>> multiply_add_p = Primitive("multiply_add")
    >>> _ = multiply_add_p.def_abstract_eval(lambda x, y, z: x)
    >>> _ = multiply_add_p.def_lowering(lambda ctx, x, y, z: ctx.hlo.add(ctx.hlo.multiply(x, y), z))
    >>> float(jit(multiply_add_p.bind, backend="xla")(2.0, 3.0, 4.0))
    10.0
    """

    __slots__ = ("_eqn", "_function", "built")

    hlo = stablehlo
    ir = ir

    def __init__(self, function: FunctionLowering, eqn: JaxprEqn) -> None:
        self._function = function
        self._eqn = eqn
        #: The last value that `op` built. It has the type of the equation's result.
        self.built: Value | None = None

    @property
    def chlo(self) -> Any:
        """The CHLO dialect."""
        return chlo()

    @property
    def avals_in(self) -> list[ShapedArray]:
        """The types of the operands."""
        return [atom.aval for atom in self._eqn.invars]

    @property
    def avals_out(self) -> list[ShapedArray]:
        """The types of the results."""
        return [var.aval for var in self._eqn.outvars]

    @property
    def aval_out(self) -> ShapedArray:
        """The type of the first result."""
        return self._eqn.outvars[0].aval

    @property
    def platform(self) -> str:
        """The platform that the program is lowered for, such as ``"cpu"``."""
        return self._function.module.platform

    def op(self, name: str, *operands: Value) -> Value:
        """Returns the result of an operation of StableHLO without attributes, which is that of the equation.

        It is what ``ctx.hlo`` has under the name, in a third of the time: the type of the result is known.

        Args:
          name: as in StableHLO: ``"sine"``.
          operands: values.
        """
        (var,) = self._eqn.outvars
        result_type = self._function.module.types.tensor_type(var.aval)
        self.built = ir.Operation.create(f"stablehlo.{name}", [result_type], operands).result
        return self.built

    def broadcast_scalars(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Returns the operands with scalars broadcast to the shape of the result; ``avals_in`` follows.

        StableHLO has no elementwise operations of scalars beside arrays.

        Args:
          operands: the values of the equation's operands.
        """
        shape = self.aval_out.shape
        if all([atom.aval.shape == shape for atom in self._eqn.invars]):  # the common case
            return operands
        avals = [aval.update(shape=shape) for aval in self.avals_in]
        operands = [
            self.broadcast_scalar(value, aval) if not atom.aval.shape else value
            for value, atom, aval in zip(operands, self._eqn.invars, avals, strict=True)
        ]
        self._eqn = self._eqn.replace(invars=[Var(aval) for aval in avals])
        return operands

    # Types and attributes

    @property
    def _types(self) -> TypeTable:
        return self._function.module.types

    def tensor_type(self, aval: ShapedArray) -> Any:
        """Returns the MLIR type of values of a type; float0 is stored as bool."""
        return self._types.tensor_type(aval)

    def element_type(self, dtype: Any) -> Any:
        """Returns the MLIR type of the elements of an array of a dtype."""
        return self._types.element_type(as_dtype(dtype))

    def i64_array(self, values: Sequence[int]) -> Any:
        """Returns an attribute that is a list of integers, as axes and shapes are."""
        return ir.DenseI64ArrayAttr.get(list(values))

    def bool_array(self, values: Sequence[bool]) -> Any:
        """Returns an attribute that is a list of booleans."""
        return ir.DenseBoolArrayAttr.get(list(values))

    def i64(self, value: int) -> Any:
        """Returns an attribute that is a 64-bit integer."""
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)

    def string(self, value: str) -> Any:
        """Returns an attribute that is a string."""
        return ir.StringAttr.get(value)

    # Constants

    def constant(self, value: Any) -> Value:
        """Returns a constant with the value, shape and dtype of a NumPy array or scalar, or a number."""
        return self._types.constant(np.asarray(value))

    def full(self, aval: ShapedArray, value: Any) -> Value:
        """Returns an array of a type of which every element is ``value``, in constant space."""
        return self._types.constant(np.asarray(value, dtype=aval.dtype), aval.shape)

    def zeros(self, aval: ShapedArray) -> Value:
        """Returns an array of zeros of a type, in constant space."""
        return self._types.zeros(aval)

    # Operations with awkward builders

    def broadcast_scalar(self, scalar: Value, aval: ShapedArray) -> Value:
        """Returns an array of a type of which every element is the scalar value ``scalar``."""
        return stablehlo.broadcast_in_dim(self.tensor_type(aval), scalar, self.i64_array(()))

    def compare(self, x: Value, y: Value, direction: str) -> Value:
        """Returns ``x`` compared with ``y``, by the kind of their dtype.

        Args:
          x: a value.
          y: a value of the same type.
          direction: ``"EQ" "NE" "LT" "LE" "GT" "GE"``; of complex numbers only the first two.
        """
        attribute, compare_type = self._types.comparison(x.type.element_type, direction)
        return stablehlo.compare(x, y, attribute, compare_type=compare_type)

    def operand_of(self, op: str, value: Value) -> Value | None:
        """Returns the operand of the unary operation that made a value; None if another operation made it.

        Args:
          op: its name, ``"stablehlo.negate"``.
          value: a value.
        """
        made = None if isinstance(value, ir.BlockArgument) else value.owner
        return made.operands[0] if made is not None and made.name == op else None

    def reduce(
        self, operand: Value, init: Any, axes: Sequence[int], body: str | Callable[[Value, Value], Value]
    ) -> Value:
        """Returns ``operand`` reduced over some axes.

        Args:
          operand: a value.
          init: the unit of the reduction: a number, or a scalar value.
          axes: the axes that are reduced, none negative.
          body: the name of the StableHLO operation (``"add"``), or a function of two scalar values.
        """
        combine = getattr(stablehlo, body) if isinstance(body, str) else body
        aval = self._aval_of(operand)
        if not isinstance(init, ir.Value):
            init = self.constant(np.asarray(init, dtype=aval.dtype))
        kept = tuple(size for axis, size in enumerate(aval.shape) if axis not in axes)
        results = [self.tensor_type(ShapedArray(kept, aval.dtype))]
        op = stablehlo.ReduceOp(results, [operand], [init], self.i64_array(axes))
        scalar = self.tensor_type(ShapedArray((), aval.dtype))
        with self.block(op.regions[0], [scalar, scalar]) as (x, y):
            stablehlo.return_([combine(x, y)])
        return op.results[0]

    def lapack(
        self,
        routine: str,
        operands: Sequence[Value],
        results: Sequence[ShapedArray],
        *,
        transposed_operands: Sequence[int] = (),
        transposed_results: Sequence[int] = (),
        **attributes: int | np.int32,
    ) -> list[Value]:
        """Returns the results of a routine of LAPACK, called for each matrix of the operands; on the CPU only.

        Args:
          routine: its name without the letter of the dtype: ``"potrf"``.
          operands: values; those of the highest rank are matrices, which LAPACK is given by columns.
          results: the types of the results, likewise.
          transposed_operands: the positions of square matrices that are given transposed, and so are not copied.
          transposed_results: likewise.
          attributes: small numbers, the codes of letters, or integers of NumPy, that say what to compute.
        """
        target = lapack_target(routine, self._aval_of(operands[0]).dtype)
        return self._matrix_call(target, operands, results, transposed_operands, transposed_results, attributes)

    def cuda_kernel(
        self,
        target: str,
        operands: Sequence[Value],
        results: Sequence[ShapedArray],
        *,
        transposed_operands: Sequence[int] = (),
        transposed_results: Sequence[int] = (),
        **attributes: bool | int | str,
    ) -> list[Value]:
        """Returns the results of a kernel of JAX's plugin, as `lapack` does; on NVIDIA's devices only.

        Args:
          target: its name: ``"cusolver_potrf_ffi"``; those that begin with ``"cuhybrid_"`` call LAPACK on the host.
          operands: as for `lapack`, as all but the last.
          results: the types of the results.
          transposed_operands: positions.
          transposed_results: positions.
          attributes: what the kernel takes.
        """
        if target.startswith("cuhybrid_"):
            load_hybrid_lapack()
        return self._matrix_call(target, operands, results, transposed_operands, transposed_results, attributes)

    def _matrix_call(
        self, target: str, operands: Sequence[Value], results: Sequence[ShapedArray],
        transposed_operands: Sequence[int], transposed_results: Sequence[int], attributes: Mapping[str, Any],
    ) -> list[Value]:  # fmt: skip
        avals, types = [*map(self._aval_of, operands)], [*map(self.tensor_type, results)]
        return call_kernel(target, operands, avals, types, results, transposed_operands, transposed_results, attributes)

    def callback(
        self,
        function: Callable[..., Sequence[Any]],
        operands: Sequence[Value],
        results: Sequence[ShapedArray] | None = None,
    ) -> list[Value]:
        """Returns the results of a Python function, which is called when the program runs; on the CPU only.

        The calls of effectful primitives are made in the order of their equations, each as often as its equation says.
        Those of others may be made more or less often, and in any order.

        Args:
          function: of NumPy arrays, read-only, of the types of the operands; it gives a sequence of arrays.
          operands: values.
          results: the types of the arrays that it gives; by default those of the equation's results.
        """
        avals = [*map(self._aval_of, operands)]
        if len(operands) == len(self.avals_in):  # float0 looks like bool here
            avals = [
                aval if self.tensor_type(aval) == operand.type else found
                for aval, operand, found in zip(self.avals_in, operands, avals, strict=True)
            ]
        types = self.avals_out if results is None else results
        in_order = self._eqn.primitive.effectful
        call = CheckedCall(function, self._eqn, tuple(avals), tuple(types), in_order)
        return call_python(self._function, call, operands)

    def block(self, region: Any, types: Sequence[Any]) -> AbstractContextManager[tuple[Value, ...]]:
        """Fills a region of an operation with one block: gives the block's arguments, of the types given.

        What is built inside ``with`` goes into the block; it has to end with ``ctx.hlo.return_(values)``.
        """
        return self._function.block(region, types)

    def _aval_of(self, value: Value) -> ShapedArray:
        """Returns the type of an MLIR value that need not be one of the operands."""
        tensor = value.type
        return ShapedArray(tuple(tensor.shape), self._types.dtype_of(tensor.element_type))

    # Programs inside this one

    def call(
        self, jaxpr: ClosedJaxpr, operands: Sequence[Value], *, name: str = "", inlined: bool = True
    ) -> list[Value]:
        """Returns the results of a call of a jaxpr, which becomes a function of the module, lowered once.

        Args:
          jaxpr: the program; the same object called again is the same function.
          operands: a value for each of its ``invars``.
          name: the function's name, made unique.
          inlined: whether XLA may inline the function and fuse it. Where one chain of integer operations feeds another
            in one loop, LLVM's vectorizer takes exponential time. A function that is not inlined is compiled once.
        """
        if inlined or has_effects(jaxpr):
            return self._function.call(jaxpr, operands, name, inlined)
        # XLA merges equal calls too late to simplify what uses them.
        return list(self.once((jaxpr, *operands), lambda: self._function.call(jaxpr, operands, name, inlined)))

    def call_rule(self, rule: Callable[..., Any], *operands: Value) -> list[Value]:
        """Returns the results of the equation from a function that ``rule`` builds, once for the same types.

        The function is not inlined: it is compiled once, however often it is called.

        Args:
          rule: ``rule(ctx, *operands, **params)`` returns the values of the equation's results. The parameters of the
            equation must hold no programs.
          operands: values, which need not be the equation's operands.
        """
        return self._function.call_rule(rule, self._eqn, operands, [*map(self._aval_of, operands)])

    def program(self, function: Callable[..., Any], *operands: Value) -> ClosedJaxpr:
        """Returns the program of a Python function of arrays at the types of some values.

        It is recorded once as long as the function lives if the primitive's rules are pure, else each time.

        Args:
          function: made of ops, or of NumPy's functions; it returns an array or a sequence of arrays.
          operands: values, of which only the types count.
        """
        record = recorded_once if self._eqn.primitive.pure_rules else recorded
        return record(function, *map(self._aval_of, operands))

    def once(self, key: tuple[Any, ...], build: Callable[[], Any]) -> Any:
        """Returns what ``build`` built first for a key in the current block."""
        built = self._function.built
        return built[key] if key in built else built.setdefault(key, build())

    def apply(self, function: Callable[..., Any], *operands: Value, inlined: bool = True) -> list[Value]:
        """Returns the results of a Python function of arrays, as `program` records it; it is lowered once.

        Args:
          function: as for `program`.
          operands: values.
          inlined: as for `call`.
        """
        name = getattr(function, "__name__", "function").strip("_")
        return self.call(self.program(function, *operands), operands, name=name, inlined=inlined)

    def inline(self, jaxpr: ClosedJaxpr, operands: Sequence[Value]) -> list[Value]:
        """Returns the results of a jaxpr whose equations are lowered here."""
        return self._function.inline(jaxpr, operands)

    def case(self, index: Value, branches: Sequence[ClosedJaxpr], operands: Sequence[Value]) -> list[Value]:
        """Returns the results of one of several jaxprs of the same types, all with the same operands.

        Args:
          index: an int32 scalar, clamped to the number of branches.
          branches: the programs.
          operands: a value for each of the ``invars`` of all of them.
        """
        return case(self._function, index, branches, operands)

    def while_loop(
        self, cond: ClosedJaxpr, body: ClosedJaxpr, init: Sequence[Value], *, cond_consts: Sequence[Value] = (),
        body_consts: Sequence[Value] = (),
    ) -> list[Value]:  # fmt: skip
        """Returns the last state of a loop.

        Args:
          cond: from ``cond_consts`` and the state to a bool scalar.
          body: from ``body_consts`` and the state to the next state.
          init: the first state.
          cond_consts: the first operands of ``cond``, the same in each iteration.
          body_consts: the first operands of ``body``, the same in each iteration.
        """
        build = while_loop_in_order if has_effects(cond) or has_effects(body) else while_loop
        return build(
            self._function,
            lambda *state: self.inline(cond, [*cond_consts, *state])[0],
            lambda *state: self.inline(body, [*body_consts, *state]),
            init,
        )
