"""A stage with a gateway, and the calls that apps make to it."""

import asyncio
import base64
import collections
import json
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

from stage import Stage, processor_seconds

CONTENT_TYPE = "Content-Type: application/json\r\n"


class GatewayStage(Stage):
    """A stage with a gateway, where everybody signs in whose password is the name."""

    def __init__(self, bootstrap, settings=None):
        served = {"PUSHFAN_GATEWAY_DEMO_AUTH": "true", "PUSHFAN_GATEWAY_LISTEN": "127.0.0.1:0"}
        super().__init__("gateway", bootstrap, served | (settings or {}))
        self.gateway = None
        self.port = self.probes = 0

    def start(self, *hub, record="off", worker=None):
        """Starts all of it; returns when a send to nobody's devices is answered 200."""
        self.make_topics()
        self.start_hub(*hub, record=record)
        self.start_worker(worker)
        log = self.work / "gateway.log"
        with open(log, "wb") as file:
            self.gateway = subprocess.Popen(
                [self.program, "gateway"], env=self.environment | {"PUSHFAN_LOG_LEVEL": "info"}, stdout=file, stderr=file)
        self.gateways.append(self.gateway)
        self.port = self.address(log, "apps are served")
        self.probes = self.address(log, "probes and metrics are served")
        deadline = time.monotonic() + 60
        while asyncio.run(call(self.port, "POST", "/api/notifications", "nobody")).status != 200:
            if time.monotonic() > deadline:
                sys.exit("nothing could be sent within 60 s")
            time.sleep(0.2)

    def address(self, log, words):
        """The port in the line of the log that has the words."""
        for _ in range(200):
            for line in log.read_text(encoding="utf-8").splitlines():
                if words in line and (found := re.search(r"127\.0\.0\.1:(\d+)", line)):
                    return int(found.group(1))
            if self.gateway.poll() is not None:
                break
            time.sleep(0.1)
        sys.exit(f"the gateway did not start:\n{log.read_text(encoding='utf-8')}")

    def metric(self, name):
        """The sum of the gateway's series of a name."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.probes}/metrics", timeout=30) as page:
            lines = page.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(name + r"[ {]", line))

    def hub_calls(self):
        return self.metric("pushfan_gateway_hub_calls_total")

    def devices(self):
        """The hub's devices, by their users' tags."""
        hub = re.search(r"Endpoint=(http://[^/;]+)/", self.environment["PUSHFAN_HUB_CONNECTION_STRING"]).group(1)
        with urllib.request.urlopen(f"{hub}/devices", timeout=60) as page:
            found = json.load(page)
        return {tag: device for device in found for tag in device["tags"] if tag.startswith("username:")}

    def users(self, count):
        """A file of devices for the hub, one for each of `count` users u0, u1, …"""
        path = self.work / "devices.json"
        path.write_text(json.dumps([
            {"installationId": f"i{number}", "platform": "apns", "pushChannel": f"{number:064X}", "tags": [f"username:u{number}"]}
            for number in range(count)]))
        return path

    def memory(self):
        """What the gateway has in memory, in MiB, and its threads."""
        status = pathlib.Path(f"/proc/{self.gateway.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024, int(re.search(r"Threads:\s+(\d+)", status).group(1))

    def used(self):
        """Seconds of processor time that the gateway has used."""
        return processor_seconds(self.gateway.pid)


class IndexedStage(GatewayStage):
    """A stage with many results, gateways with and without an index, and a key that may do everything."""

    def __init__(self, bootstrap):
        super().__init__(bootstrap)
        keys = self.work / "keys"
        self.environment |= {"PUSHFAN_GATEWAY_KEYS_FILE": str(keys), "PUSHFAN_GATEWAY_LISTEN": "127.0.0.1:0"}
        self.key = self.command(
            "keys", "create", "--file", keys, "--scope", "publish,read,read:payload,replay").strip().splitlines()[0]

    def fill(self, results, failures):
        """Has a worker make results, so many of them failures."""
        self.make_topics()
        self.start_hub()
        self.start_worker()
        step, done = 250_000, 0
        every = max(1, results // max(1, failures))
        while done < results:
            numbers = range(done, min(done + step, results))
            self.publish({
                "id": f"r{number}", "hub": "nowhere" if number % every == 0 else "bench", "audience": {"users": [f"u{number}"]},
                "message": {"title": "Hi"}, "labels": {"campaign": f"c{number % 1000}"}} for number in numbers)
            done = numbers.stop
        # A hub that is not known may become known, so its requests wait for a while.
        while sum(json.loads(self.command("status", "-o", "json", allowed=(0, 1, 6)))[kind] for kind in ("lag_records", "delayed_records")):
            time.sleep(1)
        self.workers[0].terminate()
        self.workers.pop().wait(60)

    def wait_for_index(self, port):
        """The index's state, once it has caught up."""
        while (index := self.ask(port, "/v1/status")[0]["index"])["state"] != "current":
            time.sleep(0.5)
        return index

    def serve(self, name, state=None):
        """Starts a gateway; returns its port."""
        log = self.work / f"{name}.log"
        more = {"PUSHFAN_LOG_LEVEL": "info"} | ({"PUSHFAN_GATEWAY_STATE_DIR": str(state)} if state else {})
        with open(log, "wb") as file:
            self.gateway = subprocess.Popen([self.program, "gateway"], env=self.environment | more, stdout=file, stderr=file)
        self.gateways.append(self.gateway)
        return self.address(log, "apps are served")

    def ask(self, port, target, body=None):
        """The answer's JSON, and the milliseconds that it took."""
        begun = time.perf_counter()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{target}", json.dumps(body).encode() if body is not None else None,
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            found = json.load(answer)
        return found, (time.perf_counter() - begun) * 1000


Answer = collections.namedtuple("Answer", "status body begun ended")


async def call(port, method, target, user, body=None, begun=None):
    """One call of an app, on a connection of its own. The times are those of `time.time`; status 0 stands for no answer."""
    begun = begun or time.time()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return Answer(0, b"", begun, time.time())
    try:
        return await exchange(reader, writer, method, target, user, body, begun)
    finally:
        writer.close()


async def exchange(reader, writer, method, target, user, body, begun):
    content = (body or "").encode()
    token = base64.b64encode(f"{user}:{user}".encode()).decode()
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic {token}\r\n{CONTENT_TYPE if content else ''}"
                 f"Content-Length: {len(content)}\r\n\r\n".encode() + content)
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"(?i)\r\ncontent-length: *(\d+)", head)
        text = await reader.readexactly(int(length.group(1)) if length else 0)
    except (OSError, asyncio.IncompleteReadError):
        return Answer(0, b"", begun, time.time())
    return Answer(int(head.split()[1]), text, begun, time.time())


def notify(user):
    return f"/api/notifications?pns=apns&to_tag={user}"


async def open_loop(port, count, rate, user):
    """Sends `count` times, `rate` a second whatever comes of it, to the users that `user` names."""
    start = time.time() + 0.1

    async def send(number):
        due = start + number / rate
        await asyncio.sleep(max(0, due - time.time()))
        return await call(port, "POST", notify(user(number)), "sender", '"Hello"', begun=due)

    return await asyncio.gather(*(send(number) for number in range(count)))
