"""Effects of the backend on its process: silence, no jax, several devices, forks."""

import gc
import re
import weakref
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.staging import jit
from lawful.xla_backend import devices, set_cpu_device_count

SMALL = """
import numpy as np
from lawful.core import ShapedArray
from lawful.xla_backend import device_put, devices
from lawful.xla_backend._runtime import bindings, clients, compilation
text = '''func.func public @main(%a: tensor<3xf64>) -> tensor<3xf64> {
  %0 = stablehlo.add %a, %a : tensor<3xf64>
  return %0 : tensor<3xf64>
}'''
aval = ShapedArray((3,), "float64")
module = bindings.ir.Module.parse(text, bindings.new_context())
executable = compilation.compile_module(module, devices()[0], [aval], {})
x = device_put(np.arange(3.0))
[out] = executable.run([x._buffer])
assert bindings.view(out).tolist() == [0.0, 2.0, 4.0]
"""


def test_xla_nothing_is_printed(run_python) -> None:
    done = run_python(SMALL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_xla_users_log_level_is_kept(run_python) -> None:
    script = "import os, lawful.xla_backend; print(os.environ['TF_CPP_MIN_LOG_LEVEL'])"
    assert run_python(script).stdout == "1\n"
    assert run_python(script, TF_CPP_MIN_LOG_LEVEL="2").stdout == "2\n"


def test_xla_jax_is_never_asked_for(run_python) -> None:
    script = """
import sys

class Watch:
    def find_spec(self, name, path=None, target=None):
        assert not name.startswith("jax.") and name != "jax", name

sys.meta_path.insert(0, Watch())
"""
    use = """
import copy, pickle
from lawful.xla_backend import from_dlpack, device_get
y = pickle.loads(pickle.dumps(copy.copy(x)))
assert repr(y) == "Array([0., 1., 2.], dtype=float64)"
np.from_dlpack(from_dlpack(np.asarray(y)))
executable.cost_analysis(), executable.memory_analysis(), executable.hlo_text()
compilation.deserialize(executable.serialize(), devices()[0], [aval])
repr(devices()[0])
y.block_until_ready(), y.is_ready(), y.delete(), device_get(x)
assert "jax" not in sys.modules
"""
    done = run_python(script + SMALL + use)
    assert done.returncode == 0, done.stderr


def test_xla_importing_makes_no_client(run_python) -> None:
    script = "import lawful.xla_backend; from lawful.xla_backend._runtime import clients; assert not clients._clients"
    assert run_python(script).returncode == 0


def test_xla_nothing_is_imported_that_a_program_does_not_need(run_python) -> None:
    script = """
import sys
from lawful import ops
from lawful.staging import jit
from lawful.xla_backend import device_put
jit(ops.tanh)(device_put(1.0))
late = ["importlib.metadata", "jaxlib.lapack", "jaxlib.mlir.dialects.chlo", "hashlib", "numpy.ma", "numpy.f2py"]
print([name for name in late if name in sys.modules])
"""
    assert run_python(script).stdout == "[]\n"


FORK = """
import os, warnings
warnings.simplefilter("ignore")
pid = os.fork()
if pid == 0:
    from lawful.xla_backend import ForkedProcessError
    for use in (lambda: device_put(1.0), lambda: executable.run([x._buffer]), x.copy, clients.client):
        try:
            use()
        except ForkedProcessError as error:
            assert "spawn" in str(error)
        else:
            os._exit(1)
    os._exit(0 if np.asarray(x).tolist() == [0.0, 1.0, 2.0] else 2)
assert os.waitpid(pid, 0)[1] == 0
device_put(1.0), executable.run([x._buffer])
"""


def test_xla_forked_child_refuses_instead_of_hanging(run_python) -> None:
    done = run_python(SMALL + FORK)
    assert done.returncode == 0, done.stderr


def test_xla_forked_child_refuses_a_direct_call(run_python) -> None:
    """A program of one argument and one result runs by a function of its own, in which the executable is not seen."""
    script = """
import os, warnings
warnings.simplefilter("ignore")
from lawful.staging import jit
from lawful.xla_backend import ForkedProcessError, device_put
f, x = jit(lambda x: x + 1.0), device_put(1.0)
for _ in range(3):
    f(x)
pid = os.fork()
if pid == 0:
    try:
        f(x)
    except ForkedProcessError:
        os._exit(0)
    os._exit(1)
assert os.waitpid(pid, 0)[1] == 0
"""
    done = run_python(script)
    assert done.returncode == 0, done.stderr


def test_xla_child_forked_before_first_use_works(run_python) -> None:
    script = """
import os, warnings
warnings.simplefilter("ignore")
from lawful.xla_backend import device_put
pid = os.fork()
if pid == 0:
    os._exit(0 if device_put(2.0).item() == 2.0 else 1)
assert os.waitpid(pid, 0)[1] == 0
"""
    done = run_python(script)
    assert done.returncode == 0, done.stderr


def test_xla_several_devices(run_python) -> None:
    script = """
import numpy as np
from lawful.core import ArgumentValueError
from lawful.xla_backend import Array, backend, device_put, devices
from conftest import make_program
first, second, third = devices()
a = device_put(np.arange(3.0), second)
assert a.device == second and device_put(a) is a
b = device_put(a, third)
assert b.device == third and np.array_equal(b, a)
const = device_put(np.ones(3), first)

def build(record, x, y):
    return record(lambda ctx, x, y, z: ctx.hlo.add(ctx.hlo.add(x, y), z), x, y, record.const(const), out=x.aval)

f = backend.lower(make_program(build, a.aval, a.aval), name="f").compile()
for device in (second, first, third, second):
    x = device_put(a, device)
    [out] = f(x, x)
    assert out.device == device and np.asarray(out).tolist() == [1.0, 3.0, 5.0]
    assert f(x, np.arange(3.0))[0].device == device
assert f(np.arange(3.0), np.arange(3.0))[0].device == first
try:
    f(a, b)
except ArgumentValueError as error:
    assert "on one device" in str(error)
else:
    raise SystemExit("no error")
"""
    done = run_python(script, LAWFUL_CPU_DEVICES="3")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("number", ["0", "-1", "two", ""])
def test_xla_wrong_number_of_devices_is_explained(run_python, number: str) -> None:
    done = run_python("import lawful.xla_backend as x; x.devices()", LAWFUL_CPU_DEVICES=number)
    assert "LAWFUL_CPU_DEVICES: expected a positive integer" in done.stderr


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}, "4"),
        ({"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "LAWFUL_CPU_DEVICES": "2"}, "2"),
    ],
)
def test_devices_by_xla_flags(run_python, environment: dict[str, str], count: str) -> None:
    """A program for JAX sets the number of devices so. What is set for lawful goes before it."""
    done = run_python("import lawful.xla_backend as x; print(len(x.devices('cpu')))", **environment)
    assert done.stdout.split() == [count], done.stderr


