"""The accelerators of ops: promotion and composites as cached programs."""

from lawful.ops._composite import composite_hook
from lawful.ops._elementwise.application import promotion_hook
from lawful.ops._fast.composite import call_composite
from lawful.ops._fast.composite import register_tracing as register_tracing
from lawful.ops._fast.promotion import apply_promoted

composite_hook.install(call_composite)
promotion_hook.install(apply_promoted)
