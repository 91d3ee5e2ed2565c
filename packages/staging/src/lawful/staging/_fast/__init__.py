"""The accelerators of staging: replay as equations, traces of composites, direct calls of compiled programs."""

from functools import partial

from lawful.ops._fast import register_tracing
from lawful.staging._fast import calls as calls
from lawful.staging._fast import direct_call
from lawful.staging._fast.replay import TypesTrace
from lawful.staging._fast.replay import add_equations as add_equations
from lawful.staging._jit.jit import call_hook
from lawful.staging._recorder import trace_to_jaxpr

register_tracing(partial(trace_to_jaxpr, trace_class=TypesTrace))
call_hook.install(direct_call.call)
