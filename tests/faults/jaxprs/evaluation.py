"""Faults in evaluation, in type rules, and in the NumPy backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.core import ShapedArray
from lawful.staging._numpy_backend import program as _program
from lawful.staging._numpy_backend import source as _source
from lawful.staging._numpy_backend.program import PythonProgram
from tests.faults._fault import Rule, instead, local_fault, method_fault, rule_fault


def _in_place(right: Rule) -> Rule:
    def impl(x: Any) -> Any:
        if type(x) is np.ndarray and x.flags.writeable:
            return np.negative(x, out=x)
        return right(x)

    return impl


def _by_name(right: Rule) -> Rule:
    known: dict[Any, Any] = {}
    return lambda eqn: known.setdefault((eqn.primitive, len(eqn.invars)), right(eqn))


def _in_memory_order(right: Rule) -> Rule:
    def specialised(avals: Any, compile: Any, *, permutation: tuple[int, ...]) -> Any:
        function = right(avals, compile, permutation=permutation)
        return lambda x: function(np.reshape(np.ravel(x, "K"), np.shape(x)))

    return specialised


def _always_inside(right: Rule) -> Rule:
    return lambda avals, compile, **params: right(avals, compile, **{**params, "mode": "clip", "fill_value": None})


def _too_early(right: Rule) -> Rule:
    def last_uses(jaxpr: Any) -> Any:
        _, *later = right(jaxpr) or [[]]
        return [*later, []] if jaxpr.eqns else []

    return last_uses


evaluation_faults = (
    rule_fault("sin evaluates cos", "wrong operation", ops.sin_p, "impl", instead(np.cos)),
    rule_fault("rem takes the sign of the divisor", "wrong sign", ops.rem_p, "impl", instead(np.remainder)),
    rule_fault(
        "select_n counts cases from one",
        "off by one",
        ops.select_n_p,
        "impl",
        lambda right: lambda which, *cases: right(np.asarray(which, np.int32) - 1, *cases),
    ),
    rule_fault("neg writes its result into its operand", "written through", ops.neg_p, "impl", _in_place),
    rule_fault(
        "cumsum starts at the wrong end",
        "reversed order",
        ops.cumsum_p,
        "impl",
        lambda right: lambda x, *, axis, reverse: right(x, axis=axis, reverse=not reverse),
    ),
    rule_fault(
        "argmax gives the last of equal elements",
        "reversed order",
        ops.argmax_p,
        "impl",
        lambda right: (
            lambda x, *, axes, index_dtype: (
                x.shape[axes[0]] - 1 - right(np.flip(x, axes), axes=axes, index_dtype=index_dtype)
            ).astype(index_dtype)
        ),
    ),
    rule_fault(
        "the type of cos is of 32 bits",
        "dtype lost",
        ops.cos_p,
        "abstract_eval",
        lambda right: lambda x: x.update(dtype=np.complex64 if x.dtype.kind == "c" else np.float32),
    ),
    rule_fault(
        "the type of tanh is weak",
        "weak type added",
        ops.tanh_p,
        "abstract_eval",
        lambda right: lambda x: ShapedArray(x.shape, x.dtype, weak_type=True),
    ),
    rule_fault(
        "the type of transpose is that of its operand",
        "wrong axis",
        ops.transpose_p,
        "abstract_eval",
        instead(lambda x, *, permutation: x),
    ),
    rule_fault("mul adds", "wrong operation", ops.mul_p, "impl", instead(np.add)),
    method_fault(
        "compiled programs lose weak types",
        "weak type lost",
        PythonProgram,
        "__call__",
        lambda right: lambda self, *args: [*map(np.asarray, right(self, *args))],
    ),
    local_fault("the compiler tells calls apart by primitive only", "stale cache", _source, "_function_of", _by_name),
    rule_fault(
        "a compiled transposition takes elements as they lie in memory",
        "wrong axis",
        ops.transpose_p,
        "numpy",
        _in_memory_order,
    ),
    rule_fault("a compiled look-up fills nothing", "wrong operation", ops.gather_p, "numpy", _always_inside),
    local_fault("compiled programs free variables one equation early", "off by one", _source, "last_uses", _too_early),
    local_fault(
        "compiled programs give views of their arguments",
        "results alias arguments",
        _program,
        "copy_aliased",
        instead(lambda results, others: list(results)),
    ),
)
