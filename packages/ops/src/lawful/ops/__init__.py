"""Array primitives, each declared in one place with all of its rules, and the functions over them.

The functions promote and broadcast as NumPy does; the primitives beneath are strict, so that rules are simple.

>>> import numpy as np
>>> from lawful import ops
>>> ops.mul(np.array([1, 2]), 1.5)
array([1.5, 3. ])
"""

# ruff: noqa: F403  # each module says what is public in it
import typing as _typing

from lawful.core import lazy_imports as _lazy_imports
from lawful.ops._bits.bitcast import *
from lawful.ops._bits.gcd import *
from lawful.ops._composite import Composite as Composite
from lawful.ops._composite import composite as composite
from lawful.ops._elementwise.application import *
from lawful.ops._elementwise.arithmetic.arithmetic import *
from lawful.ops._elementwise.arithmetic.division import *
from lawful.ops._elementwise.arithmetic.length import *
from lawful.ops._elementwise.arithmetic.power import *
from lawful.ops._elementwise.arithmetic.signs import *
from lawful.ops._elementwise.comparison import *
from lawful.ops._elementwise.complex_parts import *
from lawful.ops._elementwise.conversion import *
from lawful.ops._elementwise.declaration import *
from lawful.ops._elementwise.select import *
from lawful.ops._elementwise.transcendental.exponential import *
from lawful.ops._elementwise.transcendental.hyperbolic import *
from lawful.ops._elementwise.transcendental.logaddexp import *
from lawful.ops._elementwise.transcendental.trigonometric import *
from lawful.ops._indexing.at import *
from lawful.ops._indexing.dynamic_slice import *
from lawful.ops._indexing.dynamic_slice_functions import *
from lawful.ops._indexing.gather_scatter.gather import *
from lawful.ops._indexing.gather_scatter.scatter import *
from lawful.ops._indexing.gather_scatter.windows import *
from lawful.ops._indexing.getitem import *
from lawful.ops._indexing.take import *
from lawful.ops._numpy_protocol import numpy_reduction as numpy_reduction
from lawful.ops._numpy_protocol.dispatch import *
from lawful.ops._numpy_protocol.libraries import *
from lawful.ops._numpy_protocol.methods import *
from lawful.ops._products.dot_general import *
from lawful.ops._products.functions import *
from lawful.ops._products.precision import *
from lawful.ops._reduction.arg_reduction import *
from lawful.ops._reduction.cumulative import *
from lawful.ops._reduction.reduction import *
from lawful.ops._shape.iota import *
from lawful.ops._shape.joining import *
from lawful.ops._shape.reshape import *
from lawful.ops._shape.slicing import *
from lawful.ops._shape.split import *
from lawful.ops._shape.squeeze import *
from lawful.ops._support.array_like import *
from lawful.ops._support.batch_dimensions import *
from lawful.ops._support.eager import *
from lawful.ops._support.errors import *
from lawful.ops._support.large_integers import *
from lawful.ops._support.promotion import *
from lawful.ops._support.structural import *

# isort: split
from lawful.ops import _fast as _fast  # installs the accelerators

if _typing.TYPE_CHECKING:
    from lawful.ops._namespace import *
else:
    __getattr__, __dir__ = _lazy_imports(__name__, "_namespace")
