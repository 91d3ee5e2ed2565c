"""Python's containers and types, of traced values: tuples, lists and dicts hold them as they are."""

from __future__ import annotations

import builtins
from typing import Any

from lawful.autograd import _tree as tree
from lawful.autograd._primitive.function import notrace_primitive
from lawful.core import Tracer

tuple: Any = builtins.tuple
list: Any = builtins.list
dict: Any = builtins.dict

isinstance = notrace_primitive(builtins.isinstance)
isinstance.__module__ = __name__  # where doctest looks for its examples
isinstance.__doc__ = """Whether the value of an object is an instance of a class.

>>> from lawful.autograd import grad
>>> grad(lambda x: x if isinstance(x, float) else 2.0 * x)(1.0)
np.float64(1.0)
"""

type = notrace_primitive(builtins.type)
type.__module__ = __name__
type.__doc__ = """Returns the class of the value of an object.

>>> from lawful.autograd import grad
>>> grad(lambda x: x if type(x) is float else 2.0 * x)(1.0)
np.float64(1.0)
"""


class _Traced(builtins.type):
    """The class of classes whose instances are containers that hold tracers."""

    container: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return builtins.isinstance(instance, cls.container) and any(
            [builtins.isinstance(x, Tracer) for x in tree.leaves(instance)]
        )


class DictBox(metaclass=_Traced):
    """A dict that holds tracers, for annotations and `isinstance`.

    >>> from lawful.autograd import grad
    >>> grad(lambda d: d["w"] * builtins.isinstance(d, DictBox))({"w": 3.0})
    {'w': np.float64(1.0)}
    """

    container = builtins.dict


class SequenceBox(metaclass=_Traced):
    """A tuple or list that holds tracers, for annotations and `isinstance`.

    >>> from lawful.autograd import grad
    >>> grad(lambda xs: xs[0] * builtins.isinstance(xs, SequenceBox))([3.0])
    [np.float64(1.0)]
    """

    container = (builtins.tuple, builtins.list)
