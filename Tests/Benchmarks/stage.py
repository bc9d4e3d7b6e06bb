"""What the benchmarks of this folder have in common: topics of their own, a hub that is emulated, workers, and what the results tell."""

import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTITIONS = 8
TICKS = os.sysconf("SC_CLK_TCK")

# Ended by a signal, a benchmark ends what it started as at its end.
for ending in signal.SIGTERM, signal.SIGHUP:
    signal.signal(ending, lambda received, _: sys.exit(128 + received))


class Stage:
    """One run. The program is .build/release/pushfan (`Deploy/demo` builds it), or the one that PUSHFAN_BENCH_PROGRAM names."""

    def __init__(self, name, bootstrap, settings=None):
        self.program = os.environ.get("PUSHFAN_BENCH_PROGRAM", str(ROOT / ".build/release/pushfan"))
        self.run = f"pushfan-{name}-{os.getpid()}-{int(time.time())}"
        self.folder = tempfile.TemporaryDirectory(prefix=f"pushfan-{name}-")
        self.work = pathlib.Path(self.folder.name)
        own = {name: value for name, value in os.environ.items() if not name.startswith("PUSHFAN_")}
        topics = {
            f"PUSHFAN_KAFKA_TOPICS_{role}": f"{self.run}.{role.lower()}"
            for role in ["REQUESTS", "RESULTS", "DEADLETTER", "REPLAYS"]
        }
        self.environment = own | topics | {
            "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": bootstrap,
            "PUSHFAN_KAFKA_GROUP_ID": self.run,
            "PUSHFAN_HUB_NAME": "bench",
            "PUSHFAN_LISTEN": "127.0.0.1:0",
            "PUSHFAN_LOG_LEVEL": "warning",
        } | (settings or {})
        self.hub = None
        self.workers = []
        self.gateways = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Gateways have sends that wait for the workers, and the workers have calls to finish before the hub may go.
        for group in (self.gateways, self.workers, [self.hub] if self.hub else []):
            for process in group:
                process.terminate()
            for process in group:
                try:
                    process.wait(40)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.folder.cleanup()

    def command(self, *arguments, allowed=(0,), **environment):
        """Runs a command of pushfan to its end; returns what it printed. Ends the benchmark when its exit status is not allowed."""
        done = subprocess.run([self.program, *map(str, arguments)], env=self.environment | environment, capture_output=True, text=True)
        if done.returncode not in allowed:
            sys.exit(f"pushfan {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stderr}")
        return done.stdout

    def make_topics(self, partitions=PARTITIONS):
        self.command("topics", "create", "--partitions", partitions, "--replication", 1, "--timeout", "120s")

    def start_hub(self, *arguments, record="off"):
        self.hub = subprocess.Popen(
            [self.program, "emulator", "--listen", "127.0.0.1:0", "--record", record, *arguments],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        connection = self.hub.stdout.readline().strip()
        if not connection.startswith("Endpoint="):
            sys.exit("the emulator did not start")
        self.environment["PUSHFAN_HUB_CONNECTION_STRING"] = connection

    def start_worker(self, name=None):
        name = name or f"w{len(self.workers) + 1}"
        with open(self.work / f"{name}.log", "wb") as log:
            self.workers.append(subprocess.Popen(
                [self.program, "worker"], env=self.environment | {"PUSHFAN_WORKER_ID": f"{self.run}-{name}"}, stdout=log, stderr=log))

    def write(self, requests):
        """Writes requests, given as dictionaries, to a file; returns its path."""
        path = self.work / "requests.ndjson"
        with open(path, "w", encoding="utf-8") as file:
            for request in requests:
                file.write(json.dumps(request) + "\n")
        return path

    def publish(self, requests, *arguments, **environment):
        """Writes requests, given as dictionaries, and returns when they are in Kafka."""
        self.command("enqueue", self.write(requests), "--quiet", "--timeout", "300s", *arguments, **environment)

    def results(self, *terms):
        """The final results that a filter selects, as dictionaries."""
        text = self.command("results", "list", *terms, "-n", 1_000_000, "-o", "ndjson", "--timeout", "60s", allowed=(0, 4))
        return [json.loads(line) for line in text.splitlines()]

    def wait_for_results(self, count, *terms, seconds=120):
        """The results that a filter selects, once there are `count` of them."""
        deadline = time.monotonic() + seconds
        while len(found := self.results(*terms)) < count:
            if time.monotonic() > deadline:
                sys.exit(f"{len(found)} of {count} results came within {seconds} s")
            time.sleep(1)
        return found


def processor_seconds(pid):
    """User and system time that a process has used so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def megabytes(pid, member):
    """Memory of a process by a member of its status, such as VmRSS (now) or VmHWM (the most)."""
    return int(re.search(rf"{member}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def listening_port(pid):
    """The port on which a process listens, asked of the kernel; nothing while there is none."""
    inodes = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            match = re.match(r"socket:\[(\d+)\]", os.readlink(entry))
        except OSError:
            continue
        if match:
            inodes.add(match[1])
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            return int(fields[1].split(":")[1], 16)
    return None


def moment(text):
    """Milliseconds since 1970 of a time as results have it."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


def timestamp(milliseconds):
    """A time as requests have it."""
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc).isoformat(timespec="milliseconds")


def percentile(values, share):
    """The smallest of `values` that at least `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
