"""What every case on the page needs: a browser that is signed in, the API beside it, and claims."""

import contextlib
import http.client
import json
import re
import socket
import threading
import time
import urllib.parse

from browser import wait
from claims import FAR
from pagestage import API, Way, request
from stage import timestamp

# The claims in the order in which they are tried: of each its name, what does it, and which messages of the console it calls for.
cases = {}

# What an exported function of a file of the page makes of its arguments.
MADE = """
const [name, made, ...given] = arguments
return import(new URL(`ui/${name}`, location.href)).then((file) => file[made](...given))"""


def case(claim, *expected):
    """Declares a case. `expected` are patterns of messages in the console that its steps call forth."""
    def declare(run):
        cases[run.__name__] = (claim, run, expected)
        return run
    return declare


def check(condition, claim):
    if not condition:
        raise AssertionError(claim)


def equal(found, expected, claim):
    check(found == expected, f"{claim}: expected {expected!r}, found {found!r}")


def screen_of(place):
    """The name of the screen at a fragment."""
    name, _, identity = place.split("?")[0].partition("/")
    return name if not identity else "plan" if identity == "new" else {"requests": "request", "replays": "replay"}[name]


class Trial:
    def __init__(self, browser, way, base, keys, fault, stage):
        self.browser, self.way, self.base, self.keys = browser, way, base, keys
        self.key, self.api = keys["all"], API(base, keys["all"])
        # The stage is None where the gateway is somebody else's.
        self.fault, self.stage = fault, stage
        self.unique = f"{int(time.time()):x}"
        self.number = 0
        self.signed = self.shots = None

    # Signing in, and screens.

    def visit(self, place):
        """Loads the page anew at a fragment."""
        self.browser.get("about:blank")
        self.browser.get(f"{self.way.base}/ui#/{place}")

    def sign_in(self, key, place="overview"):
        if self.signed:
            self.browser.get("about:blank")
            self.browser.cdp("Network.clearBrowserCookies")  # of every address
        self.visit(place)
        field = self.browser.await_element("input[name=key]")
        field.click()
        field.send_keys(key)
        self.browser.keys("Enter")
        self.signed = key
        self.ready(screen_of(place), "sign-in")

    def messages(self):
        """What the console has said since the last call. Chromium's own pages are none of ours."""
        return [line for line in self.browser.log() if not line.startswith("chrome://")]

    def open(self, place="overview", key=None):
        """Loads a screen for a key; returns once its data are there."""
        key = key or self.key
        if self.signed == key:
            self.visit(place)
        else:
            self.sign_in(key, place)
        return self.ready(screen_of(place))

    def ready(self, screen, *others):
        """Returns once one of these screens has its data."""
        return self.browser.await_element(", ".join(f"main[data-screen={one}][data-ready=true]" for one in (screen, *others)))

    def places(self):
        """A place of each screen, those of one request and one replay included."""
        newest = self.api.get("/v1/requests", limit=1)["items"][0]["id"]
        return ["overview", "failures", "requests", f"requests/{newest}", "replays", f"replays/{self.some_plan()}", "holds",
                "deadletters"]

    def some_plan(self):
        found = self.api.get("/v1/replays", limit=20)["items"]
        if found:
            return found[0]["id"]
        self.fail(1)
        return self.plan("state:failed since:1h", "to look at")

    # What happens beside the page.

    @contextlib.contextmanager
    def at(self, base):
        """The page and the API are those of another gateway for as long as it is entered."""
        before = self.way, self.base, self.api
        self.way = Way(base, self.browser.inside(socket.create_server, ("127.0.0.1", 0)))
        self.base, self.api, self.signed = base, API(base, self.key), None
        try:
            yield
        finally:
            self.browser.get("about:blank")
            self.way.close()
            self.way, self.base, self.api = before
            # Signing out of one has lost the cookies of both.
            self.signed = "nobody"

    def name(self, prefix):
        self.number += 1
        return f"{prefix}-{self.unique}-{self.number}"

    def fail(self, count, **members):
        """Requests that fail; returns their ids once the API counts them. As many succeed, so that no circuit opens."""
        names = [self.name("failing") for _ in range(count)]
        self.fault("status=500,tags=username:bob")
        before = self.open_failures()
        for name in names:
            # One after the other: each worker sees failures and successes in turns.
            self.api.publish([request(name, "bob", **{"hub": "south"} | members), request(self.name("fine"), hub="south")])
            wait(lambda: self.state(name) == "failed", f"{name} fails")
        wait(lambda: self.open_failures() >= before + count, f"{count} failures are counted")
        self.fault(None)
        return names

    def cancelled(self, count):
        """Makes so many requests that were cancelled; returns a filter for them. A replay sends them with `not_before=null`."""
        label = self.name("wide")
        names = [f"{label}-{number}" for number in range(count)]
        far = timestamp((time.time() + 3600) * 1000)
        batch = [request(one, not_before=far, labels={"campaign": label}) for one in names]
        for begin in range(0, count, 600):
            self.api.publish(batch[begin:begin + 600])
        for one in names:
            status, said = self.api.call("POST", f"/v1/requests/{one}:cancel", {"reason": "too early"})
            check(status < 300, f"{one} is cancelled: {status} {said}")
        matched = f"state:cancelled label.campaign:{label} since:1h"
        wait(lambda: self.total(matched) == count, "all are cancelled")
        return matched

    def plan(self, matched, reason, **more):
        """Plans a replay; returns its id."""
        status, plan = self.api.call("POST", "/v1/replays", {"filter": matched, "reason": reason, **more})
        check(status in (201, 202), f"a plan: {status} {plan}")
        wait(lambda: self.job(plan["id"])["state"] == "planned", "it is planned")
        return plan["id"]

    def job(self, identity, **query):
        return self.api.get(f"/v1/replays/{identity}", **query)

    def state(self, name):
        return self.api.call("GET", f"/v1/requests/{urllib.parse.quote(name, safe='')}")[1].get("state")

    def total(self, matched):
        """How many results a filter selects."""
        count, cursor = 0, {}
        while cursor is not None:
            found = self.api.get("/v1/requests", filter=matched, limit=500, **cursor)
            count += len(found["items"])
            cursor = {"cursor": found["next"]} if found.get("next") else None
        return count

    def open_failures(self):
        return self.api.failures()["open"]

    @contextlib.contextmanager
    def traffic(self):
        """Requests of one user at a rate that changes all the time, for as long as it is entered."""
        over = threading.Event()

        def publish():
            count = 1
            while not over.wait(0.2):
                self.api.publish([request(self.name("live")) for _ in range(count)])
                count = count % 40 + 1
        thread = threading.Thread(target=publish)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def events(self):
        """The fleet's events as another subscriber gets them."""
        place = urllib.parse.urlsplit(self.base)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=FAR)
        connection.request("GET", "/v1/status/events", headers={"Authorization": f"Bearer {self.key}"})
        answer = connection.getresponse()
        try:
            while line := answer.readline():
                if line.startswith(b"event: fleet"):
                    yield line
        finally:
            connection.close()

    def pass_events(self, count):
        """Returns once the fleet has reported so many times."""
        for _, _ in zip(range(count), self.events()):
            pass

    # What is on the page.

    def shown(self, css):
        """The text of what may not be on screen, such as a row far below."""
        return self.browser.script("return document.querySelector(arguments[0])?.textContent ?? null", css)

    def count(self, css):
        """A number on the page, however it is grouped."""
        text = self.shown(css)
        digits = re.sub(r"[^0-9]", "", text or "")
        return int(digits) if digits else None

    def live(self):
        """All that moves."""
        return self.browser.script("return [...document.querySelectorAll('[data-live] [data-metric], [data-live][data-metric]')]"
                                   ".map((node) => node.dataset.metric + ' ' + node.textContent)")

    def focus(self, css, most=150):
        """Moves the focus by Tab until it is on such an element."""
        for _ in range(most):
            if self.browser.script("return document.activeElement.matches(arguments[0])", css):
                return
            self.browser.keys("Tab")
        raise AssertionError(f"Tab does not reach {css}")

    def text(self):
        """All that the screen says."""
        return self.shown("main") or ""

    def fill(self, css, text):
        """Types into a field in place of what it has."""
        field = self.browser.await_element(css)
        field.clear()
        field.send_keys(text)

    def choose(self, css, value):
        self.browser.await_element(f"{css} option[value='{value}']").click()

    def press(self, css):
        """Clicks what is there and can be used."""
        wait(lambda: (found := self.browser.find(css)) and found.is_enabled() and (found.click() or True), f"{css} can be pressed")

    def place(self):
        return self.browser.script("return location.hash")

    def document(self):
        return json.dumps(self.browser.script("return [document.documentElement.outerHTML, location.href, {...localStorage}, {...sessionStorage}]"))
