"""The accelerators of the NumPy namespace: direct calls of NumPy, with one pass over the arguments."""

from lawful.numpy._eager import direct_hook
from lawful.numpy._fast.direct_calls import accelerated

direct_hook.install(accelerated)  # before any function is made

# isort: split
from lawful.numpy._fast.ufuncs import call  # noqa: E402
from lawful.numpy._ufuncs.ufunc import ufunc_hook  # noqa: E402

ufunc_hook.install(call)
