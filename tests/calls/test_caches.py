"""Every cache is listed by `cache_report`, described in docs/caches.md, bounded, and cleared by `clear_caches`."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import Cache, ClosedJaxpr, DictCache, is_plain, load_lazy_imports, memoize
from lawful.staging import cache_report, clear_caches, jit, make_jaxpr
from lawful.tree.base import cache as cache_module

ROOT = Path(__file__).resolve().parents[2]

EXERCISE = """
import json
import numpy as np
import lawful.laws, lawful.special, lawful.taylor, lawful.xla_backend
import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.control_flow import scan
from lawful.core import load_lazy_imports
from lawful.staging import cache_report, clear_caches, jit, make_jaxpr

load_lazy_imports()
x = np.linspace(0.1, 0.9, 12).reshape(3, 4)
jitted = []
for _ in range(3):
    grad(lambda y: lnp.sum(lnp.tanh(y) * y))(x)
    make_jaxpr(grad(lambda y: scan(lambda c, row: (c + lnp.sum(row), c), 0.0, y)[0]))(x)
    for backend in ("numpy", "xla"):
        jitted += [jit(vmap(lambda y: lnp.sum(lnp.sin(y))), backend=backend)]
        jitted += [jit(lambda y: ops.betainc(y, y, y) + ops.igamma(y, y), backend=backend)]
        jitted[-2](x), jitted[-1](x)
    lnp.einsum("ij,kj->ik", x, x)
    make_jaxpr(lambda y: (y[0], y[:, np.array([0, 1])], y @ y.T))(x)

def report():
    return {use.name: [use.size, use.limit, use.caches] for use in cache_report().caches}

used = report()
clear_caches()
print(json.dumps([used, report()]))
"""


@pytest.fixture(scope="module")
def reports() -> tuple[dict[str, Any], dict[str, Any]]:
    """Size, limit and number of the caches of each name: after some work, and then after `clear_caches`."""
    done = subprocess.run([sys.executable, "-c", EXERCISE], check=True, capture_output=True, text=True, cwd=ROOT)
    used, cleared = json.loads(done.stdout)
    return used, cleared


def test_clear_caches_leaves_nothing(reports: Any) -> None:
    used, cleared = reports
    filled = {name for name, (size, _, _) in used.items() if size}
    assert {"abstract values", "jit signatures", "transformed jaxprs", "tree structures"} <= filled
    assert is_plain() or {"cached rules", "promotions"} <= filled
    assert {name: size for name, (size, _, _) in cleared.items() if size} == {}


def test_caches_page_lists_every_cache(reports: Any) -> None:
    """With its limit. Some caches of accelerators are made at their first use, so not on the plain interpreters."""
    rows = re.findall(r"^\| ([^|`]+?) \| .* \| ([\d,]+)[^|]* \| [^|]+ \|$", (ROOT / "docs/caches.md").read_text(), re.M)
    page = {name: int(limit.replace(",", "")) for name, limit in rows}
    limits = {name: limit for name, (_, limit, _) in reports[0].items()}
    assert page | limits == page
    assert is_plain() or page.keys() == limits.keys()


def test_each_cache_stays_within_its_limit() -> None:
    """Fed with more keys than it has room for. Caches of functions are `functools.lru_cache`s, which have a limit."""
    load_lazy_imports()
    function = jit(lambda x: x + 1.0)
    function(1.0)
    for cache in cache_module._registered():
        if isinstance(cache, Cache | DictCache) and cache.name != "tree structures":  # counts tokens
            for n in range(cache.limit + 10):
                cache.insert(("a key of the test", n), None)  # type: ignore[arg-type]
            assert len(cache) <= cache.limit, cache.name
        elif isinstance(cache, cache_module.FunctionCache):
            assert 0 < cache.limit < 10_000, cache.name
    clear_caches()


def test_transformed_jaxprs_of_one_jaxpr_are_bounded() -> None:
    clear_caches()

    @memoize
    def numbered(closed: ClosedJaxpr, number: int) -> int:
        return number

    closed = make_jaxpr(ops.sin)(np.float64(1.0))
    [limit] = [use.limit for use in cache_report().caches if use.name == "transformed jaxprs"]
    for n in range(2 * limit):
        numbered(closed, n)
        assert len(closed.memo or ()) <= limit


#: The functions whose results are kept without a limit: they have no arguments, or few values of them.
UNBOUNDED = {
    "_installed", "_load_entry_points", "chlo", "_register_lapack", "versions", "our_catalogue", "installed_backends",
    "_interpolation", "xla", "sdy",  # no arguments
    "_checked", "accumulation_dtype", "lowest", "highest", "least_normal", "_least", "_largest",  # one dtype
    "_first_whole",  # one dtype
    "get_backend", "_lawful_with", "devices", "default_device", "machine_fingerprint",  # backends, devices
    "single_device_list", "single_device_sharding",  # devices
    "default_platform", "why_absent", "load_hybrid_lapack",  # platforms
    "_as_tuple", "_parameters", "_takes_any_keyword", "find_source",  # a function of NumPy's, or one of lawful's names
    "_through_factors", "_kinds", "_signature", "_init_code",  # booleans, or a small count
    "_family",  # a file of names
    "best",  # lives for one call
}  # fmt: skip


def test_functools_caches_have_finite_domains() -> None:
    for file in sorted(ROOT.glob("packages/*/src/**/*.py")):
        if file.name == "cache.py" and file.parent.name == "base":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Name | ast.Attribute):
                assert "lru_cache" not in ast.unparse(node), f"{file}: use cached_function"
            elif isinstance(node, ast.FunctionDef):
                names = {ast.unparse(each) for each in node.decorator_list}
                unbounded = not names.isdisjoint({"cache", "functools.cache"})
                assert not unbounded or node.name in UNBOUNDED, f"{file}: use cached_function for {node.name}"
