"""Control flow on traced values: branches, loops, and reductions by any function.

>>> from lawful.control_flow import cond
>>> cond(2.0 > 1.0, lambda x: x, lambda x: -x, 5.0)
np.float64(5.0)
"""

import typing as _typing

# These modules define rules of the primitives.
from lawful.control_flow._cond import batching as _cond_batching  # noqa: F401
from lawful.control_flow._cond.primitive import cond_p
from lawful.control_flow._loops.batch_elements import replace_idle, select_running
from lawful.control_flow._scan import batching as _scan_batching  # noqa: F401
from lawful.control_flow._scan import linearization as _scan_linearization  # noqa: F401
from lawful.control_flow._scan import transpose as _scan_transpose  # noqa: F401
from lawful.control_flow._scan.primitive import scan_p
from lawful.control_flow._while import batching as _while_batching  # noqa: F401
from lawful.control_flow._while.primitive import while_p
from lawful.control_flow._while.transpose import IterationBoundError
from lawful.core import lazy_imports as _lazy_imports

if _typing.TYPE_CHECKING:
    from lawful.control_flow._cond.batched import batched_cond_p
    from lawful.control_flow._reduce.primitive import reduce_p
    from lawful.control_flow._reduce.reduce import reduce, reduce_window
    from lawful.control_flow._reduce.window_primitive import reduce_window_p
    from lawful.control_flow._reroll.reroll import reroll
    from lawful.control_flow._sequential_vmap import sequential_vmap
    from lawful.control_flow._solvers.linear_solve import custom_linear_solve
    from lawful.control_flow._solvers.linear_solve_primitive import linear_solve_p
    from lawful.control_flow._solvers.root import custom_root
    from lawful.control_flow._solvers.root_primitive import root_p
    from lawful.control_flow._typed import associative_scan, cond, fori_loop, map, scan, switch, while_loop
else:
    from lawful.control_flow._cond.cond import cond, switch
    from lawful.control_flow._scan.fori_loop import fori_loop
    from lawful.control_flow._scan.map import map
    from lawful.control_flow._scan.scan import scan
    from lawful.control_flow._while.while_loop import while_loop

    __getattr__, __dir__ = _lazy_imports(
        __name__,
        "_scan.associative_scan",
        "_cond.batched",
        "_sequential_vmap",
        "_solvers.linear_solve",
        "_solvers.linear_solve_primitive",
        "_reduce.reduce",
        "_reduce.primitive",
        "_reduce.window_primitive",
        "_reroll.reroll",
        "_solvers.root",
        "_solvers.root_primitive",
    )

__all__ = [
    "IterationBoundError",
    "associative_scan",
    "batched_cond_p",
    "cond",
    "cond_p",
    "custom_linear_solve",
    "custom_root",
    "fori_loop",
    "linear_solve_p",
    "map",
    "reduce",
    "reduce_p",
    "reduce_window",
    "reduce_window_p",
    "replace_idle",
    "reroll",
    "root_p",
    "scan",
    "scan_p",
    "select_running",
    "sequential_vmap",
    "switch",
    "while_loop",
    "while_p",
]