def test_set_cpu_device_count_before_the_first_use(run_python) -> None:
    script = """
import numpy as np
from lawful.staging import jit
from lawful.xla_backend import device_put, devices, set_cpu_device_count
set_cpu_device_count(2)
set_cpu_device_count(np.int64(4))
print(len(devices("cpu")), jit(lambda x: x + 1)(device_put(1.0, devices("cpu")[3])).device == devices("cpu")[3])
set_cpu_device_count(4)
set_cpu_device_count(3)
"""
    done = run_python(script, LAWFUL_CPU_DEVICES="7")
    assert done.stdout.split() == ["4", "True"]
    where = (
        r"<string>:9 \(<module>\): set_cpu_device_count: expected a process that has not used the CPU yet, got one that"
    )
    assert re.search(rf"RuntimeStartedError: {where} uses it as 4 devices; call it before", done.stderr), done.stderr


@pytest.mark.parametrize(
    ("count", "error"), [(0, ArgumentValueError), (-2, ArgumentValueError), (2.0, ArgumentTypeError)]
)
def test_set_cpu_device_count_of_a_wrong_count(count: Any, error: type[Exception]) -> None:
    before = len(devices("cpu"))
    with pytest.raises(error, match=r"set_cpu_device_count: expected .* give 1 or more"):
        set_cpu_device_count(count)
    assert len(devices("cpu")) == before


def test_xla_results_leave_no_memory_behind(run_python) -> None:
    script = """
import gc, tracemalloc
from resource import RUSAGE_SELF, getrusage
def rounds(n):
    for _ in range(n):
        executable.run([x._buffer])
rounds(20_000)
before = getrusage(RUSAGE_SELF).ru_maxrss
rounds(100_000)
grown = (getrusage(RUSAGE_SELF).ru_maxrss - before) * 1024
# With tracebacks enabled each result would leave 60 bytes.
assert grown < 3_000_000, grown
"""
    done = run_python(SMALL + script)
    assert done.returncode == 0, done.stderr


def test_xla_host_arrays_are_gone_after_a_collection() -> None:
    """Without another call into jaxlib."""
    f = jit(ops.sin, backend="xla")

    def call() -> Any:
        x = np.ones(100_000)
        np.asarray(f(x))
        return weakref.ref(x)

    call()
    argument = call()
    gc.collect()
    assert argument() is None
