"""Runs pushfan against a real Kafka that lets nobody in without TLS and a login, and renews each login while worker and gateway run.

  - Three ways in: client certificates (`mtls`), user and password (`password`, SASL PLAIN), tokens of a token server (`token`, SASL
    OAUTHBEARER). By each, topics are made, `doctor` finds nothing, a worker sends what `enqueue` and a gateway publish.
  - Each fault, such as an expired certificate, is one sentence and an exit status.
  - Another password is used after SIGHUP, other certificates and tokens by themselves, and the broker starts anew. A gateway that hears of
    nothing is locked out, and so is the former certificate: the broker has forgotten the old ones.
  - No password, key, client secret or token is in any output, log or list of settings."""

import base64
import datetime
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import programs
from claims import check, until
from programs import Emulator, Program
from web import ask

TOKEN_LIFE = 10  # seconds
USER, OLD, NEW, KEY, SECRET = "shop", "old-Passw0rd-7f3a", "new-Passw0rd-91c2", "key-Passw0rd-55ab", "client-Secret-c0de"
SECRETS = [OLD, NEW, KEY, SECRET, "BEGIN PRIVATE KEY", "BEGIN ENCRYPTED PRIVATE KEY", "eyJ"]
WAYS = ["mtls", "password", "token"]
USERS = ["CN=client", USER, "orders"]  # as the broker calls who came by them


def run(*command, **options):
    return programs.run(*command, check=True, **options).stdout


class Authority:
    """Signs certificates, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        (folder / "index").touch()
        (folder / "ca.conf").write_text(
            "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n"
            "copy_extensions=copy\nunique_subject=no\n[p]\ncommonName=supplied\n")
        self.openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=test")

    def openssl(self, words):
        return run("openssl", *words.split(), cwd=self.folder)

    def sign(self, name, begin=-3600, end=86400):
        """The certificate NAME.pem of a new NAME.key, valid between two moments in seconds from now."""
        moments = [datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds) for seconds in (begin, end)]
        start, stop = (f"{moment:%Y%m%d%H%M%SZ}" for moment in moments)
        self.openssl(f"req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {name}.plain -out {name}.csr -subj /CN={name} "
                     "-addext subjectAltName=DNS:localhost,IP:127.0.0.1")
        self.openssl(f"ca -batch -notext -config ca.conf -cert ca.pem -keyfile ca.key -startdate {start} -enddate {stop} "
                     f"-in {name}.csr -out {name}.pem")
        self.openssl(f"pkcs8 -topk8 -in {name}.plain -out {name}.key -passout pass:{KEY}")


class TokenServer(http.server.ThreadingHTTPServer):
    """Gives tokens of a few seconds for a client's id and secret, signed with a key that the broker knows."""

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), TokenHandler)
        self.folder, self.given = folder, 0
        run("openssl", "genrsa", "-out", folder / "token.key", "2048")
        modulus = run("openssl", "rsa", "-in", folder / "token.key", "-noout", "-modulus").strip().removeprefix("Modulus=")
        key = {"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig", "n": encoded(bytes.fromhex(modulus)), "e": "AQAB"}
        (folder / "jwks.json").write_text(json.dumps({"keys": [key]}))
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/token"

    def token(self):
        now = int(time.time())
        claims = {"sub": "orders", "iss": "test", "aud": "kafka", "scope": "kafka", "iat": now, "exp": now + TOKEN_LIFE}
        text = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "1", "typ": "JWT"}, claims))
        signature = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", self.folder / "token.key"], input=text.encode(), capture_output=True, check=True)
        self.given += 1
        return f"{text}.{encoded(signature.stdout)}"


