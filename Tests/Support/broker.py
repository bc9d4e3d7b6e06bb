"""A Kafka for a test script."""

import contextlib
import os
import pathlib
import subprocess
import tempfile

from programs import free_port, run
from script import NAME, ROOT

SCRIPT = next(path for path in (ROOT.parent / "shared/kafka/kafka", ROOT / "Deploy/kafka") if path.exists())
# The tools that Deploy/kafka knows by their class alone.
CLASSES = {
    "acls": "org.apache.kafka.tools.AclCommand", "console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
}
LIMIT = 600  # seconds for a start, which may have a release to get


class Broker:
    """A Kafka, or several nodes of one, in a folder. `bootstrap` is its plain address.

    `listeners` are more ways in, names with a protocol each, such as {"MTLS": "SSL"}; `addresses` has HOST:PORT of each. With TLS, HOST
    is the name in the certificate, which `host` gives. `environment` is added to that of the broker."""

    def __init__(self, folder, settings=None, nodes=1, heap=None, listeners=None, host="127.0.0.1", environment=None):
        self.folder = pathlib.Path(folder)
        self.environment = os.environ | (environment or {})
        # No node is thought lost because the machine is busy.
        settings, self.addresses = {"broker.session.timeout.ms": 60000} | (settings or {}), {}
        # A free port of the system's choice is one that it may give to a client a moment later.
        port = free_port(10 * nodes)
        if listeners:
            port = free_port(2 + len(listeners))
            bound = {"PLAINTEXT": port, "CONTROLLER": port + 1} | {name: port + 2 + number for number, name in enumerate(listeners)}
            protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT"} | listeners
            self.addresses = {name: f"{host if 'SSL' in protocol else '127.0.0.1'}:{bound[name]}" for name, protocol in listeners.items()}
            advertised = {"PLAINTEXT": f"127.0.0.1:{port}"} | self.addresses
            settings |= {
                "listeners": ",".join(f"{name}://127.0.0.1:{number}" for name, number in bound.items()),
                "advertised.listeners": ",".join(f"{name}://{address}" for name, address in advertised.items()),
                "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
                "inter.broker.listener.name": "PLAINTEXT",
            }
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        self.call("start", "--port", port, "--nodes", nodes, *(["--heap", heap] if heap else []), *words)
        self.bootstrap = (self.folder / "bootstrap").read_text().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def call(self, command, *words):
        """A command of the script, such as `kill`, `resume` and `stop`, with a node's number where one alone is meant."""
        with open(f"{self.folder}.log", "ab") as log:
            done = run(SCRIPT, command, self.folder, *words, env=self.environment, stdout=log, stderr=subprocess.STDOUT,
                       capture_output=False, timeout=LIMIT)
        if done.returncode:
            raise AssertionError(f"kafka {command}: {pathlib.Path(f'{self.folder}.log').read_text()[-2000:]}")

    def resume(self):
        """Starts again what was killed. On a busy machine Kafka may end while it starts, when it waits for its own controller."""
        for _ in range(2):
            with contextlib.suppress(AssertionError):
                return self.call("resume")
        return self.call("resume")

    def stop(self):
        self.call("stop")

    def log(self, node=1):
        return (self.folder / f"node-{node}/server.log").read_text(errors="replace")


def tool_command(name):
    """The words that call a tool of Kafka, such as `topics`."""
    return [str(SCRIPT), "tool", CLASSES.get(name, name) if SCRIPT.is_relative_to(ROOT) else name]


def tool(name, *words, **options):
    return run(*tool_command(name), *words, **options)


@contextlib.contextmanager
def any_broker(**options):
    """The address of the Kafka that PUSHFAN_TEST_KAFKA names, or of one for this script alone."""
    if named := os.environ.get("PUSHFAN_TEST_KAFKA"):
        yield named
        return
    with tempfile.TemporaryDirectory(prefix=f"pushfan-{NAME}-", ignore_cleanup_errors=True) as folder:
        with Broker(pathlib.Path(folder) / "kafka", **options) as broker:
            yield broker.bootstrap
