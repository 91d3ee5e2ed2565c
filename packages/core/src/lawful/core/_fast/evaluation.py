"""Evaluation with fewer Python calls: arguments that need no conversion are used as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from lawful.core._fast.indexed_jaxpr import IndexedJaxpr
from lawful.core._fast.replay import register_replay, replay_steps
from lawful.core._primitive.primitive import Primitive
from lawful.core._trace.trace import EvalTrace, concrete_value, current
from lawful.core._types.arrays import python_scalar_types

#: Types of scalars that implementations take as they are.
_SCALAR_TYPES = frozenset(
    {*python_scalar_types, *(np.dtype(code).type for code in np.typecodes["All"] if code not in "OSUVMmgG")}
    - {int}  # its values must be checked: they may not fit int64
)


class FastEvalTrace(EvalTrace):
    """Evaluation that converts no argument that is native already."""

    __slots__ = ()

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        for x in args:
            if (cls := type(x)) not in _SCALAR_TYPES and not (cls is ndarray and x.dtype.isnative):
                args = [concrete_value(x, primitive.impl_takes_any_array) for x in args]
                break
        impl = primitive.rules.get("impl") if primitive.pure_rules else None
        if impl is None:
            impl = primitive.rule("impl")
        trace = current.trace
        if trace is self:
            return impl(*args, **params)
        current.trace = self
        try:
            return impl(*args, **params)
        finally:
            current.trace = trace


def _replay(trace: EvalTrace, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    function = program.function
    numpy_function = function if program.is_numpy else None
    for x in args:  # a loop is 2× faster than `issuperset(map(type, args))`
        if (cls := type(x)) is ndarray:
            if (
                numpy_function is None and not x.dtype.isnative
            ):  # NumPy takes arrays of any byte order, and gives native ones
                return replay_steps(trace, program, args)
        elif cls not in _SCALAR_TYPES:
            return replay_steps(trace, program, args)
    if numpy_function is not None:
        return numpy_function(*args)
    before = current.trace
    if function is not None and before is trace:
        return function(*args)
    current.trace = trace
    try:
        if function is not None:
            return function(*args)
        program.count_evaluation()
        values = [*args, *program.scalars]
        for primitive, params, operands, _ in program.steps:
            impl = primitive.rules.get("impl") or primitive.rule("impl")
            out = impl(*[values[i] for i in operands], **params)
            if primitive.multiple_results:
                values += out
            else:
                values.append(out)
        return [values[i] for i in program.results]
    finally:
        current.trace = before


register_replay(EvalTrace, _replay)
register_replay(FastEvalTrace, _replay)
