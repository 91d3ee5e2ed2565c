"""Looking into programs while they run: ``debug.print`` and ``debug.callback``, in every transformation.

>>> from lawful import debug
>>> from lawful.ops import mul
>>> from lawful.staging import jit
>>> def square(x):
...     debug.print("x is {}", x)
...     return mul(x, x)
>>> float(jit(square)(3.0))
x is 3.0
9.0
"""

from lawful.debug._callback import callback, debug_callback_p
from lawful.debug._print import print

__all__ = ["callback", "debug_callback_p", "print"]
