"""Chromium without a window, driven by Selenium, which Debian has as python3-selenium. It runs in a network of its own where that is allowed,
so that it reaches nothing but what is served to it there."""

import base64
import concurrent.futures
import contextlib
import ctypes
import fcntl
import os
import pathlib
import shutil
import socket
import struct
import sys
import tempfile

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chromium.remote_connection import ChromiumRemoteConnection
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.file_detector import UselessFileDetector

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
from claims import FAR, until  # noqa: E402
from programs import Program, run  # noqa: E402

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # netdevice(7)
CLONE_NEWNET = 0x40000000  # unshare(2)
KEYS = {"Tab": Keys.TAB, "Enter": Keys.ENTER, "Shift": Keys.SHIFT, "Escape": Keys.ESCAPE, "ArrowUp": Keys.ARROW_UP, "ArrowDown": Keys.ARROW_DOWN}
# All processes of what it runs end with it.
APART = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
ARGUMENTS = ["--headless=new", "--window-size=1280,900", "--disable-dev-shm-usage", "--no-first-run", "--disable-gpu",
             "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb", "--lang=en"]
ChromiumRemoteConnection.set_timeout(2 * FAR)


def enter_network():
    """Gives the calling thread a network of one interface, which is up. Returns whether that is allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        return False
    with socket.socket() as any_socket:
        name = b"lo".ljust(16, b"\0")
        flags, = struct.unpack("16xh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, name + bytes(16)))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, name + struct.pack("h14x", flags | IFF_UP))
    return True


def wait(condition, claim, limit=60):
    """The first value of a condition that is true. Elements that are replaced meanwhile are looked for again."""
    def found():
        with contextlib.suppress(KeyError, StaleElementReferenceException, NoSuchElementException):
            return condition()
    return until(found, claim, limit=limit)


class Browser(webdriver.Remote):
    """All that it starts ends with it, also when this process is killed."""

    def __init__(self):
        with contextlib.ExitStack() as made:
            # Chromium makes a socket below it, whose path has 107 bytes at most (unix(7)).
            self.folder = pathlib.Path(made.enter_context(
                tempfile.TemporaryDirectory(prefix="pushfan-page-", ignore_cleanup_errors=True, dir="/tmp")))
            # One thread: the network belongs to it, and so do processes that end when it does.
            self.thread = made.enter_context(concurrent.futures.ThreadPoolExecutor(1))
            self.isOffline = self.inside(enter_network)
            driver = self.inside(self.start_driver)
            made.callback(driver.kill)
            port = driver.find(r"started successfully on port (\d+)")[1]
            options = webdriver.ChromeOptions()
            options.binary_location = shutil.which("chromium")
            for one in [*ARGUMENTS, f"--user-data-dir={self.folder}/profile", *(["--no-sandbox"] if os.getuid() == 0 else [])]:
                options.add_argument(one)
            options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
            server = ChromiumRemoteConnection(f"http://127.0.0.1:{port}", "goog", "chrome", ignore_proxy=True)
            super().__init__(server, options=options, file_detector=UselessFileDetector())
            self.made = made.pop_all()

    def start_driver(self):
        environment = os.environ | {"HOME": str(self.folder), "TMPDIR": str(self.folder), "TZ": "Europe/Berlin"}
        apart = APART if run(*APART, "true").returncode == 0 else []
        return Program(*apart, shutil.which("chromedriver"), "--port=0", log=self.folder / "driver.log", environment=environment)

    def quit(self):
        with self.made, contextlib.suppress(Exception):  # it may have ended by itself
            super().quit()

    def inside(self, work, *arguments):
        """Does something where the browser is."""
        return self.thread.submit(work, *arguments).result()

    def execute(self, driver_command, params=None):
        return self.inside(super().execute, driver_command, params)

    # The page.

    def all(self, css):
        return self.find_elements(By.CSS_SELECTOR, css)

    def find(self, css):
        """The first of these elements, or None."""
        return next(iter(self.all(css)), None)

    def await_element(self, css):
        return wait(lambda: self.find(css), f"the page has {css}")

    def script(self, text, *arguments):
        """What the body of a function returns."""
        return self.execute_script(text, *arguments)

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
        self.execute(Command.W3C_ACTIONS, {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    # What is around it.

    def log(self):
        """What the console has said since the last call, reports of the content security policy included."""
        return [entry["message"] for entry in self.get_log("browser")]

    def cdp(self, method, **parameters):
        return self.execute("executeCdpCommand", {"cmd": method, "params": parameters})["value"]

    def emulate(self, **features):
        """Media features, such as prefers_color_scheme="dark"; those not named are as they are here."""
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def screenshot(self, path, whole=False):
        """What is in the window, or all of the page."""
        data = self.cdp("Page.captureScreenshot", captureBeyondViewport=True)["data"] if whole else self.get_screenshot_as_base64()
        pathlib.Path(path).write_bytes(base64.b64decode(data))
