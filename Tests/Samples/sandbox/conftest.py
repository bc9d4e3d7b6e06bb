"""For pytest: a sandbox of pushfan for all tests of a run. PUSHFAN is the program, if it is not in the PATH."""
import json, os, subprocess, urllib.error, urllib.request

import pytest


class Sandbox:
    def __init__(self):
        command = [os.environ.get("PUSHFAN", "pushfan"), "sandbox", "-o", "json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()  # comes when all is ready
        if not line:
            raise RuntimeError("pushfan sandbox does not start")
        said = json.loads(line)
        self.gateway, self.key, self.hub = said["gateway"], said["key"], said["hub"]
        self.gateway_faults, self.hub_faults = said["gateway_faults"], said["hub_faults"]

    def ask(self, method, url, body=None):
        """The JSON of an answer."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=40) as answer:
            return json.loads(answer.read() or "null")

    def register(self, device, user, handle):
        self.ask("PUT", f"{self.gateway}/v1/installations/{device}", {"platform": "apns", "handle": handle, "user": user})

    def result(self, id):
        """What became of a request, once that is known."""
        return self.ask("GET", f"{self.gateway}/v1/requests/{id}?wait=20")["state"]

    def rings(self, user, text):
        """How often a text rang on the devices of a user."""
        devices = self.ask("GET", f"{self.hub}/devices?tag=username:{user}")
        return sum(text in ring["body"] for device in devices for ring in device["rung"])


@pytest.fixture(scope="session")
def running_sandbox():
    sandbox = Sandbox()
    yield sandbox
    sandbox.process.terminate()
    sandbox.process.wait()


@pytest.fixture
def sandbox(running_sandbox):
    """The sandbox without the faults of the test before."""
    for faults in running_sandbox.gateway_faults, running_sandbox.hub_faults:
        running_sandbox.ask("PUT", faults, [])
    return running_sandbox
