"""Hubs of one's own in a folder, whoever calls them, what their records say, and their files, for a test script."""

import base64
import collections
import contextlib
import hashlib
import hmac
import http.client
import itertools
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import threading
import time
import typing
import urllib.parse

from claims import FAR, until
from programs import Program, free_port, run
from web import Answer

SPACE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
ATOM = "http://www.w3.org/2005/Atom"
TERMINAL = {"Completed", "NoTargetFound", "Abandoned", "Canceled", "Cancelled"}
CONFIGURATION = 78  # the exit status
SECRETS = set()  # what no program may tell
IDLE = 1  # seconds after which a connection is not used again
HANDLES = re.compile(r"<(?:DeviceToken|GcmRegistrationId|FcmV1RegistrationId)>([^<]+)<")


def handle(number, kind=0):
    """A token of Apple's form, in that of the hub."""
    return f"{kind:08X}{number:056X}"


def token(place, policy, key, seconds=86400):
    """A signature of access to everything below a place."""
    place, end = urllib.parse.quote(place.lower(), safe=""), int(time.time()) + seconds
    signature = base64.b64encode(hmac.digest(key.encode(), f"{place}\n{end}".encode(), hashlib.sha256)).decode()
    return f"SharedAccessSignature sr={place}&sig={urllib.parse.quote(signature, safe='')}&se={end}&skn={policy}"


def policy_of(connection):
    """Name and key of a connection string."""
    found = dict(part.split("=", 1) for part in connection.split(";") if "=" in part)
    return found["SharedAccessKeyName"], found["SharedAccessKey"]


def line(own, *tags, platform="Apple", element="DeviceToken", id=None):
    """A registration as it stands in the files of bulk jobs."""
    name = f"{platform}RegistrationDescription"
    return (f'<{name} xmlns="{SPACE}">{f"<RegistrationId>{id}</RegistrationId>" if id else ""}'
            f"<Tags>{','.join(tags)}</Tags><{element}>{own}</{element}></{name}>")


class Telemetry(typing.NamedTuple):
    """Times are texts. `counts` has the outcomes of all platforms."""

    state: str
    counts: collections.Counter
    queued: str | None
    started: str | None
    ended: str | None

    @property
    def total(self):
        return self.counts.total()


def telemetry_of(text):
    def value(name):
        found = re.search(f"<{name}>([^<]*)<", text)
        return found and found[1]
    counts = collections.Counter()
    for name, count in re.findall(r"<Outcome>\s*<Name>([^<]+)</Name>\s*<Count>(\d+)</Count>", text):
        counts[name] += int(count)
    return Telemetry(value("State"), counts, value("EnqueueTime"), value("StartTime"), value("EndTime"))


