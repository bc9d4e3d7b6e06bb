"""What the page is tried on: two emulated hubs, two workers and a gateway with keys and an index, on topics of their own; and the way to it."""

import contextlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Benchmarks"))
from browser import wait  # noqa: E402
from gatewaystage import GatewayStage  # noqa: E402
from programs import Emulator  # noqa: E402
from stage import Stage  # noqa: E402
from web import ask  # noqa: E402

# The keys by their names, and what makes them.
KEYS = {
    "all": ["--scope", "publish,publish:broadcast,read,read:payload,replay,operate"], "read": ["--scope", "read"],
    "publish": ["--scope", "publish"], "blind": ["--scope", "read,replay"],
    "tenant": ["--scope", "publish,read,read:payload,replay", "--tenant", "acme"],
}
DEVICES = [
    {"installationId": f"{name}-phone", "platform": platform, "pushChannel": channel, "tags": [f"username:{name}", "World"]}
    for name, platform, channel in [("alice", "apns", "A1B2C3D4E5F60718"), ("bob", "fcmv1", "bobs-token"),
                                    ("eve", "wns", "https://db5.notify.windows.com/?token=x")]
]


class API:
    """Calls of `/v1` with a key."""

    def __init__(self, base, key):
        self.base, self.key = base.rstrip("/"), key

    def call(self, method, path, body=None, **headers):
        """The status, and what the answer holds."""
        answer = ask(self.base + path, body, method, **{"Authorization": f"Bearer {self.key}", "Content_Type": "application/json"} | headers)
        return answer.status, answer.json

    def get(self, path, **query):
        status, found = self.call("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""))
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {found}")
        return found

    def publish(self, requests):
        """Returns once they are in Kafka."""
        lines = "".join(json.dumps(request) + "\n" for request in requests).encode()
        status, found = self.call("POST", "/v1/requests:batch", lines, Content_Type="application/x-ndjson")
        if status >= 300:
            raise AssertionError(f"the batch: {status} {found}")

    def failures(self, **query):
        return self.get("/v1/failures", **query)


class PageStage(GatewayStage):
    """Two hubs, `north` and `south`; workers `w1` and `w2`; a gateway."""

    def __init__(self, bootstrap, program, name):
        Stage.__init__(self, name, bootstrap)
        self.program = str(program)
        for name in [name for name in self.environment if name.startswith("PUSHFAN_KAFKA_TOPICS_")] + ["PUSHFAN_HUB_NAME"]:
            del self.environment[name]
        self.environment |= {
            "PUSHFAN_KAFKA_TOPICS_PREFIX": f"{self.run}.", "PUSHFAN_GATEWAY_LISTEN": "127.0.0.1:0",
            "PUSHFAN_GATEWAY_KEYS_FILE": str(self.work / "keys"), "PUSHFAN_GATEWAY_STATE_DIR": str(self.work / "state"),
        }
        self.gateway = self.base = self.south = None
        self.keys = {}

    def start(self):
        """Returns once a request has come to its end."""
        self.make_topics()
        self.keys = {name: self.command("keys", "create", *terms).split()[0] for name, terms in KEYS.items()}
        (self.work / "state").mkdir()
        (self.work / "devices.json").write_text(json.dumps(DEVICES))
        hubs = [Emulator(self.program, "--record", "light", "--devices", self.work / "devices.json", environment=self.environment)
                for _ in range(2)]
        self.hubs += hubs
        self.south = hubs[1].address
        settings = "".join(f"  {name}: {{name: demo, connection_string: \"{hub.connection}\"}}\n" for name, hub in zip(["north", "south"], hubs))
        (self.work / "pushfan.yaml").write_text(f"hubs:\n{settings}default_hub: north\n")
        self.environment["PUSHFAN_CONFIG"] = str(self.work / "pushfan.yaml")
        for name in "w1", "w2":
            self.start_worker(name)
        self.base = self.serve("gateway")
        api = API(self.base, self.keys["all"])
        # The broker may be making the topics still.
        wait(lambda: api.call("POST", "/v1/requests", request("first"))[0] < 300, "a request is taken")
        wait(lambda: api.call("GET", "/v1/requests/first")[1].get("state") == "sent", "a request is sent")

    def serve(self, name, **settings):
        """Starts a gateway; returns its address."""
        return f"http://127.0.0.1:{super().serve(name, **settings)}"


def fault(hub, text, kind="faults"):
    """Spoils an emulated hub as the text says, or scripts its `telemetry`; undoes it if there is none."""
    answer = ask(f"{hub}/{kind}", text, "PUT" if text else "DELETE")
    if not 200 <= answer.status < 300:
        raise AssertionError(f"{text}: {answer.status} {answer.text}")


PRODUCE = """
import confluent_kafka, json, sys
producer = confluent_kafka.Producer({"bootstrap.servers": sys.argv[1]})
for key, value in json.load(sys.stdin):
    producer.produce(sys.argv[2], key=bytes.fromhex(key), value=bytes.fromhex(value))
sys.exit(producer.flush(60))
"""


def letters(bootstrap, topic, records):
    """Writes records, pairs of key and value, as any client may. Debian's Python has Debian's client of Kafka."""
    given = json.dumps([[key.hex(), value.hex()] for key, value in records])
    subprocess.run(["/usr/bin/python3", "-c", PRODUCE, bootstrap, topic], input=given, text=True, check=True)


def request(identity, user="alice", **members):
    """A request of which one attempt is made."""
    return {"id": identity, "audience": {"users": [user]}, "message": {"title": "Order shipped", "body": "It is on its way"},
            "platforms": ["apple"], "options": {"max_attempts": 1}} | members


class Way:
    """The page's way to the gateway: what is taken where the browser is goes on from here. It can be cut, and counts what passes."""

    def __init__(self, base, listener):
        self.target = urllib.parse.urlsplit(base)
        self.listener = listener
        self.base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.open = set()
        self.lock = threading.Lock()
        self.isCut = False
        self.bytes = 0
        self.requests = []  # the first line of each call
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                page, _ = self.listener.accept()
                if self.isCut:
                    page.close()
                    continue
                try:
                    gateway = socket.create_connection((self.target.hostname, self.target.port or 80))
                except OSError:
                    page.close()
                    continue
                with self.lock:
                    self.open |= {page, gateway}
                for ends in (page, gateway), (gateway, page):
                    threading.Thread(target=self.pass_on, args=(*ends, page), daemon=True).start()

    def pass_on(self, source, sink, page):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.bytes += len(data)
                if source is page and (line := re.match(rb"[A-Z]+ (\S+) HTTP/1\.1\r\n", data)):
                    self.requests.append(line[0].decode(errors="replace").strip())
                sink.sendall(data)
        self.end(source, sink)

    def end(self, *ends):
        with self.lock:
            self.open -= set(ends)
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self):
        """Ends every connection; new ones are hung up on until `mend`."""
        self.isCut = True
        self.end(*list(self.open))

    def mend(self):
        self.isCut = False

    def close(self):
        self.cut()
        self.listener.close()
