"""What the benchmarks of this folder have in common: topics of their own, a hub that is emulated, workers, and what the results tell."""

import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
from claims import until  # noqa: E402
from programs import Emulator, Program, run  # noqa: E402
from script import ROOT, parser  # noqa: E402

PARTITIONS = 8
PROGRAM = os.environ.get("PUSHFAN_BENCH_PROGRAM", str(ROOT / ".build/release/pushfan"))


def options(text, **numbers):
    """A parser of BOOTSTRAP and of options with numbers, each with its default. The text is the benchmark's."""
    made = parser(text.partition("\n\n")[2], program=False)
    made.add_argument("bootstrap")
    for name, default in numbers.items():
        made.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return made


class Stage:
    """One run. The program is .build/release/pushfan (`Deploy/demo` builds it), or the one that PUSHFAN_BENCH_PROGRAM names."""

    def __init__(self, name, bootstrap, settings=None):
        self.program = PROGRAM
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
        self.hubs, self.workers, self.gateways = [], [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Gateways have sends that wait for the workers, and the workers have calls to finish before the hub may go.
        with concurrent.futures.ThreadPoolExecutor() as threads:
            for group in self.gateways, self.workers, self.hubs:
                list(threads.map(lambda program: program.end(), group))
        self.folder.cleanup()

    def command(self, *arguments, allowed=(0,), **environment):
        """Runs a command of pushfan to its end; returns what it printed. Ends the benchmark when its exit status is not allowed."""
        done = run(self.program, *arguments, env=self.environment | environment, timeout=None)
        if done.returncode not in allowed:
            sys.exit(f"pushfan {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stderr}")
        return done.stdout

    def make_topics(self, partitions=PARTITIONS):
        self.command("topics", "create", "--partitions", partitions, "--replication", 1, "--timeout", "120s")

    def start_hub(self, *arguments, record="off"):
        self.hubs.append(Emulator(self.program, "--record", record, *arguments, environment=self.environment))
        self.environment["PUSHFAN_HUB_CONNECTION_STRING"] = self.hubs[-1].connection

    def start_worker(self, name=None):
        name = name or f"w{len(self.workers) + 1}"
        log = self.work / f"{name}.log"
        log.unlink(missing_ok=True)  # of one that had the name before
        self.workers.append(Program(
            self.program, "worker", log=log, environment=self.environment | {"PUSHFAN_WORKER_ID": f"{self.run}-{name}"}))

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
        return until(lambda: (found := self.results(*terms)) and len(found) >= count and found, f"{count} results", limit=seconds, pause=1)


def processor_times(program):
    """User and system time that a program has used so far, in seconds."""
    fields = pathlib.Path(f"/proc/{program.process.pid}/stat").read_text().rpartition(")")[2].split()
    return tuple(int(field) / os.sysconf("SC_CLK_TCK") for field in fields[11:13])


def processor_seconds(program):
    return sum(processor_times(program))


def status(program, member):
    """A number in the status of a program that runs, such as VmRSS (KiB in memory now), VmHWM (the most) and Threads."""
    return int(re.search(rf"{member}:\s+(\d+)", pathlib.Path(f"/proc/{program.process.pid}/status").read_text())[1])


def megabytes(program, member):
    return status(program, member) / 1024


def listening_port(program):
    """The port on which a program listens, asked of the kernel; nothing while there is none."""
    inodes = set()
    for entry in pathlib.Path(f"/proc/{program.process.pid}/fd").iterdir():
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
