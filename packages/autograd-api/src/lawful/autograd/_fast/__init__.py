"""The accelerators of lawful.autograd: users' primitives on the tape of a linearization."""

from lawful.autograd._fast.call import call
from lawful.autograd._primitive.function import call_hook

call_hook.install(call)
