"""``jax.distributed`` and ``jax.experimental.multihost_utils`` of `lawful.jax`, in two processes."""

import subprocess
import sys
from pathlib import Path

import pytest

import lawful.jax as jax

PROGRAM = """
import numpy as np
import lawful.jax as jax
from lawful.jax.experimental import multihost_utils

jax.distributed.initialize(initialization_timeout=60, cluster_detection_method=None)
i = jax.process_index()
print(jax.process_count(), jax.device_count(), jax.local_device_count(), [d.process_index for d in jax.local_devices()])
multihost_utils.sync_global_devices("start")
gathered = multihost_utils.process_allgather(jax.numpy.arange(2) + i)
print(gathered.tolist(), jax.numpy.ones(2).device == jax.local_devices()[0])
print(float(multihost_utils.broadcast_one_to_all(jax.numpy.float32(i + 3))))
multihost_utils.assert_equal({"seed": 0})
jax.distributed.shutdown()
print(jax.distributed.is_initialized())
"""


def test_two_processes_by_the_names_of_jax(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    command = [sys.executable, "-m", "lawful.parallel", "-n", "2", "--devices-per-process", "2", str(script)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    for i in range(2):
        assert [line for line in result.stdout.splitlines() if line.startswith(f"[{i}]")] == [
            f"[{i}] 2 4 2 [{i}, {i}]",
            f"[{i}] [[0, 1], [1, 2]] True",
            f"[{i}] 3.0",
            f"[{i}] False",
        ]


def test_initialize_refuses_encryption() -> None:
    with pytest.raises(ValueError, match="connections are not encrypted"):
        jax.distributed.initialize("localhost:1", 1, 0, mtls_cert_file="certificate")
