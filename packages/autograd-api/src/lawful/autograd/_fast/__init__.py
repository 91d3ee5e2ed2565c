"""The accelerators of lawful.autograd: users' primitives, and special functions, on the tape of a linearization."""

from lawful.autograd._fast.call import call
from lawful.autograd._fast.special import evaluate
from lawful.autograd._primitive.function import call_hook
from lawful.autograd._scipy.library import library_hook

call_hook.install(call)
library_hook.install(evaluate)
