"""Programs that a script starts, waits for and ends, by a handle that is its own. They are killed when the thread ends that has started
them, and so when the script does, whatever ends it."""

import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess

from claims import FAR, until

KEPT = ["setpriv", "--pdeathsig", "KILL"]


def run(*command, **options):
    """Runs a command to its end. The result has `returncode`, `stdout`, `stderr`, and both texts as `said`. Options are of `subprocess`."""
    done = subprocess.run(
        [str(word) for word in command],
        **{"capture_output": True, "text": True, "timeout": FAR, "check": False}
        | ({} if "input" in options else {"stdin": subprocess.DEVNULL}) | options)
    done.said = (done.stdout or "") + (done.stderr or "")
    return done


def free_port(count=1):
    """A port of 127.0.0.1 that nobody has, the first of so many in a row. They are below those that the system gives to clients."""
    while True:
        first = random.randrange(20000, 32000)
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            for port in range(first, first + count):
                held.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


def send(number, pid, is_it):
    """Sends a signal to a process that is no child of the script, if it is the one that is meant once there is a handle of it."""
    with contextlib.suppress(ProcessLookupError), os.fdopen(os.pidfd_open(pid)) as handle:
        if is_it():
            signal.pidfd_send_signal(handle.fileno(), number)


class Program:
    """A program that runs. What it says is added to its log; its output goes elsewhere where `stdout` is given."""

    def __init__(self, *command, log=os.devnull, environment=None, folder=None, **options):
        self.log = pathlib.Path(log)
        with open(log, "ab") as said:
            self.process = subprocess.Popen(
                [*KEPT, *(str(word) for word in command)], env=environment, cwd=folder,
                **{"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said} | options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def said(self):
        return self.log.read_text(errors="replace") if self.log.is_file() else ""

    @property
    def runs(self):
        return self.process.poll() is None

    def find(self, pattern, limit=FAR):
        """The first match of a pattern in its log, once there is one. Raises AssertionError where there is none in the end."""
        found = until(lambda: re.search(pattern, self.said) or not self.runs, limit=limit)
        if not isinstance(found, re.Match) and not (found := re.search(pattern, self.said)):
            raise AssertionError(f"{' '.join(self.process.args[3:])}: its log has no {pattern}:\n{self.said[-2000:]}")
        return found

    def address(self, words):
        """HOST:PORT in the line of its log that has these words, once that is there."""
        return self.find(rf"{re.escape(words)}.*?(127\.0\.0\.1:\d+)")[1]

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, limit=40):
        """Asks it to end, and kills it when it has not in time. Returns its status."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.terminate()
            return self.process.wait(limit)
        return self.kill()

    def kill(self):
        self.process.kill()
        return self.process.wait()


class Emulator(Program):
    """An emulated hub."""

    def __init__(self, program, *words, listen="127.0.0.1:0", **options):
        super().__init__(program, "emulator", "--listen", listen, *words, stdout=subprocess.PIPE, **options)
        self.connection = self.process.stdout.readline().decode().strip()
        if not (found := re.match(r"Endpoint=(http://[^/;]+)", self.connection)):
            raise AssertionError(f"the emulator does not start: {self.connection}{self.said}")
        self.address = found[1]  # its own place for what is beside the hub's own API, such as /faults

    def end(self, limit=40):
        self.process.stdout.close()
        return super().end(limit)
