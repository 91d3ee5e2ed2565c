"""Fresh processes: the cost of importing a system, and of the first gradient."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache, partial
from typing import Any

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

#: The environment variable that sets a system's folder of compiled programs.
_CACHE_DIR = {"lawful": "LAWFUL_COMPILATION_CACHE_DIR", "jax": "JAX_COMPILATION_CACHE_DIR"}
_KEEP_ALL = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


@cache
def _folder() -> Any:
    """Returns a folder of this run, in which processes find the bytecode and compiled programs of earlier ones."""
    import tempfile  # imported late: the measured processes import this module too

    return tempfile.TemporaryDirectory(prefix="lawful-benchmarks-")


def _told(program: str, **environment: str) -> float:
    """Returns the number that a program prints last, run in a new process."""
    # Python caches bytecode, as after an installation, whatever the environment of this process says.
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    inherited["PYTHONPYCACHEPREFIX"] = os.path.join(_folder().name, "bytecode")
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**inherited, **environment})
    return float(done.stdout.split()[-1])


def _second(program: str, **environment: str) -> Call:
    """Returns a call that runs a program in a second process, after a first has filled the folder."""
    call = partial(_told, program, **environment)
    call()
    return call


@case("process", "import, beyond that of NumPy", unit="s", jax=0.15)
def imported(system: System) -> Call:
    return _second(_IMPORT.format(statement=_IMPORTS[system.name]))


def _first(system: System, function: str, **environment: str) -> Call:
    return _second(_FIRST.format(module="steady", function=function, name=system.name), **environment)


def _first_from_folder(system: System, function: str) -> Call:
    programs = os.path.join(_folder().name, "programs", system.name)
    return _first(system, function, **{_CACHE_DIR[system.name]: programs}, **_KEEP_ALL)


@case("process", "time to the first gradient: a network", unit="s", jax=0.7)
def network(system: System) -> Call:
    return _first(system, "network")


@case("process", "time to the first gradient: an LSTM by scan", unit="s", jax=0.7)
def recurrent(system: System) -> Call:
    return _first(system, "recurrent")


@case("process", "a network, with a warm persistent compile cache", unit="s", jax=0.4)
def cached_network(system: System) -> Call:
    return _first_from_folder(system, "network")


@case("process", "an LSTM by scan, with a warm persistent compile cache", unit="s", jax=0.4)
def cached_recurrent(system: System) -> Call:
    return _first_from_folder(system, "recurrent")
