"""A Kafka, a hub, a worker, a gateway, and the service of callbacks with its receivers, for a test script."""

import collections
import contextlib
import json
import os
import pathlib

from broker import Broker
from cache import python_with
from claims import until
from programs import Emulator, Program, free_port, run
from script import ROOT
from web import ask

PACKAGES = "standardwebhooks==1.1.0", "cloudevents==2.2.0"
PARTITIONS = 4
SECRET = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0LW51bWJlci1vbmUtMDE="
OTHER_SECRET = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0LW51bWJlci10d28tMDI="


class Receivers(Program):
    """The process of all receivers, over TLS with a certificate of the test's own where a folder has one."""

    def __init__(self, folder, words=()):
        super().__init__(python_with(*PACKAGES), ROOT / "Tests/Support/receiver.py", *words, log=folder / "receivers.log")
        self.port = int(self.find(r"(\d+)\n")[1])
        self.scheme = "https" if words else "http"

    def address(self, name):
        return f"{self.scheme}://localhost:{self.port}/{name}"


class Stage:
    """Everything below a folder. `start` and `kill` are for the programs, by their names."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.ending = contextlib.ExitStack()
        self.running, self.ports = {}, collections.defaultdict(free_port)
        self.broker = self.ending.enter_context(Broker(self.folder / "kafka"))
        self.hub = self.ending.enter_context(Emulator(program, "--hub-name", "hub", log=self.folder / "hub.log"))
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": self.broker.bootstrap,
            "PUSHFAN_HUB_NAME": "hub", "PUSHFAN_HUB_CONNECTION_STRING": self.hub.connection,
            "PUSHFAN_CALLBACKS_RECEIVERS_FILE": str(self.folder / "receivers.yaml"), "no_proxy": "127.0.0.1,localhost",
        }
        self.command("topics", "create", "--partitions", PARTITIONS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in list(self.running):
            self.running.pop(name).kill()
        self.ending.close()

    def command(self, *words, status=0, **options):
        done = run(self.program, *words, env=self.environment, cwd=self.folder, **options)
        if status is not None and done.returncode != status:
            raise AssertionError(f"pushfan {' '.join(map(str, words))}: status {done.returncode}\n{done.said[-2000:]}")
        return done

    def start(self, name, *words, **variables):
        """Starts a program, again after it was killed, and waits until it is ready."""
        listen = f"127.0.0.1:{self.ports[name]}"
        self.running[name] = Program(
            self.program, *words, log=self.folder / f"{name}.log", folder=self.folder,
            environment=self.environment | {"PUSHFAN_LISTEN": listen} | variables)
        until(lambda: ask(f"http://{listen}/readyz", limit=5).status == 200 or not self.running[name].runs, f"{name} is ready")
        if not self.running[name].runs:
            raise AssertionError(f"{name} has ended:\n{self.running[name].said[-2000:]}")
        return f"http://{listen}"

    def start_callbacks(self, name="callbacks"):
        return self.start(name, "callbacks", PUSHFAN_CALLBACKS_INSTANCE=name)

    def wait_for_receivers(self, names):
        """Waits until each receiver has its place in the topic. What was published before is not for it."""
        def places():
            rows = json.loads(self.command("callbacks", "list", "--output", "json").stdout)
            return {row["receiver"] for row in rows if row.get("behind") == 0}
        until(lambda: set(names) <= places(), "each receiver has its place", pause=0.3)

    def start_gateway(self, name="gateway"):
        """Starts a gateway. Returns the address of its API."""
        port = self.ports[f"{name} api"]
        self.start(name, "gateway", "--gateway.listen", f"127.0.0.1:{port}", "--keys-file", self.folder / "keys", PUSHFAN_WORKER_ID=name)
        return f"http://127.0.0.1:{port}"

    def kill(self, name):
        self.running.pop(name).kill()

    def end(self, name):
        return self.running.pop(name).end()

    def make_key(self, *words):
        return self.command("keys", "create", "--file", self.folder / "keys", *words).stdout.strip()

    def publish(self, first, count, **members):
        """Publishes requests by the command, and returns their ids."""
        ids = [f"{first}-{number}" for number in range(count)]
        lines = [json.dumps({"schema_version": 1, "id": name, "audience": {"users": [f"user-{number % 50}"]},
                             "message": {"title": "t", "body": name}} | members) for number, name in enumerate(ids)]
        (self.folder / "requests.ndjson").write_text("\n".join(lines) + "\n")
        self.command("enqueue", self.folder / "requests.ndjson")
        return ids

    @property
    def said(self):
        """All that the programs have said."""
        return "".join(path.read_text(errors="replace") for path in self.folder.glob("*.log"))


def certificate(folder):
    """A certificate of localhost that is its own authority. Returns the words for the receivers."""
    done = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
               "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj", "/CN=localhost",
               "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    if done.returncode:
        raise AssertionError(done.said)
    return "--certificate", folder / "cert.pem", "--key", folder / "key.pem"
