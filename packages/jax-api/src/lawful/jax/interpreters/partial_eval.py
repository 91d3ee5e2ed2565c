"""``jax.interpreters.partial_eval``: tracing of flat functions to jaxprs, and removal of what is not used.

>>> import numpy as np
>>> from lawful.jax.core import ShapedArray
>>> from lawful.jax.extend.linear_util import wrap_init
>>> from lawful.jax.interpreters import partial_eval as pe
>>> function = wrap_init(lambda x, y: [2.0 * x, x + y])
>>> jaxpr, out_avals, consts = pe.trace_to_jaxpr_dynamic(function, [ShapedArray((), np.float64)] * 2)
>>> pe.dce_jaxpr(jaxpr, [True, False])
({ lambda ; a:f64[]. let b:f64[] = mul 2.0:f64[] a in (b,) }, [True, False])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import ClosedJaxpr, Jaxpr, ShapedArray
from lawful.jax.extend.linear_util import WrappedFun
from lawful.staging import dce_jaxpr as _dce_jaxpr
from lawful.staging import kept, trace_to_jaxpr, used_inputs

__all__ = ["close_jaxpr", "convert_constvars_jaxpr", "dce_jaxpr", "trace_to_jaxpr_dynamic"]


def trace_to_jaxpr_dynamic(
    fun: WrappedFun, in_avals: Sequence[ShapedArray]
) -> tuple[Jaxpr, list[ShapedArray], list[Any]]:
    """Returns the jaxpr of a function of flat arguments that gives a list, the types of its results, its constants.

    >>> from lawful.jax.extend.linear_util import wrap_init
    >>> trace_to_jaxpr_dynamic(wrap_init(lambda x: [x]), [ShapedArray((), float)])
    ({ lambda ; a:f64[]. let in (a,) }, [ShapedArray(f64[])], [])
    """
    closed = trace_to_jaxpr(fun.call_wrapped, [*in_avals], name=fun.__name__)
    return closed.jaxpr, closed.out_avals, [*closed.consts]


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool]]:
    """Returns a jaxpr that computes the used outputs only, and for each input whether it has it.

    Args:
      jaxpr: the program. It keeps its constants.
      used_outputs: for each output, or for all of them, whether to keep it.
      instantiate: for each input, or for all of them, whether to keep it if it is not used.

    >>> from lawful.core import parse_jaxpr
    >>> jaxpr = parse_jaxpr("{ lambda ; a:f64[] b:f64[]. let in (b, a) }").jaxpr
    >>> dce_jaxpr(jaxpr, [True, False])
    ({ lambda ; a:f64[]. let in (a,) }, [False, True])
    """
    used = [used_outputs] * len(jaxpr.outvars) if isinstance(used_outputs, bool) else [*used_outputs]
    stays = [instantiate] * len(jaxpr.invars) if isinstance(instantiate, bool) else [*instantiate]
    opened = close_jaxpr(convert_constvars_jaxpr(jaxpr))
    needed = used_inputs(opened, used)[len(jaxpr.constvars) :]
    has = [is_needed or stay for is_needed, stay in zip(needed, stays, strict=True)]
    small = _dce_jaxpr(opened, used).jaxpr
    return small.replace(constvars=jaxpr.constvars, invars=kept(jaxpr.invars, has)), has


def close_jaxpr(jaxpr: Jaxpr) -> ClosedJaxpr:
    """Returns a jaxpr without constants as a closed one.

    >>> from lawful.core import parse_jaxpr
    >>> close_jaxpr(parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }").jaxpr).consts
    []
    """
    return ClosedJaxpr(jaxpr, [])


def convert_constvars_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """Returns a jaxpr whose first inputs are the constants.

    >>> from lawful.core import parse_jaxpr
    >>> convert_constvars_jaxpr(parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }").jaxpr)
    { lambda ; a:f64[]. let in (a,) }
    """
    return jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
