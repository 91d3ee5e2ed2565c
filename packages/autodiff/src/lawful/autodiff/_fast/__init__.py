"""The accelerators of autodiff: cached derivative rules, and a tape in place of the linear program."""

from lawful.autodiff._fast.forward import value_and_tangent
from lawful.autodiff._fast.grad import value_and_gradient
from lawful.autodiff._fast.jacobian import pull_rows
from lawful.autodiff._fast.jvp import FastJVPTrace
from lawful.autodiff._fast.linearize import FastLinearizeTrace, FastLinearizeTracer, TapeLinearized
from lawful.autodiff._fast.tape import PulledEqn
from lawful.autodiff._fast.transpose import backward_pass
from lawful.autodiff._grad import gradient_hook
from lawful.autodiff._jvp import forward_hook, jvp_hook
from lawful.autodiff._linearize import linearize_hook
from lawful.autodiff._rows import rows_hook
from lawful.autodiff._transpose import transpose_hook

jvp_hook.install(FastJVPTrace)
linearize_hook.install(TapeLinearized)
transpose_hook.install(backward_pass)
gradient_hook.install(value_and_gradient)
forward_hook.install(value_and_tangent)
rows_hook.install(pull_rows)

__all__ = ["FastJVPTrace", "FastLinearizeTrace", "FastLinearizeTracer", "PulledEqn", "TapeLinearized"]
