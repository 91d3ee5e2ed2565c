"""A folder of bytes: what is read is what was written or nothing, whoever else writes, and nothing raises."""

import os
import threading
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.xla_backend import CompilationCacheWarning
from lawful.xla_backend._cache.folder import CacheFolder

PLENTY = 1 << 20
# It does not get shorter.
RANDOM = os.urandom(1000)


@pytest.fixture
def folder(tmp_path: Path) -> CacheFolder:
    return CacheFolder(str(tmp_path / "made" / "when needed"), PLENTY)


def keys(folder: CacheFolder) -> set[str]:
    return {path.stem for path in Path(folder.path).iterdir()}


def only_file(folder: CacheFolder) -> Path:
    [path] = Path(folder.path).iterdir()
    return path


def set_time(folder: CacheFolder, key: str, seconds_ago: float) -> None:
    then = time.time() - seconds_ago
    os.utime(Path(folder.path, f"{key}.lawful"), (then, then))


@given(data=st.binary())
def test_cache_folder_what_is_read_is_what_was_written(tmp_path_factory, data: bytes) -> None:
    folder = CacheFolder(str(tmp_path_factory.mktemp("folder")), PLENTY)
    assert folder.read("a") is None
    folder.write("a", data)
    assert folder.read("a") == data
    assert folder.read("b") is None
    assert CacheFolder(folder.path, PLENTY).read("a") == data


def test_a_folder_is_nobody_elses(folder) -> None:
    folder.write("a", RANDOM)
    assert os.stat(folder.path).st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry[:-1],
        lambda entry: entry[:40],
        lambda entry: b"",
        lambda entry: entry + b"x",
        lambda entry: entry[:-5] + bytes([entry[-5] ^ 1]) + entry[-4:],
        lambda entry: entry[:30] + bytes([entry[30] ^ 1]) + entry[31:],
        lambda entry: b"L" + entry[1:],
        lambda entry: b"something else",
    ],
    ids=["one byte short", "truncated", "empty", "longer", "a bit", "a bit of the checksum", "magic", "foreign"],
)
def test_cache_folder_damage_is_reported_once_and_overwritten(folder, damage) -> None:
    folder.write("a", RANDOM)
    file = only_file(folder)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(CompilationCacheWarning, match="damaged or foreign bytes.*delete the file") as told:
        assert folder.read("a") is None
    assert str(file) in str(told[0].message)
    assert told[0].filename == __file__
    assert folder.read("a") is None
    folder.write("a", RANDOM)
    assert folder.read("a") == RANDOM


def test_cache_folder_file_under_the_name_of_another_is_refused(folder) -> None:
    folder.write("a", RANDOM)
    only_file(folder).rename(Path(folder.path, "b.lawful"))
    with pytest.warns(CompilationCacheWarning, match="foreign"):
        assert folder.read("b") is None


def test_what_cannot_be_a_folder_is_told_once(tmp_path) -> None:
    (tmp_path / "file").write_text("not a folder")
    folder = CacheFolder(str(tmp_path / "file" / "folder"), PLENTY)
    with pytest.warns(CompilationCacheWarning, match=r"set_cache_dir or LAWFUL_COMPILATION_CACHE_DIR") as told:
        assert folder.read("a") is None
    assert len(told) == 1
    assert folder.path in str(told[0].message)
    folder.write("a", RANDOM)
    assert folder.read("a") is None


def test_a_folder_that_cannot_be_written_to_is_read(folder, monkeypatch) -> None:
    folder.write("a", RANDOM)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    for name in ("replace", "utime", "remove"):
        monkeypatch.setattr(os, name, refuse)
    with pytest.warns(CompilationCacheWarning, match="Permission denied"):
        folder.write("b", RANDOM)
    folder.write("c", RANDOM)
    assert folder.read("a") == RANDOM


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="everything may be written to")
def test_cache_folder_permissions_are_respected(folder) -> None:
    folder.write("a", RANDOM)
    os.chmod(folder.path, 0o500)
    with pytest.warns(CompilationCacheWarning, match="Permission denied"):
        folder.write("b", RANDOM)
    assert folder.read("a") == RANDOM
    assert keys(folder) == {"a"}


def test_cache_folder_write_that_fails_leaves_nothing_behind(folder, monkeypatch) -> None:
    folder.write("a", RANDOM)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CompilationCacheWarning, match="No space left"):
        folder.write("b", RANDOM)
    assert keys(folder) == {"a"}


# How much there is


def test_cache_folder_what_was_not_used_for_longest_is_removed(tmp_path) -> None:
    folder = CacheFolder(str(tmp_path), 3500)
    for ago, key in ((30, "a"), (20, "b"), (10, "c")):
        folder.write(key, RANDOM)
        set_time(folder, key, ago)
    assert folder.read("a") == RANDOM
    folder.write("d", RANDOM)
    assert keys(folder) == {"a", "c", "d"}


def test_cache_folder_what_others_have_written_counts(tmp_path) -> None:
    for number in range(3):
        CacheFolder(str(tmp_path), PLENTY).write(str(number), RANDOM)
        set_time(CacheFolder(str(tmp_path), PLENTY), str(number), 10 - number)
    folder = CacheFolder(str(tmp_path), 2500)
    folder.write("new", RANDOM)
    assert keys(folder) == {"2", "new"}


def test_cache_folder_what_has_no_place_is_not_stored(tmp_path) -> None:
    folder = CacheFolder(str(tmp_path), 1500)
    folder.write("a", RANDOM)
    folder.write("b", os.urandom(2000))
    assert keys(folder) == {"a"}


def test_cache_folder_size_holds_after_any_number_of_files(tmp_path) -> None:
    folder = CacheFolder(str(tmp_path), 100_000)
    for number in range(300):
        folder.write(str(number), RANDOM)
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000 + 100_000 // 64 + 1100
    assert len(keys(folder)) > 80


def test_cache_folder_files_of_others_are_left_alone(tmp_path) -> None:
    (tmp_path / "mine.txt").write_text("mine" * 1000)
    (tmp_path / "folder").mkdir()
    folder = CacheFolder(str(tmp_path), 1500)
    for key in "abc":
        folder.write(key, RANDOM)
    assert len(keys(folder)) == 3
    assert (tmp_path / "mine.txt").exists()


def test_cache_folder_what_was_abandoned_is_removed(tmp_path) -> None:
    old, new = tmp_path / "a-0.lawful-unfinished", tmp_path / "a-1.lawful-unfinished"
    for file in (old, new):
        file.write_bytes(RANDOM)
    os.utime(old, (0, 0))
    CacheFolder(str(tmp_path), PLENTY).write("b", RANDOM)
    assert not old.exists()
    assert new.exists()


# Several at once


def test_cache_folder_readers_see_whole_entries(tmp_path) -> None:
    data = {str(number): os.urandom(5000) + bytes([number]) for number in range(8)}
    seen: list[bool] = []
    raised: list[BaseException] = []

    def work(thread: int) -> None:
        folder = CacheFolder(str(tmp_path), 20_000)  # four of them
        try:
            for turn in range(60):
                key = str((7 * turn + 3 * thread) % 8)
                if turn % 2:
                    folder.write(key, data[key])
                found = folder.read(key)
                seen.append(found is not None)
                assert found in (None, data[key])
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(6)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not raised
    assert any(seen)
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".lawful"]
