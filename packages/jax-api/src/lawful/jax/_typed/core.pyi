"""The names that `lawful.jax.core` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.core._trace.trace import Trace as Trace
from lawful.core._trace.tracer import Tracer as Tracer
from lawful.core._types.aval import ShapedArray as ShapedArray
from lawful.core._types.aval import ShapedArray as _AbstractValue

AbstractValue = _AbstractValue
Atom: Any
ensure_compile_time_eval: Callable[..., Any]
eval_context: Callable[..., Any]
eval_jaxpr: Callable[..., Any]
