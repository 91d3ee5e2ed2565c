"""Lazy imports are not observable: neither in the names of a package nor in results."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The portions of the namespace that import a part of theirs on demand.
PACKAGES = sorted(
    path.parent.name for path in ROOT.glob("packages/*/src/lawful/*/__init__.py") if "lazy_imports(" in path.read_text()
)


def told(program: str) -> Any:
    """Returns what a program in a process of its own prints, which is JSON."""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT)
    return json.loads(done.stdout)


def later(package: str) -> list[str]:
    """Returns the modules that a package imports on demand."""
    module = importlib.import_module(f"lawful.{package}")
    assert module.__file__ is not None
    calls = [node for node in ast.walk(ast.parse(Path(module.__file__).read_text())) if isinstance(node, ast.Call)]
    [call] = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id.endswith("lazy_imports")]
    return [f"lawful.{package}.{ast.literal_eval(arg)}" for arg in call.args[1:]]


@pytest.mark.parametrize("package", PACKAGES)
def test_lazy_imports_each_name_is_what_type_checkers_see(package: str) -> None:
    module = importlib.import_module(f"lawful.{package}")
    assert module.__file__ is not None
    own = f"lawful.{package}"
    imports: list[tuple[str, Any]] = []
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(own):
            if "._typed" in node.module:  # a stub without a module, which tests/user_types compares
                continue
            origin = importlib.import_module(node.module)
            names = [(name.name, name.asname or name.name) for name in node.names]
            if names[0][0] == "*":
                names = [(name, name) for name in origin.__all__]
            imports += [(alias, getattr(origin, name)) for name, alias in names]
    assert len(imports) > 5
    assert [name for name, value in imports if getattr(module, name) is not value] == []
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    scope: dict[str, Any] = {}
    exec(f"from {own} import *", scope)
    assert set(module.__all__) <= set(scope)


TRAINING = """
import json, sys
import numpy as np
import lawful.numpy as lnp
from lawful.autodiff import value_and_grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond, scan
from lawful.staging import jit, make_jaxpr

def loss(w, x):
    h = lnp.tanh(lnp.dot(x, w) + 1.0)
    c, ys = scan(lambda c, row: (c * 0.5 + row[:2], lnp.sum(row)), lnp.zeros(2), h)
    return lnp.mean(lnp.where(h > 0.0, h, -h)) + lnp.sum(c) + cond(c[0] > 0.0, lnp.sum, lnp.max, ys)

w, x = np.ones((3, 4)), np.ones((5, 3))
step = jit(value_and_grad(loss))
step(w, x), make_jaxpr(step)(w, x), jvp(loss, (w, x), (w, x)), vmap(loss, (None, 0))(w, x[:, None])
print(json.dumps([name for name in sys.modules if name.startswith("lawful.")]))
"""


def test_lazy_imports_training_step_needs_no_rest() -> None:
    """Names that most programs use are imported eagerly: one lazy name would import all the others."""
    imported = set(told(TRAINING))
    assert "lawful.ops._elementwise.arithmetic.arithmetic" in imported
    assert [name for package in PACKAGES for name in later(package) if name in imported] == []


CHANGES = """
import json
from lawful import autodiff, batching, control_flow, staging, tree
import lawful.numpy
from lawful import core
from lawful.core._primitive.by_name import primitives_by_name
from lawful.ops._numpy_protocol import dispatch as _numpy_protocol

