"""Points that the declarations of functions with branch points and branch cuts exclude."""

from __future__ import annotations

from typing import Final

import numpy as np

from lawful.core import Excluded

_JUMP: Final = "a jump across the branch cut"

CUT_BELOW_ZERO: Final = Excluded(lambda x: (np.imag(x) == 0) & (np.real(x) < 0), _JUMP, order=0)
CUT_BELOW_MINUS_ONE: Final = Excluded(lambda x: (np.imag(x) == 0) & (np.real(x) < -1), _JUMP, order=0)
CUT_BELOW_ONE: Final = Excluded(lambda x: (np.imag(x) == 0) & (np.real(x) < 1), _JUMP, order=0)
CUT_OUTSIDE_ONE: Final = Excluded(lambda x: (np.imag(x) == 0) & (np.abs(np.real(x)) > 1), _JUMP, order=0)
CUT_OUTSIDE_I: Final = Excluded(lambda x: (np.real(x) == 0) & (np.abs(np.imag(x)) > 1), _JUMP, order=0)
