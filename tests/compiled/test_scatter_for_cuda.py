"""The lowering of `scatter` for NVIDIA's devices. It has no kernels of the vendor, so it runs on the CPU as well."""

from itertools import batched

import numpy as np

from lawful import ops, tree
from lawful.core import get_aval
from lawful.laws._programs.choose import RandomChoose
from lawful.staging import make_jaxpr
from lawful.xla_backend import devices
from lawful.xla_backend._lowering.module import lower
from lawful.xla_backend._runtime import bindings, executables


def run_as_for_cuda(function, *args):
    """Returns the results of a function that is lowered for CUDA and run on the CPU."""
    closed, device = make_jaxpr(function)(*args), devices("cpu")[0]
    module = lower(closed, name="f", platform="cuda").module
    executable = executables.Executable(executables.compile_module(module, device, {}), device, closed.out_avals)
    results = executable.run([bindings.put(x, device, get_aval(x)) for x in tree.leaves(args)])
    return [bindings.view(found) for found in results]


def test_scatter_writes_the_last_update() -> None:
    """A GPU writes updates in any order, so the last one of each element is chosen before."""
    calls = {}
    for seed in range(300):
        avals, params = ops.scatter_p.declaration.sample(RandomChoose(seed))
        rng = np.random.default_rng(seed)
        if params["unique_indices"] or not all(aval.size for aval in avals):
            continue
        calls[seed] = params, [rng.integers(-1, 3, aval.shape).astype(aval.dtype) for aval in avals]
    assert len(calls) > 30
    for seeds in batched(calls, 10):  # each program has several calls

        def scattered(*args, seeds=seeds):
            return [ops.scatter_p.bind(*xs, **calls[seed][0]) for seed, xs in zip(seeds, args, strict=True)]

        args = [calls[seed][1] for seed in seeds]
        for seed, found, expected in zip(seeds, run_as_for_cuda(scattered, *args), scattered(*args), strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=str((seed, calls[seed][0])))


def test_scatter_of_overlapping_windows_writes_the_last() -> None:
    x, indices, updates = np.zeros(6), np.array([[1], [2], [1]]), np.arange(1.0, 10.0).reshape(3, 3)
    numbers = ((1,), (), (0,), (), ())
    params = {"dimension_numbers": numbers, "indices_are_sorted": False, "unique_indices": False, "mode": "clip"}
    [found] = run_as_for_cuda(lambda *args: ops.scatter_p.bind(*args, **params), x, indices, updates)
    assert found.tolist() == [0, 7, 8, 9, 6, 0]