known = dict(primitives_by_name._known)
rules = {(name, slot): rule for name, primitive in known.items() for slot, rule in primitive.rules.items()}
functions = dict(_numpy_protocol._functions)
core.load_lazy_imports()
after = {(name, slot): rule for name in known for slot, rule in known[name].rules.items()}
print(json.dumps({
    "primitives": len(known), "all": len(primitives_by_name),
    "functions": len(functions), "all functions": len(_numpy_protocol._functions),
    "rules": sorted(key for key, rule in after.items() if rules.get(key) is not rule),
    "replaced": [f.__name__ for f, ours in functions.items() if _numpy_protocol._functions[f] is not ours],
}))
"""


def test_lazy_imports_rest_changes_nothing_that_is_there() -> None:
    found = told(CHANGES)
    assert 50 < found["primitives"] < found["all"]
    assert 100 < found["functions"] < found["all functions"]
    # Lazy modules add rules for eager primitives in the slot "checkpoint" only.
    assert {slot for _, slot in found["rules"]} <= {"checkpoint"}
    assert found["replaced"] == []


# The first name of the rest that a process asks for, with what it must find: within transformations, by a function of
# NumPy, in a text, in a pickle.
FIRST: dict[str, tuple[str, Any]] = {
    "in a gradient": ("grad(lambda x: ops.erf(x) * 2.0)(0.0)", 2.0 * 2.0 / 3.141592653589793**0.5),
    "in a batch of gradients": ("list(vmap(grad(lambda x: ops.lgamma(x) * x))(np.array([1.0, 2.0])))", None),
    "in a compiled program": ("float(jit(lambda x: ops.sort(x)[0], backend='numpy')(np.array([3.0, 1.0])))", 1.0),
    "in a loop": ("float(scan(lambda c, x: (c + ops.erf(x), None), 0.0, np.zeros(3))[0])", 0.0),
    "a rule of one's own": ("grad(lambda x: autodiff.checkpoint(lambda y: y * y)(x))(3.0)", 6.0),
    "a function of NumPy": ("grad(lambda x: np.sort(x)[1])(np.array([2.0, 1.0])).tolist()", [1.0, 0.0]),
    "a method of a ufunc": ("grad(lambda x: np.logaddexp.reduce(x))(np.zeros(2)).tolist()", [0.5, 0.5]),
    "of linear algebra": ("grad(lambda x: np.linalg.det(x))(np.eye(2)).tolist()", [[1.0, 0.0], [0.0, 1.0]]),
    "in a text": (
        "str(core.parse_jaxpr('{ lambda ; a:f64[]. let b:f64[] = erf a in (b,) }').eqns[0].primitive)",
        "erf",
    ),
    "in a pickle": (
        "str(pickle.loads(b'\\x80\\x04clawful.core._primitive.primitive\\nprimitive_named\\n(Verf\\ntR.'))",
        "erf",
    ),
    "by name": ("'erf' in core.primitives_by_name", True),
    "among all": ("any(name == 'erf' for name in core.primitives_by_name)", True),
    "left out of NumPy": ("grad(lambda x: np.real_if_close(x))(1.0)", "ArgumentTypeError"),
    "not there": ("lawful.numpy.datetime64", "LeftOutError"),
}


# Each text runs in a process of its own, a copy of one that has imported this.
FORKED = """
import json, os, pickle, sys
import numpy as np
import lawful.numpy
from lawful import autodiff, core, ops
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.control_flow import scan
from lawful.staging import jit

def run(text):
    try:
        return eval(text)
    except core.LawfulError as error:
        return type(error).__name__

for text in {texts}:
    if os.fork() == 0:
        print(json.dumps([run(text), run(text), core.current.trace is core.eval_trace]), flush=True)
        os._exit(0)
    _, status = os.wait()
    if status:
        print("null", flush=True)
"""


@pytest.fixture(scope="module")
def first_asked() -> dict[str, Any]:
    program = FORKED.replace("{texts}", repr([text for text, _ in FIRST.values()]))
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT)
    return dict(zip(FIRST, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", FIRST)
def test_lazy_imports_rest_comes_wherever_it_is_first_asked_for(name: str, first_asked: dict[str, Any]) -> None:
    expected, found = FIRST[name][1], first_asked[name]
    assert found[0] == found[1]
    assert found[2]
    if expected is not None:
        assert found[0] == pytest.approx(expected) if isinstance(expected, float) else found[0] == expected
