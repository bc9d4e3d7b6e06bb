#!/usr/bin/env python3
"""Receives callbacks for a test script, and verifies each with `standardwebhooks` and the SDK of CloudEvents.

    receiver.py [--certificate FILE --key FILE]

Says its port on the first line. What is posted to /NAME belongs to the receiver of that name. By `PUT /-/NAME` it is told what to do with
calls from now on, as JSON: `secrets` (those that it accepts), `do` (`take`, `hang`, `cut`, `large`, `redirect`, or a status), `wait`
(milliseconds before an answer), `retry_after` (seconds), `times` (calls until it takes again). `GET /-/NAME?from=N` gives what came since the
N-th: id, whether it was verified and was taken, the status, the body, the media type, and the time. `GET /-/` gives the number of
connections."""

import argparse
import http.server
import json
import pathlib
import ssl
import threading
import time
import urllib.parse

from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from cloudevents.core.formats.json import JSONFormat
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

LARGE = 1_000_000
HANG = 600  # seconds


class Orders:
    """What a receiver does, and what came to it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.secrets, self.do, self.wait, self.retry_after, self.times = [], "take", 0, None, None
        self.came = []

    def next(self):
        """What to do with the call that has come, and how long to wait before."""
        with self.lock:
            do = self.do
            if self.times is not None:
                self.times -= 1
                if self.times <= 0:
                    self.do, self.times = "take", None
            return do, self.wait, self.retry_after


receivers = {}
connections = [0]
released = threading.Event()


def receiver(name):
    return receivers.setdefault(name, Orders())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120

    def log_message(self, *_):
        pass

    def setup(self):
        connections[0] += 1
        super().setup()

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        name = address.path.removeprefix("/-/")
        if not name:
            return self.answer(200, json.dumps({"connections": connections[0]}).encode())
        first = int(urllib.parse.parse_qs(address.query).get("from", ["0"])[0])
        with receiver(name).lock:
            found = receiver(name).came[first:]
        return self.answer(200, json.dumps(found).encode())

    def do_PUT(self):
        wishes, told = json.loads(self.body()), receiver(self.path.removeprefix("/-/"))
        with told.lock:
            told.do, told.wait, told.retry_after, told.times = "take", 0, None, None
            for name, value in wishes.items():
                setattr(told, name, value)
        released.set()
        released.clear()
        self.answer(204)

    def do_POST(self):
        name, body = self.path.lstrip("/").partition("?")[0], self.body()
        told = receiver(name)
        do, wait, retry_after = told.next()
        entry = {
            "id": self.headers.get("webhook-id"), "time": time.time(), "type": self.headers.get("Content-Type"),
            "verified": self.verify(told.secrets, body), "event": self.event(body), "taken": do in ("take", "large"), "do": do,
            "body": body.decode(errors="replace"), "path": self.path}
        with told.lock:
            told.came.append(entry)
        if wait:
            released.wait(wait / 1000)
        if do == "take":
            return self.answer(204 if entry["verified"] else 401)
        if do == "hang":
            released.wait(HANG)
            self.close_connection = True
            return None
        if do == "cut":
            self.connection.close()
            self.close_connection = True
            return None
        if do == "large":
            return self.answer(200, b"x" * LARGE)
        if do == "redirect":
            return self.answer(302, Location=f"http://127.0.0.1:{self.server.server_port}/inside")
        return self.answer(int(do), **({"Retry_After": retry_after} if retry_after is not None else {}))

    def verify(self, secrets, body):
        """True if one of the secrets has signed it."""
        for secret in secrets:
            try:
                Webhook(secret).verify(body, dict(self.headers))
                return True
            except WebhookVerificationError:
                continue
        return False

    def event(self, body):
        """The attributes of a structured event, None for what is none, and the fault of a wrong one."""
        if not (self.headers.get("Content-Type") or "").startswith("application/cloudevents+json"):
            return None
        try:
            event = from_structured_event(HTTPMessage(dict(self.headers.items()), body), JSONFormat())
            return {name: str(value) for name, value in event.get_attributes().items()} | {"data": event.get_data()}
        except Exception as error:  # noqa: BLE001 the script is told whatever it is
            return {"fault": f"{type(error).__name__}: {error}"}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass  # a caller that has gone


def main():
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("--certificate", type=pathlib.Path)
    options.add_argument("--key", type=pathlib.Path)
    given = options.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    if given.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(given.certificate, given.key)
        # Not at once, or one who connects and says nothing would hold all others up.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
