"""The accelerators of staging.

Replay as equations, traces of composites, direct calls of compiled programs, elementwise equations in blocks.
"""

from functools import partial

from lawful.ops._fast import register_tracing
from lawful.staging._fast import calls as calls
from lawful.staging._fast import direct_call
from lawful.staging._fast.constants import copied as copied
from lawful.staging._fast.groups import with_groups
from lawful.staging._fast.replay import TypesTrace
from lawful.staging._fast.replay import add_equations as add_equations
from lawful.staging._jit.jit import call_hook
from lawful.staging._numpy_backend.source import grouping_hook
from lawful.staging._recorder import trace_to_jaxpr

register_tracing(partial(trace_to_jaxpr, trace_class=TypesTrace))
call_hook.install(direct_call.call)
grouping_hook.install(with_groups)
