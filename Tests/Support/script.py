"""What every test script has: its place in the repository, its options, and its end.

A script comes to this folder with `sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))`."""

import argparse
import pathlib
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = pathlib.Path(sys.argv[0]).name


def path(text):
    return pathlib.Path(text).resolve()


def parser(text, *flags, program=True):
    """A parser of --program PATH and of flags, such as "--self-test". The usage is the paragraph of the script's text that has its name."""
    usage = next((part.strip() for part in text.split("\n\n") if NAME in part), None)
    made = argparse.ArgumentParser(usage=usage)
    if program:
        made.add_argument("--program", type=path, default=path(ROOT / ".build/test/debug/pushfan"))
    for flag in flags:
        made.add_argument(flag, action="store_true")
    return made


def start(main):
    """Runs `main` and ends with its status. Ended by a signal, it ends what it has started, as at its end."""
    for ending in signal.SIGTERM, signal.SIGHUP:
        signal.signal(ending, lambda received, _: sys.exit(128 + received))
    sys.exit(main())
