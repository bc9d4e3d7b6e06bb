"""A stage with a gateway, and the calls that apps make to it."""

import asyncio
import base64
import collections
import json
import re
import time

from stage import Program, Stage, megabytes, processor_seconds, status, until
from web import ask, ask_all

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
        self.port = self.serve()
        self.probes = self.gateway.address("probes and metrics are served").rpartition(":")[2]
        until(lambda: asyncio.run(call(self.port, "POST", "/api/notifications", "nobody")).status == 200, "something is sent", pause=0.2)

    def serve(self, name="gateway", **settings):
        """Starts a gateway; returns its port. Settings that are None are left out."""
        given = self.environment | {"PUSHFAN_LOG_LEVEL": "info"} | settings
        self.gateway = Program(self.program, "gateway", log=self.work / f"{name}.log",
                               environment={key: value for key, value in given.items() if value is not None})
        self.gateways.append(self.gateway)
        return int(self.gateway.address("apps are served").rpartition(":")[2])

    def metric(self, name):
        """The sum of the gateway's series of a name."""
        lines = ask(f"http://127.0.0.1:{self.probes}/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(name + r"[ {]", line))

    def hub_calls(self):
        return self.metric("pushfan_gateway_hub_calls_total")

    def devices(self):
        """The hub's devices, by their users' tags."""
        found = ask_all(f"{self.hubs[0].address}/devices")
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
        return megabytes(self.gateway, "VmRSS"), status(self.gateway, "Threads")

    def used(self):
        """Seconds of processor time that the gateway has used."""
        return processor_seconds(self.gateway)


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
        def rests():
            found = json.loads(self.command("status", "-o", "json", allowed=(0, 1, 6)))
            return not found["lag_records"] + found["delayed_records"]
        until(rests, "the worker has nothing to do", limit=3600, pause=1)
        self.workers.pop().end(60)

    def wait_for_index(self, port):
        """The index's state, once it has caught up."""
        return until(lambda: (index := self.ask(port, "/v1/status")[0]["index"])["state"] == "current" and index, "the index", limit=3600, pause=0.5)

    def ask(self, port, target, body=None):
        """The answer's JSON, and the milliseconds that it took."""
        begun = time.perf_counter()
        answer = ask(f"http://127.0.0.1:{port}{target}", body, Authorization=f"Bearer {self.key}")
        if answer.status not in (200, 201, 202):
            raise AssertionError(f"{target}: {answer.status} {answer.text}")
        return answer.json, (time.perf_counter() - begun) * 1000


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
