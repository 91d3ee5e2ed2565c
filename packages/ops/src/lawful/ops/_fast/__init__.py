"""The accelerators of ops: promotion and composites as cached programs, few numbers one by one, sums as products."""

from lawful.ops._composite import composite_hook
from lawful.ops._elementwise.application import promotion_hook
from lawful.ops._fast.composite import call_composite
from lawful.ops._fast.composite import register_tracing as register_tracing
from lawful.ops._fast.numbers import evaluate
from lawful.ops._fast.promotion import apply_promoted
from lawful.ops._fast.sum_by_product import sum_by_product
from lawful.ops._reduction.reduction import sum_hook
from lawful.ops._support.number import algorithm_hook

composite_hook.install(call_composite)
promotion_hook.install(apply_promoted)
sum_hook.install(sum_by_product)
algorithm_hook.install(evaluate)
