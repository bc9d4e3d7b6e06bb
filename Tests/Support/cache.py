"""What test scripts need of the network: got once and kept in ${XDG_CACHE_HOME:-$HOME/.cache}/pushfan."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import sys

from claims import Skip
from programs import run


def kept(name, needed, make, suffix=""):
    """The file or folder that `make` makes at the path it is given, if no run before has. Another text `needed` is another place."""
    caches = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    place = caches / "pushfan" / f"{name}-{hashlib.sha256(needed.encode()).hexdigest()[:12]}{suffix}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{place}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            new = pathlib.Path(f"{place}.new")  # half-made where a run was killed
            shutil.rmtree(new) if new.is_dir() else new.unlink(missing_ok=True)
            make(new)
            new.rename(place)
    return place


def python_with(*packages):
    """A Python that has these packages of PyPI, named with their versions. The first names the place."""
    def make(folder):
        for command in ([sys.executable, "-m", "venv", folder],
                        [folder / "bin/python", "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "20", *packages]):
            done = run(*command, timeout=600)
            if done.returncode:
                raise Skip(f"{' '.join(packages)} cannot be installed: {(done.said.strip().splitlines() or ['it says nothing'])[-1]}")
    # An environment finds its packages by the place of its program, so it may be renamed.
    return kept(f"python/{packages[0].partition('[')[0].partition('=')[0]}", f"{' '.join(packages)} {sys.version}", make) / "bin/python"