class TokenHandler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        form = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        known = "Basic " + base64.b64encode(f"orders:{SECRET}".encode()).decode()
        isRight = self.headers.get("Authorization") == known and "grant_type=client_credentials" in form
        answer = {"access_token": self.server.token(), "token_type": "Bearer", "expires_in": TOKEN_LIFE} if isRight else {
            "error": "invalid_client"}
        body = json.dumps(answer).encode()
        self.send_response(200 if isRight else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Site:
    """The authorities, the token server, and what a broker that relies on them is told."""

    listeners = {"MTLS": "SSL", "PASSWORD": "SASL_SSL", "TOKEN": "SASL_SSL"}

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        self.authority, self.former, self.other = (Authority(folder / name) for name in ("own", "former", "other"))
        self.authority.sign("broker")
        self.former.sign("client")
        for name in ("client.pem", "client.key"):
            shutil.copy(self.former.folder / name, self.authority.folder / name)
        self.authority.sign("expired", begin=-7200, end=-3600)
        self.tokens = TokenServer(folder)
        keys, self.trusted, jwks = folder / "broker.pem", folder / "trusted.pem", f"file://{folder}/jwks.json"
        keys.write_text((self.authority.folder / "broker.plain").read_text() + (self.authority.folder / "broker.pem").read_text())
        self.trust(self.authority, self.former)
        oauth = "org.apache.kafka.common.security.oauthbearer.OAuthBearer"
        # The broker reads no key of another's file unless it is told to.
        self.java = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={jwks}"
        self.settings = {
            "ssl.keystore.type": "PEM", "ssl.keystore.location": keys,
            "ssl.truststore.type": "PEM", "ssl.truststore.location": self.trusted,
            "listener.name.mtls.ssl.client.auth": "required",
            "listener.name.password.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            "listener.name.password.scram-sha-512.sasl.jaas.config":
                "org.apache.kafka.common.security.scram.ScramLoginModule required;",
            "listener.name.password.plain.sasl.jaas.config": self.users(OLD),
            "listener.name.token.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.token.oauthbearer.sasl.jaas.config": f"{oauth}LoginModule required;",
            "listener.name.token.oauthbearer.sasl.server.callback.handler.class": f"{oauth}ValidatorCallbackHandler",
            "listener.name.token.oauthbearer.connections.max.reauth.ms": TOKEN_LIFE * 1000,
            "sasl.oauthbearer.jwks.endpoint.url": jwks,
            "sasl.oauthbearer.expected.audience": "kafka", "sasl.oauthbearer.expected.issuer": "test",
        }

    @staticmethod
    def users(password):
        return f'org.apache.kafka.common.security.plain.PlainLoginModule required user_{USER}="{password}";'

    def trust(self, *authorities):
        """The authorities whose certificates of clients the broker takes, from its next start on."""
        self.trusted.write_text("".join((authority.folder / "ca.pem").read_text() for authority in authorities))

    def properties(self):
        """A client's, by the ways."""
        tls = {"ssl.ca.location": self.authority.folder / "ca.pem"}
        return {
            "mtls": tls | {
                "security.protocol": "SSL", "ssl.certificate.location": self.authority.folder / "client.pem",
                "ssl.key.location": self.authority.folder / "client.key", "ssl.key.password": KEY},
            "password": tls | {
                "security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": USER, "sasl.password": OLD},
            "token": tls | {
                "security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.client.id": "orders", "sasl.oauthbearer.client.secret": SECRET,
                "sasl.oauthbearer.token.endpoint.url": self.tokens.url},
        }


def rebalances(kafka, group):
    """How many times the group was rebalanced."""
    return len(re.findall(f"rebalance group {group} ", kafka.log()))


def restart(kafka, password):
    kafka.stop()
    settings = kafka.folder / "node-1/server.properties"
    settings.write_text(settings.read_text().replace(Site.users(OLD), Site.users(password)))
    kafka.call("resume")


class Pushfan:
    """The program with the settings of one way, all in one folder."""

    def __init__(self, program, folder, way, address, properties):
        self.program, self.way, self.folder = program, way, folder / way
        self.folder.mkdir()
        self.services = {}
        (self.folder / "pushfan.yaml").write_text(
            f"kafka:\n  bootstrap_servers: {address}\n  group_id: {way}\n  topics:\n    prefix: {way}.\n  session_timeout: 20s\n"
            f"worker:\n  id: {way}\n  drain_timeout: 10s\nhub:\n  name: demo\n  connection_string_file: {folder}/hub\n"
            "gateway:\n  listen: 127.0.0.1:0\n  keys_file: keys\nlisten: 127.0.0.1:0\n")
        self.write(properties)

    def write(self, properties):
        (self.folder / "kafka.properties").write_text("\n".join(f"{key}={value}" for key, value in properties.items()))

    def environment(self, properties=None):
        path = self.folder / "kafka.properties"
        if properties is not None:
            path = self.folder / "faulty.properties"
            path.write_text("\n".join(f"{key}={value}" for key, value in properties.items()))
        return {"PATH": os.environ["PATH"], "PUSHFAN_CONFIG": "pushfan.yaml", "PUSHFAN_KAFKA_PROPERTIES_FILE": str(path)}

    def run(self, *words, properties=None):
        done = programs.run(self.program, *words, cwd=self.folder, env=self.environment(properties))
        with (self.folder / "commands.log").open("a") as log:
            log.write(f"$ {' '.join(words)}\n{done.said}")
        return done

    def start(self, command, name):
        self.services[name] = Program(
            self.program, command, log=self.folder / f"{name}.log", environment=self.environment(), folder=self.folder)

    def log(self, name):
        return self.services[name].said

    def publish(self, name, number):
        """The answer to a publish through a gateway that waits for its result."""
        return ask(
            f"http://{self.services[name].address('apps are served')}/v1/requests",
            {"id": f"{name}-{number}", "audience": {"users": ["alice"]}, "message": {"title": "x"}},
            Authorization=f"Bearer {self.key}", Prefer="wait=30")

    def ready(self, name):
        """What the readiness probe says."""
        return ask(f"http://{self.services[name].address('probes and metrics are served')}/readyz").text

    def end(self):
        for service in self.services.values():
            service.signal(signal.SIGTERM)
        for service in self.services.values():
            service.end(20)


def works(way, number):
    """Sends one request past the gateway, and one through it."""
    done = way.run("enqueue", "--user", "alice", "--title", "x", "--wait", "--timeout", "90s")
    check(f"{way.way}: the worker sends what enqueue writes", done.returncode == 0, done.said, way.log("worker"))
    answer = way.publish("gateway", number)
    check(f"{way.way}: and what the gateway publishes", answer.status == 200 and '"outcome":"success"' in answer.text, answer.text,
          way.log("gateway"))


def fault(way, claim, properties, status, sentence):
    """Looks at one fault through `doctor` and a command that writes."""
    done = way.run("doctor", "--timeout", "10s", "-o", "json", properties=properties)
    check(f"{claim}: doctor ends with {status}", done.returncode == status, f"{done.returncode}\n{done.said}")
    check(f"{claim}: and says so", re.search(sentence, done.said), done.said)
    done = way.run("topics", "create", properties=properties)
    said = done.stderr.strip()
    check(f"{claim}: topics create ends with {status} and the same sentence",
          done.returncode == status and re.search(sentence, said) and len(said.splitlines()) <= 3, f"{done.returncode}\n{done.said}")


def faults(ways, properties, site):
    mtls, password, token = (ways[name] for name in WAYS)
    with_changes = lambda way, **changes: properties[way] | {key.replace("_", "."): value for key, value in changes.items()}
    fault(mtls, "another authority", with_changes("mtls", ssl_ca_location=site.other.folder / "ca.pem"), 77, "certificate not trusted")
    expired = site.authority.folder / "expired"
    fault(mtls, "an expired certificate",
          with_changes("mtls", ssl_certificate_location=f"{expired}.pem", ssl_key_location=f"{expired}.key"), 77,
          "does not accept our certificate")
    bare = {key: value for key, value in properties["mtls"].items() if key in ("security.protocol", "ssl.ca.location")}
    fault(mtls, "no certificate", bare, 77, "does not accept our certificate")
    fault(mtls, "a wrong password of the key", with_changes("mtls", ssl_key_password="wrong-Passw0rd"), 78, "ssl.key")
    fault(mtls, "a certificate that is missing", with_changes("mtls", ssl_certificate_location="/no/such"), 78, "ssl.certificate.location")
    fault(password, "a wrong password", with_changes("password", sasl_password="wrong-Passw0rd"), 77, "login refused")
    fault(password, "SCRAM", with_changes("password", sasl_mechanism="SCRAM-SHA-512"), 77, "librdkafka .*SCRAM")
    fault(token, "a wrong client secret", with_changes("token", sasl_oauthbearer_client_secret="wrong-Secret"), 77, "token")
    fault(token, "no token server", with_changes("token", sasl_oauthbearer_token_endpoint_url="http://127.0.0.1:9/token"), 77, "token")


def renew(ways, properties, site, kafka):
    """A certificate of another authority, and another password, of which one gateway does not hear."""
    site.authority.sign("client")
    ways["password"].write(properties["password"] | {"sasl.password": NEW})
    before = rebalances(kafka, "mtls")
    for name, sentence in (("mtls", "opened again"), ("password", "user and password are used")):
        if name == "password":
            for program in ("worker", "gateway"):
                ways[name].services[program].signal(signal.SIGHUP)
        for program in ("worker", "gateway"):
            check(f"{name}: {'SIGHUP renews' if name == 'password' else 'new files renew'} the login of the {program}",
                  until(lambda name=name, program=program, sentence=sentence: sentence in ways[name].log(program)), ways[name].log(program))
    works(ways["mtls"], 2)  # by connections with the new certificate
    check("mtls: and the worker keeps its place in the group", rebalances(kafka, "mtls") == before, before)
    given = site.tokens.given
    check("token: tokens renew by themselves", until(lambda: site.tokens.given > given + 2), site.tokens.given)
    works(ways["token"], 2)


def lock_out(ways, properties, site, kafka):
    """The broker forgets the old password, and the authority of the old certificate."""
    site.trust(site.authority)
    restart(kafka, NEW)
    for name in WAYS:
        works(ways[name], 3)
    answer = ways["password"].publish("stale", 3)
    check("password: a gateway that heard of nothing is locked out", answer.status in (503, 504), *answer)
    said = until(lambda: (found := ways["password"].ready("stale")) and "login refused" in found and found)
    check("password: and says why", said, ways["password"].ready("stale"))
    former = {f"ssl.{kind}.location": site.former.folder / f"client.{end}" for kind, end in (("certificate", "pem"), ("key", "key"))}
    fault(ways["mtls"], "the former certificate", properties | former, 77, "does not accept our certificate")


def test(program, site, kafka):
    """Tries it all. The broker's last start knows other logins."""
    properties, ways = site.properties(), {}
    with Emulator(program) as emulator:
        (site.folder / "hub").write_text(emulator.connection)
        try:
            for name in WAYS:
                way = ways[name] = Pushfan(program, site.folder, name, kafka.addresses[name.upper()], properties[name])
                done = way.run("topics", "create", "--partitions", "2")
                check(f"{name}: topics create", done.returncode == 0, done.said)
                way.key = run(program, "keys", "create", "--file", way.folder / "keys").strip()
                way.run("config", "show", "--origin")
                for service in ("worker", "gateway", "stale"):
                    way.start("worker" if service == "worker" else "gateway", service)
            for name, way in ways.items():
                done = way.run("doctor", "-o", "json")
                check(f"{name}: doctor finds nothing", done.returncode == 0, done.said)
                works(way, 1)
                answer = way.publish("stale", 1)
                check(f"{name}: so does a second gateway", answer.status == 200, answer.text)
            renew(ways, properties, site, kafka)
            faults(ways, properties, site)
            lock_out(ways, properties["mtls"], site, kafka)
        finally:
            for way in ways.values():
                way.end()
            site.tokens.shutdown()
    told = {path: path.read_text() for path in site.folder.glob("*/*.log")}
    found = [f"{path}: {secret}" for path, text in told.items() for secret in [*SECRETS, *(way.key for way in ways.values())]
             if secret in text]
    check(f"no secret is in {len(told)} logs and outputs of {sum(map(len, told.values())) >> 10} KiB", told and not found, *found)
