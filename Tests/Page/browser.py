"""A W3C WebDriver client for Chromium: https://www.w3.org/TR/webdriver2/, with the extensions of ChromeDriver for its console and CDP.

Chromium runs in a network of its own where that is allowed, so that it reaches nothing but what is served to it there."""

import base64
import concurrent.futures
import contextlib
import ctypes
import fcntl
import http.client
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # netdevice(7)
CLONE_NEWNET = 0x40000000  # unshare(2)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the name of an element's id, WebDriver section 12
# Seconds. Nothing takes nearly as long.
FAR = 60
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Escape": "\ue00c", "ArrowUp": "\ue013", "ArrowDown": "\ue015"}
# Ends with what started it, and all of its processes end with it.
KEPT = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


class DriverError(Exception):
    """What ChromeDriver answers in place of a value."""

    def __init__(self, value):
        super().__init__(f"{value['error']}: {value['message'].splitlines()[0][:300]}")
        self.code = value["error"]


class Late(AssertionError):
    """Something did not come about."""


def enter_network():
    """Gives the calling thread a network of one interface, which is up. Raises OSError where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no network of its own")
    with socket.socket() as any_socket:
        name = b"lo".ljust(16, b"\0")
        flags, = struct.unpack("16xh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, name + bytes(16)))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, name + struct.pack("h14x", flags | IFF_UP))


def wait(until, claim, seconds=FAR):
    """The first value of `until` that is true. Elements that are replaced meanwhile are looked for again."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(KeyError):
            try:
                if value := until():
                    return value
            except DriverError as error:
                if error.code not in ("stale element reference", "no such element"):
                    raise
        if time.monotonic() > deadline:
            raise Late(f"not within {seconds} s: {claim}")
        time.sleep(0.05)


class Element:
    def __init__(self, browser, identity):
        self.browser, self.identity = browser, identity

    def __eq__(self, other):
        return isinstance(other, Element) and self.identity == other.identity

    def ask(self, path):
        return self.browser.ask("GET", f"/element/{self.identity}/{path}")

    def click(self):
        self.browser.ask("POST", f"/element/{self.identity}/click", {})

    def type(self, text):
        self.browser.ask("POST", f"/element/{self.identity}/value", {"text": text})

    def attribute(self, name):
        return self.ask(f"attribute/{name}")

    def find(self, css):
        found = self.browser.ask("POST", f"/element/{self.identity}/elements", {"using": "css selector", "value": css})
        return Element(self.browser, found[0][ELEMENT]) if found else None

    text = property(lambda self: self.ask("text"))
    role = property(lambda self: self.ask("computedrole"))
    label = property(lambda self: self.ask("computedlabel"))
    isEnabled = property(lambda self: self.ask("enabled"))
    isShown = property(lambda self: self.ask("displayed"))


class Browser:
    """A Chromium without a window. All that it starts ends with it, also when this process is killed."""

    def __init__(self):
        # Chromium makes a socket below it, whose path has 107 bytes at most (unix(7)).
        self.folder = tempfile.TemporaryDirectory(prefix="pushfan-page-", ignore_cleanup_errors=True, dir="/tmp")
        # One thread: the network belongs to it, and so do processes that end when it does.
        self.thread = concurrent.futures.ThreadPoolExecutor(1)
        self.process = self.session = self.connection = None
        self.isOffline = self.inside(self.try_to_enter_network)
        try:
            self.port = self.inside(free_port)
            self.process = self.inside(self.start_driver)
            self.session = self.begin_session()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def inside(self, work, *arguments):
        """Does something where the browser is."""
        return self.thread.submit(work, *arguments).result()

    @staticmethod
    def try_to_enter_network():
        try:
            enter_network()
        except OSError:
            return False
        return True

    def start_driver(self):
        kept = KEPT if subprocess.run([*KEPT, "true"], capture_output=True, check=False).returncode == 0 else KEPT[:3]
        folder = pathlib.Path(self.folder.name)
        with open(folder / "driver.log", "wb") as log:
            return subprocess.Popen(
                [*kept, shutil.which("chromedriver"), f"--port={self.port}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=os.environ | {"HOME": str(folder), "TMPDIR": str(folder), "TZ": "Europe/Berlin"}, start_new_session=True)

    def begin_session(self):
        arguments = ["--headless=new", "--window-size=1280,900", "--disable-dev-shm-usage", "--no-first-run", "--disable-gpu",
                     "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb", "--lang=en",
                     f"--user-data-dir={self.folder.name}/profile"]
        if os.getuid() == 0:
            arguments.append("--no-sandbox")
        options = {"binary": shutil.which("chromium"), "args": arguments}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}

        def begun():
            if self.process.poll() is not None:
                raise Late(f"chromedriver ended: {(pathlib.Path(self.folder.name) / 'driver.log').read_text()[-500:]}")
            with contextlib.suppress(ConnectionError):
                return self.inside(self.exchange, "POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        return wait(begun, "chromedriver takes calls")["sessionId"]

    def close(self):
        with contextlib.suppress(DriverError, OSError, http.client.HTTPException):
            if self.session:
                self.ask("DELETE", "")
        if self.process:
            self.process.kill()
            self.process.wait()
        self.thread.shutdown()
        self.folder.cleanup()

    def exchange(self, method, path, body):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2 * FAR)
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
            value = json.load(self.connection.getresponse())["value"]
        except BaseException:
            self.connection.close()
            self.connection = None
            raise
        if isinstance(value, dict) and "error" in value:
            raise DriverError(value)
        return value

    def ask(self, method, path, body=None):
        """One command of the session."""
        return self.inside(self.exchange, method, f"/session/{self.session}{path}", body)

    # The page.

    def go(self, url):
        self.ask("POST", "/url", {"url": url})

    def all(self, css):
        found = self.ask("POST", "/elements", {"using": "css selector", "value": css})
        return [Element(self, one[ELEMENT]) for one in found]

    def find(self, css):
        """The first of these elements, or None."""
        return next(iter(self.all(css)), None)

    def await_element(self, css, seconds=FAR):
        return wait(lambda: self.find(css), f"the page has {css}", seconds)

    def script(self, text, *arguments):
        """What the body of a function returns."""
        return self.ask("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def focused(self):
        return Element(self, self.ask("GET", "/element/active")[ELEMENT])

    def keys(self, *names):
        """Presses keys one after another: those of KEYS by name, and each character of any other text. `Shift+Tab` holds one down."""
        actions = []
        for name in names:
            *held, last = name.split("+") if len(name) > 1 else [name]
            down = [KEYS[one] for one in held]
            pressed = [KEYS[last]] if last in KEYS else list(last)
            actions += [{"type": "keyDown", "value": one} for one in down]
            actions += [{"type": kind, "value": one} for one in pressed for kind in ("keyDown", "keyUp")]
            actions += [{"type": "keyUp", "value": one} for one in down]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    # What is around it.

    def log(self):
        """What the console has said since the last call, reports of the content security policy included."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def cookies(self):
        return self.ask("GET", "/cookie")

    def forget_cookies(self):
        """Of every address."""
        self.cdp("Network.clearBrowserCookies")

    def cdp(self, method, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": method, "params": parameters})

    def emulate(self, **features):
        """Media features, such as prefers_color_scheme="dark"; those not named are as they are here."""
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def resize(self, width, height=900, scale=1):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def screenshot(self, path, whole=False):
        """What is in the window, or all of the page."""
        if whole:
            data = self.cdp("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        else:
            data = self.ask("GET", "/screenshot")
        pathlib.Path(path).write_bytes(base64.b64decode(data))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
