"""Fresh processes: what it costs to import a system, and to get the first gradient."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from benchmarks._case import Call, case
from benchmarks._systems import System

_IMPORTS = {"lawful": "import lawful.autodiff, lawful.batching, lawful.staging", "jax": "import jax"}

_IMPORT = """
import time, numpy
start = time.perf_counter()
{statement}
print(time.perf_counter() - start)
"""

_FIRST = """
import time
start = time.perf_counter()
from benchmarks._systems import systems
from benchmarks.cases import {module}
{module}.{function}(systems[{name!r}]())()
print(time.perf_counter() - start)
"""


def _told(program: str) -> float:
    """Returns the number that a program in a process of its own prints last."""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


@case("process", "import, beyond that of NumPy", unit="s", jax=0.15)
def imported(system: System) -> Call:
    return partial(_told, _IMPORT.format(statement=_IMPORTS[system.name]))


def _first(system: System, function: str) -> Call:
    return partial(_told, _FIRST.format(module="steady", function=function, name=system.name))


@case("process", "time to the first gradient: a network", unit="s", jax=0.7)
def network(system: System) -> Call:
    return _first(system, "network")


@case("process", "time to the first gradient: an LSTM by scan", unit="s", jax=0.7)
def recurrent(system: System) -> Call:
    return _first(system, "recurrent")
