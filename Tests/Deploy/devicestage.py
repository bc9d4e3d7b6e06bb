"""Two hubs that are a spread, gateways that register devices at them, and an issuer of tokens, for a test script."""

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import re
import subprocess
import threading
import time
import urllib.parse

from callbackstage import Stage
from programs import Emulator, run
from web import ask, ask_all

ISSUER, AUDIENCE = "https://login.example/", "pushfan"
PASSWORD = "a-password-of-the-test"
SIXTY_FOUR = (1 << 64) - 1
# What no program may tell: the handles that any caller has sent, and the users whose devices were to be erased.
HANDLES, ERASED = set(), set()


def handles_in(said, is_one=False):
    """The texts of the handles in the body of a call."""
    if isinstance(said, str):
        return {said} if is_one else set()
    if isinstance(said, dict):
        found = (handles_in(value, is_one or name.lower() == "handle" or name == "value" and said.get("path") == "/handle")
                 for name, value in said.items())
    else:
        found = (handles_in(value, is_one) for value in said) if isinstance(said, list) else ()
    return set().union(*found)


class API:
    """A gateway, for a key, a user or a token."""

    def __init__(self, base, authorization):
        self.base, self.authorization = base, authorization

    def ask(self, path, body=None, method=None, **headers):
        HANDLES.update(handles_in(body))
        if method == "DELETE" and (found := re.fullmatch("/v1/users/([^/?]+)", path)):
            ERASED.add(found[1])
        return ask(f"{self.base}{path}", body, method, Authorization=self.authorization, **headers)

    def put(self, name, query="", **members):
        return self.ask(f"/v1/installations/{name}{query}", members, "PUT")

    def patch(self, name, *operations):
        HANDLES.update(handles_in(list(operations)))
        return self.ask(f"/v1/installations/{name}", json.dumps(operations), "PATCH", Content_Type="application/json-patch+json")

    def get(self, name, **headers):
        return self.ask(f"/v1/installations/{name}", **headers)

    def delete(self, name):
        return self.ask(f"/v1/installations/{name}", method="DELETE")

    def tag(self, name, tag, method="PUT"):
        return self.ask(f"/v1/installations/{name}/tags/{urllib.parse.quote(tag, safe='')}", method=method)


class Hub:
    """An emulated hub, by its own protocol."""

    def __init__(self, emulator, name):
        self.name, self.address = name, emulator.address
        found = dict(part.split("=", 1) for part in emulator.connection.split(";") if "=" in part)
        self.policy, self.key = found["SharedAccessKeyName"], found["SharedAccessKey"]

    def ask(self, path, body=None, method=None, **headers):
        place, end = urllib.parse.quote(f"{self.address}/{self.name}".lower(), safe=""), int(time.time()) + 3600
        signature = base64.b64encode(hmac.digest(self.key.encode(), f"{place}\n{end}".encode(), hashlib.sha256)).decode()
        token = f"SharedAccessSignature sr={place}&sig={urllib.parse.quote(signature, safe='')}&se={end}&skn={self.policy}"
        return ask(f"{self.address}/{self.name}{path}?api-version=2020-06", body, method, Authorization=token, **headers)

    def installation(self, name):
        """What the hub has, or None."""
        answer = self.ask(f"/installations/{name}")
        return answer.json if answer.status == 200 else None

    def register(self, handle, *tags):
        """Makes a registration, as back ends did before there were installations. Returns its id."""
        HANDLES.add(handle)
        space = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
        body = (f'<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
                f'<AppleRegistrationDescription xmlns="{space}"><Tags>{",".join(tags)}</Tags><DeviceToken>{handle}</DeviceToken>'
                f"</AppleRegistrationDescription></content></entry>")
        answer = self.ask("/registrations", body, Content_Type="application/atom+xml;type=entry;charset=utf-8")
        assert answer.status == 200, answer
        return re.search(r"<RegistrationId>([^<]+)<", answer.text)[1]

    def devices(self, **query):
        """The devices, or those with a tag."""
        return ask_all(f"{self.address}/devices?{urllib.parse.urlencode(query)}")

    def arm(self, fault):
        assert ask(f"{self.address}/faults", fault).status == 200, fault

    @property
    def struck(self):
        """How often the faults have struck."""
        return sum(entry["struck"] for entry in ask(f"{self.address}/faults").json)

    def disarm(self):
        ask(f"{self.address}/faults", method="DELETE")


