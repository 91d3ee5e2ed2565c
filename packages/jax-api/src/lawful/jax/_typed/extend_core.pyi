"""The names that `lawful.jax.extend.core` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.core._errors import JaxprTypeError as JaxprTypeError
from lawful.core._jaxpr.jaxpr import ClosedJaxpr as ClosedJaxpr
from lawful.core._jaxpr.jaxpr import Jaxpr as Jaxpr
from lawful.core._jaxpr.jaxpr import JaxprEqn as JaxprEqn
from lawful.core._jaxpr.jaxpr import Literal as Literal
from lawful.core._jaxpr.jaxpr import Var as Var
from lawful.core._trace.trace import set_current as _set_current_trace
from lawful.jax._support.lax.primitives import Primitive as Primitive
from lawful.jax._support.traces import DropVar as DropVar
from lawful.jax.extend.core import primitives as primitives

set_current_trace = _set_current_trace
array_types: Any
check_jaxpr: Callable[..., Any]
find_top_trace: Callable[..., Any]
get_opaque_trace_state: Callable[..., Any]
jaxpr_as_fun: Callable[..., Any]
jaxprs_in_params: Callable[..., Any]
mapped_aval: Callable[..., Any]
take_current_trace: Callable[..., Any]
unmapped_aval: Callable[..., Any]
valid_jaxtype: Callable[..., Any]
