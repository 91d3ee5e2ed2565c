"""The accelerators of ops.

Values go straight to NumPy's functions. Promotion and composites are cached programs. Special functions of few numbers
are scalar code, and sums are products with ones.
"""

from lawful.ops._composite import composite_hook
from lawful.ops._elementwise.application import application_hook, promotion_hook
from lawful.ops._elementwise.declaration import elementwise_hook, tangent_sum_hook
from lawful.ops._fast.composite import call_composite
from lawful.ops._fast.composite import register_tracing as register_tracing
from lawful.ops._fast.elementwise import add_values as add_values
from lawful.ops._fast.elementwise import call
from lawful.ops._fast.getitem import getitem
from lawful.ops._fast.numbers import evaluate, evaluate_number
from lawful.ops._fast.promotion import apply, apply_promoted, promotion_of
from lawful.ops._fast.sum_by_product import sum_by_product
from lawful.ops._fast.ufunc_calls import call_ufunc
from lawful.ops._indexing.getitem import getitem_hook
from lawful.ops._numpy_protocol.dispatch import ufunc_call_hook
from lawful.ops._reduction.reduction import sum_hook
from lawful.ops._support.double import evaluated_hook
from lawful.ops._support.number import algorithm_hook
from lawful.ops._support.promotion import convert as convert
from lawful.ops._support.promotion import promotion_of_hook

composite_hook.install(call_composite)
promotion_hook.install(apply_promoted)
application_hook.install(apply)
promotion_of_hook.install(promotion_of)
sum_hook.install(sum_by_product)
algorithm_hook.install(evaluate)
evaluated_hook.install(evaluate_number)
elementwise_hook.install(call)
tangent_sum_hook.install(add_values)
getitem_hook.install(getitem)
ufunc_call_hook.install(call_ufunc)