class Town:
    """A stage whose hubs `east` and `west` are the spread `crowd`, the default."""

    def __init__(self, program, folder):
        self.stage = Stage(program, folder)
        try:
            second = self.stage.ending.enter_context(Emulator(program, "--hub-name", "west", log=folder / "west.log"))
            self.hubs = {"east": Hub(self.stage.hub, "hub"), "west": Hub(second, "west")}
            self.settings = {
                "kafka": {"bootstrap_servers": self.stage.broker.bootstrap},
                "hubs": {"east": {"name": "hub", "connection_string": self.stage.hub.connection},
                         "west": {"name": "west", "connection_string": second.connection}},
                "spreads": {"crowd": ["east", "west"]}, "default_hub": "crowd",
                "gateway": {"users_file": str(folder / "users"), "reserved_tags": "staff"},
            }
            for name in "PUSHFAN_HUB_NAME", "PUSHFAN_HUB_CONNECTION_STRING":
                del self.stage.environment[name]
            self.write()
            # A gateway starts with the keys that there are.
            self.stage.make_key("--scope", "register")
            for name in "alice", "bob":
                self.stage.command("users", "set", name, "--file", folder / "users", input=f"{PASSWORD}\n")
        except BaseException:
            self.stage.ending.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stage.__exit__()

    def write(self):
        """Writes the settings file, which JSON is."""
        file = self.stage.folder / "pushfan.yaml"
        file.write_text(json.dumps(self.settings, indent=1))
        file.chmod(0o600)
        self.stage.environment["PUSHFAN_CONFIG"] = str(file)

    def key(self, base, *words):
        return API(base, f"Bearer {self.stage.make_key(*words)}")

    def user(self, base, name):
        return API(base, "Basic " + base64.b64encode(f"{name}:{PASSWORD}".encode()).decode())

    def hub_of(self, name):
        """The hub that has an installation, or None; two of them are a fault."""
        found = [hub for hub, at in self.hubs.items() if at.installation(name)]
        assert len(found) < 2, f"{name} is at {found}"
        return found[0] if found else None

    def installation(self, name):
        return next(filter(None, (hub.installation(name) for hub in self.hubs.values())), None)

    def home(self, name):
        """The hub of a user, or of an installation without one, as page Hubs has the rule."""
        return max(sorted(self.hubs), key=lambda hub: mix(fnv(name) ^ mix(fnv(hub))))


def fnv(text):
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ (byte + 32 if 65 <= byte <= 90 else byte)) * 0x100000001b3 & SIXTY_FOUR
    return value


def mix(value):
    for shift, factor in (30, 0xbf58476d1ce4e5b9), (27, 0x94d049bb133111eb), (31, 1):
        value = (value ^ value >> shift) * factor & SIXTY_FOUR
    return value


def encoded(data):
    """Base64 as tokens have it."""
    data = data if isinstance(data, bytes) else data.encode() if isinstance(data, str) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class SigningKey:
    """A key of an issuer, made by openssl."""

    def __init__(self, folder, kid, algorithm="RS256"):
        self.kid, self.algorithm, self.file = kid, algorithm, folder / f"{kid}.pem"
        kind = ("RSA", "rsa_keygen_bits:2048") if algorithm == "RS256" else ("EC", "ec_paramgen_curve:P-256")
        done = run("openssl", "genpkey", "-algorithm", kind[0], "-pkeyopt", kind[1], "-out", self.file)
        assert done.returncode == 0, done.said

    def openssl(self, *words, data=b""):
        return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True).stdout

    @property
    def public(self):
        """The public key in PEM."""
        return self.openssl("pkey", "-in", self.file, "-pubout")

    @property
    def modulus(self):
        return bytes.fromhex(self.openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip().partition("=")[2])

    @property
    def jwk(self):
        head = {"kid": self.kid, "alg": self.algorithm, "use": "sig"}
        if self.algorithm == "RS256":
            return {"kty": "RSA", "n": encoded(self.modulus), "e": "AQAB"} | head
        point = self.openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-64:]
        return {"kty": "EC", "crv": "P-256", "x": encoded(point[:32]), "y": encoded(point[32:])} | head

    def sign(self, data, keeps_form=False):
        """The signature. That of an elliptic key is brought into the form of tokens."""
        signature = self.openssl("dgst", "-sha256", "-sign", self.file, data=data)
        if self.algorithm == "RS256" or keeps_form:
            return signature
        first = signature[4:4 + signature[3]]
        second = signature[6 + signature[3]:]
        return b"".join(int.from_bytes(number, "big").to_bytes(32, "big") for number in (first, second))

    def token(self, head=None, sign=None, **claims):
        """A token. A claim or a member of the head that is None is left out; `sign` makes another signature."""
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "dora", "iat": now, "exp": now + 600, "scope": "openid register publish"} | claims
        head = {"alg": self.algorithm, "typ": "JWT", "kid": self.kid} | (head or {})
        signed = ".".join(encoded({name: value for name, value in part.items() if value is not None}) for part in (head, claims))
        return f"{signed}.{encoded((sign or self.sign)(signed.encode()))}"


class KeyServer(http.server.ThreadingHTTPServer):
    """Where the issuer's keys are. `answer` is what a call gets: keys, bytes, a status with its headers, or a function that answers itself."""

    daemon_threads = True

    def __init__(self, *keys, port=0):
        self.answer, self.count, self.ended = keys, 0, threading.Event()
        super().__init__(("127.0.0.1", port), KeyHandler)
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()

    def __exit__(self, *_):
        self.ended.set()
        self.shutdown()
        self.server_close()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}/keys"


class KeyHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answer, headers, status = self.server.answer, {"Content-Type": "application/json"}, 200
        self.server.count += 1
        if callable(answer):
            answer(self)
            return
        if isinstance(answer, dict):
            status, headers, answer = answer["status"], {name: value for name, value in answer.items() if name != "status"}, b""
        if isinstance(answer, tuple):
            answer = json.dumps({"keys": [key.jwk for key in answer]}).encode()
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(answer))}).items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):  # of whoever has read enough
            self.wfile.write(answer)

    def log_message(self, *_):
        pass