class Caller:
    """Calls a hub for one thread, over one connection that is kept, by a token of its own making."""

    def __init__(self, address, name, policy, key, limit=FAR):
        self.address, self.name, self.policy, self.key, self.limit = address, name, policy, key, limit
        # The host as the place stands for what is beside the hub's own paths, too.
        self.token = token(f"{address}/", policy, key)
        self.connection, self.used = None, 0

    def call(self, target, body=None, method=None, **headers):
        """The answer to a call without a token. Status 0 stands for none. Of a header's name, _ stands for -."""
        if body is not None and not isinstance(body, bytes | str):
            body, headers = json.dumps(body), {"Content-Type": "application/json"} | headers
        if self.connection is None or time.monotonic() - self.used > IDLE:
            self.close()
            self.connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=self.limit)
        try:
            self.connection.request(method or ("GET" if body is None else "POST"), target, body.encode() if isinstance(body, str) else body,
                                    {name.replace("_", "-"): value for name, value in headers.items()})
            answer = self.connection.getresponse()
            text = answer.read().decode(errors="replace")
            self.used = time.monotonic()
            return Answer(answer.status, text, answer.headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            return Answer(0, f"{type(error).__name__}: {error}", {})

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def ask(self, path, body=None, method=None, **headers):
        """The answer to a call below the hub's name."""
        return self.call(f"/{self.name}{path}{'&' if '?' in path else '?'}api-version=2020-06", body, method, Authorization=self.token, **headers)

    def beside(self, path, body=None, method=None, **headers):
        """The answer to a call beside the hub's name."""
        return self.call(path, body, method, Authorization=self.token, **headers)

    def put(self, name, own, tags=(), user=None, platform="apns", **more):
        """Writes an installation."""
        body = {"installationId": name, "platform": platform, "pushChannel": own, "tags": list(tags)} | more | ({"userId": user} if user else {})
        return self.ask(f"/installations/{name}", body, "PUT")

    def installation(self, name):
        """What the hub has, or None."""
        answer = self.ask(f"/installations/{name}")
        if answer.status not in (200, 404):
            raise AssertionError(f"installation {name}: {answer}")
        return json.loads(answer.text) if answer.status == 200 else None

    def register(self, own, *tags, id=None, **headers):
        """Writes a registration of Apple's. The answer has its id as `<RegistrationId>`."""
        body = f'<?xml version="1.0" encoding="utf-8"?><entry xmlns="{ATOM}"><content type="application/xml">{line(own, *tags)}</content></entry>'
        path, method = (f"/registrations/{id}", "PUT") if id else ("/registrations", "POST")
        return self.ask(path, body, method, Content_Type="application/atom+xml;type=entry;charset=utf-8", **headers)

    def pages(self, path):
        """The texts of all pages of a list."""
        token, sign = "", "&" if "?" in path else "?"
        while token is not None:
            answer = self.ask(f"{path}{sign}$top=100{f'&continuationtoken={token}' if token else ''}")
            if answer.status != 200:
                raise AssertionError(f"{path}: {answer}")
            yield answer.text
            token = answer.headers.get("x-ms-continuationtoken")

    def tagged(self, tag):
        """The handles of the registrations with a tag, each as often as it is listed."""
        return [own for page in self.pages(f"/tags/{urllib.parse.quote(tag, safe='')}/registrations") for own in HANDLES.findall(page)]

    def all_handles(self):
        return [own for page in self.pages("/registrations") for own in HANDLES.findall(page)]

    def send(self, text, tags=None, format="apple", path="/messages", **headers):
        """Sends a notification. The answer's `Location` ends with its id."""
        body = json.dumps({"aps": {"alert": text}} if format == "apple" else {"message": {"data": {"text": text}}} if format == "fcmv1" else {"text": text})
        named = {"ServiceBusNotification-Tags": tags} if tags else {}
        return self.ask(path, body, Content_Type="application/json", ServiceBusNotification_Format=format, **named, **headers)

    def sent(self, text, tags=None, **more):
        """Sends a notification that is taken. Returns its id."""
        answer = self.send(text, tags, **more)
        if answer.status != 201:
            raise AssertionError(f"{text} to {tags}: {answer}")
        return id_of(answer)

    def telemetry(self, id):
        """What the hub tells of a notification, or None."""
        answer = self.ask(f"/messages/{id}")
        return telemetry_of(answer.text) if answer.status == 200 else None

    def end_of(self, id, limit=FAR):
        """The telemetry of a notification once that is final, or what it was last."""
        until(lambda: (said := self.telemetry(id)) and said.state in TERMINAL, limit=limit)
        return self.telemetry(id)

    def job(self, kind, output, source=None):
        """Submits a bulk job. Returns its id."""
        file = f"<ImportFileUri>{source}</ImportFileUri>" if source else ""
        body = (f'<?xml version="1.0" encoding="utf-8"?><entry xmlns="{ATOM}"><content type="application/xml"><NotificationHubJob xmlns="{SPACE}">'
                f"<Type>{kind}</Type><OutputContainerUri>{output}</OutputContainerUri>{file}</NotificationHubJob></content></entry>")
        answer = self.ask("/jobs", body, Content_Type="application/atom+xml;type=entry;charset=utf-8")
        if answer.status != 201:
            raise AssertionError(f"{kind}: {answer}")
        return re.search("<JobId>([^<]+)<", answer.text)[1]

    def job_end(self, id):
        """What the hub tells of a job once it is at its end."""
        said = until(lambda: (answer := self.ask(f"/jobs/{id}")).status == 200 and "<Status>Started<" not in answer.text and answer)
        return said.text if said else self.ask(f"/jobs/{id}").text


def id_of(answer):
    """The id in the Location of a send."""
    return urllib.parse.urlsplit(answer.headers["Location"]).path.rsplit("/", 1)[-1]


class Push(typing.NamedTuple):
    """One line of a record: the id of the notification, the print of the device's handle, the id of the push, and milliseconds since 1970."""

    message: str
    device: str
    id: str
    at: int


def print_of(own):
    """What stands for a handle in a record."""
    return hashlib.sha256(own.encode()).hexdigest()[:16]


def records(path, start=0, end=None):
    """The pushes in a part of a record. A last line that is not whole is left out."""
    found = []
    with open_or_empty(path) as file:
        file.seek(start)
        for text in file.read(-1 if end is None else end - start).split(b"\n")[:-1]:
            said = json.loads(text)
            found.append(Push(said["notification"], said["handle"], said["push"], said["at"]))
    return found


def open_or_empty(path):
    """A file, or an empty one where there is none yet."""
    return open(path if pathlib.Path(path).exists() else os.devnull, "rb")


class OwnHub:
    """`pushfan hub` over a file, which is started, killed and started again at one address. `caller` has all rights."""

    def __init__(self, program, folder, name="demo", words=(), before=(), state=None, listen="127.0.0.1", starts=True, **options):
        self.program, self.folder, self.name = program, pathlib.Path(folder), name
        self.words, self.before, self.options = list(words), list(before), options
        self.folder.mkdir(parents=True, exist_ok=True)
        self.state = pathlib.Path(state or self.folder / f"{name}.db")
        self.log, self.record = self.folder / f"{name}.log", self.folder / f"{name}.record"
        self.listen, self.port = listen, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PUSHFAN_HUB_NAME": name, "no_proxy": "127.0.0.1,localhost"}
        self.process = self.connection = self.caller = None
        if starts:
            self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.kill()

    @property
    def command_line(self):
        return [*self.before, self.program, "hub", "--listen", f"{self.listen}:{self.port}", "--state", self.state, "--record", self.record, *self.words]

    def start(self):
        """Starts it and waits until it is ready. Returns the seconds until it had its connection string told, which follow its store."""
        begun = time.monotonic()
        self.process = Program(*self.command_line, log=self.log, environment=self.environment, folder=self.folder, stdout=subprocess.PIPE, **self.options)
        self.connection = self.process.process.stdout.readline().decode().strip()
        seconds = time.monotonic() - begun
        if not self.connection.startswith("Endpoint="):
            raise AssertionError(f"the hub does not start: {self.connection}\n{self.said[-2000:]}")
        self.caller = self.call_with(*policy_of(self.connection))
        until(lambda: self.caller.call("/readyz").status == 200, lambda: f"the hub is ready\n{self.said[-2000:]}", pause=0.01)
        return seconds

    def call_with(self, policy, key, **options):
        return Caller(self.address, self.name, policy, key, **options)

    def another(self, **options):
        """A caller with all rights for another thread."""
        return self.call_with(self.caller.policy, self.caller.key, **options)

    def kill(self):
        return self.over(self.process.kill())

    def end(self):
        return self.over(self.process.end())

    def over(self, status):
        self.process.process.stdout.close()
        self.caller.close()
        self.process = None
        return status

    def tool(self, *words, state=None, **options):
        """A command of `pushfan hub` on the file, such as `check`."""
        return run(self.program, "hub", *words, "--state", state or self.state, env=self.environment, cwd=self.folder, **options)

    def make(self):
        """Makes the file, of which commands have need."""
        self.start()
        self.end()
        return self

    def counts(self, **options):
        """What `hub check` counts."""
        return json.loads(self.tool_done("check", "-o", "json", **options).stdout)[0]

    def tool_done(self, *words, **options):
        done = self.tool(*words, **options)
        if done.returncode:
            raise AssertionError(f"hub {' '.join(map(str, words))}: status {done.returncode}\n{done.said[-2000:]}")
        return done

    @property
    def said(self):
        return self.log.read_text(errors="replace") if self.log.is_file() else ""

    @property
    def pushes(self):
        return records(self.record)

    @property
    def record_end(self):
        """The bytes of the record's whole lines. One that a kill has cut is taken back at the next start."""
        with open_or_empty(self.record) as file:
            start = max(0, file.seek(0, os.SEEK_END) - (1 << 16))
            file.seek(start)
            return start + file.read().rfind(b"\n") + 1


class Beside:
    """Works that threads do again and again beside what stands in a `with`. A work gets the number of its turn."""

    def __init__(self, *works):
        self.over, self.faults = threading.Event(), []
        self.threads = [threading.Thread(target=self.run, args=[work], daemon=True) for work in works]

    def run(self, work):
        try:
            for turn in itertools.count():
                if self.over.is_set():
                    return
                work(turn)
        except Exception as error:  # noqa: BLE001 of a thread, told by the one that waits for it
            self.faults.append(f"{type(error).__name__}: {error}")

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def told_of(hub):
    """Remembers the hub's key, and returns its caller."""
    SECRETS.add(hub.caller.key)
    return hub.caller


def copy_of(state, folder):
    """A copy of a file of which no process writes, with what is beside it. The copy may be opened and changed."""
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for end in "", "-wal":
        if pathlib.Path(f"{state}{end}").exists():
            shutil.copy(f"{state}{end}", folder / f"copy.db{end}")
    return folder / "copy.db"


def sick(path):
    """What SQLite's own check finds in a file, "" for nothing."""
    connection = sqlite3.connect(path)
    try:
        rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    except sqlite3.Error as error:
        rows = [str(error)]
    finally:
        connection.close()
    return "" if rows == ["ok"] else "\n".join(rows)


def bytes_of(state):
    """All bytes of a hub's file and of its log, which may go at any time."""
    found = b""
    for end in "", "-wal":
        with contextlib.suppress(FileNotFoundError):
            found += pathlib.Path(f"{state}{end}").read_bytes()
    return found
