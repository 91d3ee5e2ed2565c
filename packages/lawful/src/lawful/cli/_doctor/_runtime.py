"""Checks of the backends with their devices, and of the folder of compiled programs."""

from __future__ import annotations

import tempfile
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from lawful.cli._doctor._installation import Row
from lawful.core import LawfulError


def backends() -> list[dict[str, Any]]:
    """Returns a row for each backend of `jit`, and one for each device."""
    from lawful.staging import get_backend

    rows = []
    default = None
    try:
        default = get_backend()
    except Exception as error:  # LAWFUL_BACKEND may name one that does not exist
        rows.append(Row("default backend", error_text(error), "bad"))
    for name in sorted({point.name for point in entry_points(group="lawful.backends")}):
        try:
            backend = get_backend(name)
            rows.append(Row(f"backend {name}", f"on {backend.platform}{', the default' * (backend is default)}", "ok"))
        except Exception as error:  # a broken installation may raise anything
            rows.append(Row(f"backend {name}", error_text(error), "bad"))
    return [row.as_dict() for row in [*rows, *_devices()]]


def _devices() -> list[Row]:
    if not any(point.name == "xla" for point in entry_points(group="lawful.backends")):
        return []
    try:
        from lawful.xla_backend import devices

        found = devices()
    except Exception as error:
        return [Row("devices", error_text(error), "bad")]
    groups: dict[tuple[str, str], int] = {}
    for device in found:
        key = str(getattr(device, "platform", "")), str(getattr(device, "device_kind", device))
        groups[key] = groups.get(key, 0) + 1
    return [Row(f"devices of {platform}", f"{count} × {kind}", "ok") for (platform, kind), count in groups.items()]


def cache_folder() -> dict[str, Any]:
    """Returns a row for the folder of compiled programs."""
    name = "compilation cache"
    try:
        from lawful.xla_backend import cache_info

        info = cache_info()
    except ImportError:
        return Row(name, "none: lawful-xla-backend is not installed", "note").as_dict()
    except Exception as error:
        return Row(name, error_text(error), "bad").as_dict()
    if info.dir is None:
        return Row(name, "none; LAWFUL_COMPILATION_CACHE_DIR names a folder", "").as_dict()
    folder = Path(info.dir)
    if not folder.exists():
        parent = next(each for each in folder.parents if each.exists())
        usable, text = _is_writable(parent), "not made yet"
    else:
        sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
        usable, text = _is_writable(folder), f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB"
    detail = f"{folder}, {text}, at most {info.max_size / 1e6:.0f} MB{'' if usable else '; it cannot be written to'}"
    return Row(name, detail, "ok" if usable else "bad").as_dict()


def _is_writable(folder: Path) -> bool:
    """Whether a file can be made in a folder, which its permissions do not tell: it may be no folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def error_text(error: Exception) -> str:
    """Returns the class and the first line of an error, without the line of the command that it was raised for."""
    message = error.message if isinstance(error, LawfulError) else error
    return f"{type(error).__name__}: {message}".partition("\n")[0]
