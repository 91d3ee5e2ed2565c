"""Special functions, with derivatives in every argument.

Those that lawful has need no SciPy. The others, Bessel functions of arbitrary order among them, are SciPy's.

>>> from lawful.autograd import grad
>>> from lawful.autograd.scipy.special import gammainc
>>> grad(gammainc, 1)(2.0, 1.0)
np.float64(0.36787944117144...)
"""

import typing as _typing

from lawful.autograd._scipy import bessel as _bessel
from lawful.autograd._scipy import gamma as _gamma
from lawful.autograd._scipy.library import scipy_namespace as _scipy_namespace
from lawful.ops import register_ufuncs as _register_ufuncs

_own = {**_bessel.functions, **_gamma.functions}
if _typing.TYPE_CHECKING:
    from lawful.autograd._typed.scipy_special import *  # noqa: F403
else:
    __getattr__, __dir__ = _scipy_namespace(__name__, "special", _own, "lawful.special")
    __all__ = [name for name in __dir__() if name[0] != "_"]
_register_ufuncs("scipy.special", __name__)  # so that SciPy's own functions take tracers too
