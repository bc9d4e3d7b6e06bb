"""Runs each program with exactly the rights that `pushfan topics acls` prints, and takes each of them away.

  - The printed commands give each role its rights, the same as the JSON. Each role's programs then do what they are for, and end as they
    should. The broker's log has no refusal of them.
  - For each single right another user has all of its role but that one. `pushfan doctor --role ROLE --probe-writing` ends with 77 and
    names this right alone as missing, with the command that gives it. With all rights it finds none missing."""

import base64
import concurrent.futures
import contextlib
import http.server
import json
import os
import re
import shlex
import socket
import struct
import threading
import time

from broker import tool, tool_command
from claims import FAR, check, until
from programs import Emulator, Program, run
from web import ask

# The roles, and what else of `topics acls` and `doctor` belongs to them.
ROLES = {
    "worker": [], "gateway": ["--gateway.state_dir", "state"], "publisher": ["--with", "cancel", "--with", "wait"],
    "callbacks": [], "broadcaster": [], "replayer": [], "collector": [], "operator": [], "mover": [], "reader": [],
}
# The roles whose printed commands are run. They have every kind of line, and each takes some seconds.
BY_COMMAND = ["worker", "reader"]
# The users of a role that lack one right each, at most so many.
MOST = 40
# The numbers of Kafka's protocol.
RESOURCES = {"topic": 2, "group": 3, "transactional-id": 5}
PATTERNS = {"literal": 3, "prefixed": 4}
OPERATIONS = {"Read": 3, "Write": 4, "Describe": 8, "DescribeConfigs": 10}
ALLOW, CREATE_ACLS = 3, 30

LISTENER = "USERS"
listeners = {LISTENER: "SASL_PLAINTEXT"}


def settings():
    """Of the listener at which users sign in. Whoever comes to the plain port is the super user."""
    users = [*ROLES, *(f"{role}-{number}" for role in ROLES for number in range(MOST))]
    login = " ".join(f'user_{user}="{user}-password"' for user in users)
    return {
        "listener.name.users.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.users.plain.sasl.jaas.config": f"org.apache.kafka.common.security.plain.PlainLoginModule required {login};",
    }


def make_tool(folder):
    """A folder with `kafka-acls.sh`, as the printed commands call it."""
    folder.mkdir()
    path = folder / "kafka-acls.sh"
    path.write_text(f'#!/bin/sh\nexec {shlex.join(tool_command("acls"))} "$@"\n')
    path.chmod(0o755)
    return folder


def refusals(kafka):
    """Of the authorizer's log: who was refused what."""
    return re.findall(r"Principal = User:(\S+) is Denied operation = (\S+) from host = \S+ on resource = (\S+)", kafka.log())


def allow(kafka, rights):
    """Gives users rights: pairs of a user and (resource, name, pattern, operation)."""
    def text(value):
        return struct.pack(">h", len(value)) + value.encode()

    body = struct.pack(">hhi", CREATE_ACLS, 1, 1) + text("rights") + struct.pack(">i", len(rights))
    for user, (resource, name, pattern, operation) in rights:
        body += struct.pack(">b", RESOURCES[resource]) + text(name) + struct.pack(">b", PATTERNS[pattern])
        body += text(f"User:{user}") + text("*") + struct.pack(">bb", OPERATIONS[operation], ALLOW)
    host, port = kafka.bootstrap.split(":")
    with socket.create_connection((host, int(port)), timeout=FAR) as connection, connection.makefile("rb") as answers:
        connection.sendall(struct.pack(">i", len(body)) + body)
        answer = answers.read(struct.unpack(">i", answers.read(4))[0])
    count, = struct.unpack_from(">i", answer, 8)
    offset = 12
    for _ in range(count):
        code, length = struct.unpack_from(">hh", answer, offset)
        if code:
            raise RuntimeError(f"Kafka refuses an ACL with {code}: {answer[offset + 4:offset + 4 + length]}")
        offset += 4 + max(length, 0)


class Stage:
    """A folder, a hub, and the programs of users."""

    def __init__(self, program, folder, kafka):
        self.program, self.folder, self.kafka = program, folder, kafka
        self.jobs = {}
        self.hub = None

    def environment(self, user, **more):
        """The settings of a user's programs. Passwords are in files."""
        place = self.folder / f"{user}.properties"
        if not place.exists():
            properties = {
                "security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "PLAIN", "sasl.username": user,
                "sasl.password": f"{user}-password",
            }
            place.write_text(",".join(f"{key}={value}" for key, value in properties.items()))
        hub = {"PUSHFAN_HUB_NAME": "demo", "PUSHFAN_HUB_CONNECTION_STRING": self.hub.connection} if self.hub else {}
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "TMPDIR": str(self.folder),
            "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": self.kafka.addresses[LISTENER], "PUSHFAN_KAFKA_PROPERTIES_FILE": str(place),
            **hub, **more,
        }

    def try_running(self, user, *words, **more):
        return run(self.program, *words, env=self.environment(user, **more), cwd=self.folder)

    def run(self, user, *words, code=0, **more):
        """What a command of a user prints. It must end with `code`."""
        done = self.try_running(user, *words, **more)
        check(f"{user}: {' '.join(words)[:90]}", done.returncode == code, f"ends with {done.returncode}: {done.said}")
        return done.stdout

    def start(self, user, *words, **more):
        """Starts a service of a user."""
        self.jobs[user] = Program(
            self.program, *words, log=self.folder / f"{user}.log", environment=self.environment(user, **more), folder=self.folder)
        return self.jobs[user]

    def close(self):
        for job in [*self.jobs.values(), self.hub]:
            if job:
                job.end()


def rights_of(stage, role):
    """The single rights of a role."""
    printed = stage.run("admin", "topics", "acls", "--role", role, *ROLES[role], "-o", "ndjson")
    entries = [json.loads(line) for line in printed.splitlines()]
    return [(entry["resource"], entry["name"], entry["pattern"], operation) for entry in entries for operation in entry["operations"]]


def rights_in(line):
    """The single rights that a printed command gives."""
    words = shlex.split(line)[1:]
    flags = {word: [words[at + 1] for at, other in enumerate(words[:-1]) if other == word] for word in words if word.startswith("--")}
    pattern = flags.get("--resource-pattern-type", ["literal"])[0]
    return {(kind, name, pattern, operation)
            for kind in RESOURCES for name in flags.get(f"--{kind}", []) for operation in flags["--operation"]}


def give(stage, role, place):
    """Gives a role what `topics acls` prints: by its commands, or faster, after their comparison with its JSON."""
    plain = {"PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": stage.kafka.bootstrap}
    lines = stage.run("admin", "topics", "acls", "--role", role, *ROLES[role], "--principal", f"User:{role}", **plain).splitlines()
    rights = rights_of(stage, role)
    given = [right for line in lines for right in rights_in(line)]
    check(f"{role}: its commands give {len(rights)} rights, those of its JSON, each once", sorted(given) == sorted(rights))
    if role not in BY_COMMAND:
        allow(stage.kafka, [(role, right) for right in rights])
        return
    for line in lines:
        done = run("bash", "-c", line, env=os.environ | {"PATH": f"{place}:{os.environ['PATH']}"})
        check(line[:110], done.returncode == 0 and "Adding ACLs" in done.stdout, done.said)


def start_hub(stage):
    devices = stage.folder / "devices.json"
    devices.write_text(json.dumps([
        {"installationId": f"{name}-phone", "platform": "fcmv1", "pushChannel": f"{name}-token", "tags": [f"username:{name}"]}
        for name in ("alice", "bob")]))
    stage.hub = Emulator(stage.program, "--devices", devices, environment=stage.environment("emulator"))
    return stage.hub.address


def start_services(stage):
    worker = stage.start("worker", "worker", "--listen", "127.0.0.1:0", PUSHFAN_WORKER_ID="w")
    for name in ("alice", "bob"):
        done = run(stage.program, "users", "set", name, "--file", "users", input=f"{name}-password", cwd=stage.folder,
                   env=stage.environment("admin"))
        check(f"admin: users set {name}", done.returncode == 0, done.said)
    key = stage.run("admin", "keys", "create", "--file", "keys", "--scope", "publish,read,read:payload,replay").strip()
    gateway = stage.start(
        "gateway", "gateway", "--users-file", "users", "--keys-file", "keys", "--gateway.state_dir", "state",
        "--gateway.listen", "127.0.0.1:0", "--listen", "127.0.0.1:0")
    for service in worker, gateway:
        probe = f"http://{service.address('probes and metrics are served')}/readyz"
        until(lambda probe=probe: ask(probe).status == 200, lambda service=service: f"ready: {service.said[-500:]}")
    return f"http://{gateway.address('apps are served')}", key


def start_callbacks(stage):
    """Starts the service with a receiver; returns a list of the results that this has taken by now."""
    taken = []

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            taken.append(self.headers["webhook-id"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = stage.folder / "receivers.yaml"
    file.touch(mode=0o600)
    file.write_text(f"allow_plain: true\nallowed_networks: [127.0.0.0/8]\nreceivers:\n  - name: orders\n"
                    f"    url: http://127.0.0.1:{server.server_port}/\n    secrets: [whsec_dGhpcy1pcy1ub3QtYS1zZWNyZXQtYXQtYWxs]\n")
    service = stage.start("callbacks", "callbacks", "--listen", "127.0.0.1:0", PUSHFAN_CALLBACKS_RECEIVERS_FILE=str(file))
    probe = f"http://{service.address('probes and metrics are served')}/readyz"
    until(lambda: ask(probe).status == 200, lambda: f"ready: {service.said[-500:]}")
    return taken


def call_back(stage, taken):
    """The receiver hears of results, and an operator stops that, lets it go on, and has results sent again."""
    until(lambda: taken, "a result is taken")
    file = {"PUSHFAN_CALLBACKS_RECEIVERS_FILE": str(stage.folder / "receivers.yaml")}
    stage.run("operator", "callbacks", "list", **file)
    stage.run("operator", "callbacks", "pause", "orders", "--reason", "test", **file)
    stage.run("operator", "callbacks", "resume", "orders", **file)
    stage.run("operator", "callbacks", "replay", "orders", "--since", "1h", "--all", "--yes", **file)
    until(lambda: len(taken) > len(set(taken)), "a result is taken again")


def enqueue(stage, *words, code=0):
    return stage.run("publisher", "enqueue", "--user", "alice", "--title", "x", *words, code=code)


def fail_at_the_hub(stage, hub, name):
    ask(f"{hub}/faults", "status=500,count=3")
    enqueue(stage, "--id", name, "--option", "max_attempts=1", "--wait", code=3)


def publish(stage):
    enqueue(stage, "--wait")
    enqueue(stage, "--ordering-key", "k", "--wait")
    for priority in "high", "low":
        enqueue(stage, "--priority", priority, "--wait")
    enqueue(stage, "--id", "late", "--not-before", "1h")
    stage.run("publisher", "cancel", "late", "--wait")
    enqueue(stage, "--id", "later", "--not-before", "2h")


def repair(stage, hub):
    fail_at_the_hub(stage, hub, "broken")
    stage.run("replayer", "failed")
    stage.run("replayer", "replay", "plan", "state:failed", "--reason", "test", "--file", "plan")
    stage.run("replayer", "replay", "run", "plan")
    job = json.loads(stage.run("replayer", "replay", "list", "-o", "json"))[0]["job_id"]
    stage.run("replayer", "replay", "status", job)
    stage.run("replayer", "replay", "leftovers", "plan", code=4)
    done = tool("console-producer", "--bootstrap-server", stage.kafka.bootstrap, "--topic", "push.requests.v1", input="no JSON\n")
    check("a record that is no request is written", done.returncode == 0, done.said)

    def dead():
        return re.search(r"push\.deadletter\.v1:\d+:\d+", stage.try_running("replayer", "replay", "deadletter", "--dry-run", "-o", "json").said)
    place = until(dead, "a dead letter")[0]
    (stage.folder / "mended.json").write_text(json.dumps({"id": "mended", "audience": {"users": ["alice"]}, "message": {"title": "x"}}))
    stage.run("replayer", "replay", "deadletter", "--at", place, "--value", "mended.json", "--reason", "test", "--yes")
    stage.run("collector", "handles", "collect")


def read(stage):
    for words in ["results", "list"], ["results", "show", "broken"], ["results", "tail", "-n", "1", "since:1h"], ["failed", "--all"]:
        stage.run("reader", *words)
    stage.run("reader", "results", "show", "later", code=4)
    stage.run("reader", "status")


def serve(stage, hub, api, key):
    """Everything that a gateway is asked for."""
    bearer = {"Authorization": f"Bearer {key}"}
    alice, bob = ({"Authorization": "Basic " + base64.b64encode(f"{name}:{name}-password".encode()).decode()} for name in ("alice", "bob"))
    as_json = {"Content-Type": "application/json"}

    def call(wanted, path, *arguments, **headers):
        answer = ask(api + path, *arguments, **headers)
        check(f"gateway: {path} answers {wanted}", answer.status == wanted, *answer)
        return answer.headers

    def request(**members):
        return json.dumps({"audience": {"users": ["alice"]}, "message": {"title": "x"}, **members})

    for priority in "high", "normal", "low":
        call(202, "/v1/requests", request(priority=priority), **bearer, **as_json)
    call(202, "/v1/requests", request(id="once"), **bearer, **as_json, **{"Idempotency-Key": "k1"})
    call(200, "/v1/requests/once?wait=20", **bearer)
    call(202, "/v1/requests", request(id="never", not_before="2099-01-01T00:00:00Z"), **bearer, **as_json)
    call(202, "/v1/requests/never:cancel", "", **bearer)
    call(200, "/api/notifications?pns=fcm&to_tag=alice", '"Lunch?"', **bob, **as_json)
    call(200, "/api/notifications?pns=fcm&to_tag=alice&secure=true", '"4711"', **bob, **as_json)
    devices = ask(f"{hub}/devices").text
    secret = re.findall(r'secureId\\*"?:\\*"([^"\\]+)', devices)
    check("a secure push has an id", secret, devices[-600:])
    call(200, f"/api/notifications/{secret[-1] if secret else '-'}", **alice)
    fail_at_the_hub(stage, hub, "over-http")
    time.sleep(1.5)
    for path in ["/v1/requests?filter=state:failed+since:1h", "/v1/requests/over-http?life=true", "/v1/requests/over-http?payload=true",
                 "/v1/requests/later?life=true", "/v1/failures?filter=since:1h", "/v1/deadletters?limit=5&payload=true", "/v1/replays",
                 "/v1/status", "/v1/history?minutes=5"]:
        call(200, path, **bearer)
    headers = call(201, "/v1/replays", json.dumps({"filter": "request:over-http", "reason": "test"}), **bearer, **as_json)
    place = headers.get("Location", "/v1/replays/-")
    call(200, place, **bearer)
    call(202, f"{place}:run", "{}", **bearer, **as_json, **{"If-Match": headers.get("ETag", "-")})
    until(lambda: '"state":"done"' in ask(api + place, **bearer).text, "the replay over HTTP")


def order(stage):
    """Gives orders and takes them back. None concerns what others do here."""
    scope = ["--tenant", "nobody", "--reason", "test"]
    stage.run("operator", "hold", *scope, "--for", "5m")
    stage.run("operator", "limit", "100", *scope)
    standing = [json.loads(line)["id"] for line in stage.run("operator", "holds", "-o", "ndjson").splitlines()]
    check("a hold and a limit stand", len(standing) == 2, *standing)
    for name in standing:
        stage.run("operator", "release", name)
    stage.run("operator", "holds", "--history")
    enqueue(stage, "--id", "sold", "--label", "campaign=sale", "--not-before", "1h")
    stage.run("operator", "cancel", "--label", "campaign=sale", "--since", "10m", "--dry-run")
    stage.run("operator", "cancel", "sold", "--wait")
    stage.run("operator", "status")
    stage.run("operator", "results", "show", "sold")


def overstep(stage, kafka):
    """An operator publishes nothing and moves no position; who may only read gives no order."""
    stage.run("operator", "enqueue", "--user", "alice", "--title", "x", code=77)
    stage.run("reader", "hold", "--tenant", "nobody", "--reason", "test", code=77)
    stage.run("operator", "group", "start", "--at", "end", "--replace", "--yes", "push.requests.v1:0", code=77)
    refused = {(user, operation) for user, operation, _ in refusals(kafka)}
    # A reader has no topic to write to, so that its producer is refused before it names one.
    check("the broker refuses the operator requests", ("operator", "WRITE") in refused, *sorted(refused))


def move(stage):
    """Writes while no worker runs: a large request, the positions of another group, and of this one in a partition that lost its own."""
    (stage.folder / "people.txt").write_text("".join(f"person-{number}\n" for number in range(300)))
    stage.run("broadcaster", "enqueue", "--audience-file", "people.txt", "--title", "x", "--id", "wave")
    until(lambda: stage.try_running("mover", "group", "start", "--at", "finished", "--dry-run").returncode != 5,
          "the group without its worker")
    stage.run("mover", "group", "start", "--at", "finished", "--dry-run")
    stage.run("mover", "group", "start", "--at", "end", "--replace", "--yes", "push.requests.v1:0")


def work(stage, kafka, hub):
    """Each program does what it is for, and no one is refused anything."""
    api, key = start_services(stage)
    taken = start_callbacks(stage)
    publish(stage)
    call_back(stage, taken)
    repair(stage, hub)
    read(stage)
    order(stage)
    serve(stage, hub, api, key)
    for name in "gateway", "worker", "callbacks":
        stage.jobs.pop(name).end()
    move(stage)
    # Not needed, only a help: the settings of topics for `enqueue --audience-file`, and to a publisher's `cancel` where the id is published.
    helps = {("publisher", "READ"), ("publisher", "DESCRIBE")}
    refused = sorted({one for one in refusals(kafka) if one[1] != "DESCRIBE_CONFIGS" and one[:2] not in helps})
    check("the broker's log has no refusal", not refused, *refused)


def missing(stage, role, user):
    """The exit status of a doctor, and the remedies of what it finds missing."""
    ended = stage.try_running(
        user, "doctor", "--role", role, *ROLES[role], "--probe-writing", "--timeout", "5s", "-o", "ndjson", PUSHFAN_WORKER_ID="doctor")
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    wanted = [finding.get("remedy") for finding in found if finding["check"] == "rights" and finding["state"] == "failed"]
    return ended.returncode, wanted, [finding for finding in found if finding["state"] == "failed"]


def remedy(kafka, user, right):
    resource, name, pattern, operation = right
    return (f"kafka-acls.sh --bootstrap-server {kafka.addresses[LISTENER]} --add --allow-principal User:{user} --operation {operation} "
            f"--{resource} {name}" + (" --resource-pattern-type prefixed" if pattern == "prefixed" else ""))


def take_away(stage, kafka):
    """Each right is missed where it is missing, by its own command."""
    cases = []
    for role in ROLES:
        rights = rights_of(stage, role)
        check(f"{role}: {len(rights)} rights", 0 < len(rights) <= MOST)
        cases.append((role, role, None))
        cases += [(role, f"{role}-{number}", right) for number, right in enumerate(rights)]
        allow(kafka, [(f"{role}-{number}", right) for number, lost in enumerate(rights) for right in rights if right != lost])

    def judge(case):
        role, user, right = case
        code, wanted, failed = missing(stage, role, user)
        if right is None:
            return code in (0, 1) and not wanted, f"{role}: doctor misses no right", failed
        if right[3] == "DescribeConfigs":
            return code in (0, 1) and not wanted, f"{role}: without {right[3]} on {right[1]} doctor leaves a check out, and misses no right", failed
        is_good = code == 77 and wanted == [remedy(kafka, user, right)]
        claim = f"{role}: without {right[3]} on {right[0]} {right[1]} doctor misses it alone, and ends with {code}"
        return is_good, claim, [*wanted, *failed]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for is_good, text, failed in pool.map(judge, cases):
            check(text, is_good, *failed)


def test(program, folder, kafka):
    """Tries it all, in a folder that is made for it."""
    folder.mkdir()
    stage = Stage(program, folder, kafka)
    with contextlib.closing(stage):
        hub = start_hub(stage)
        stage.run("admin", "topics", "create", "--partitions", "2", PUSHFAN_KAFKA_BOOTSTRAP_SERVERS=kafka.bootstrap,
                  PUSHFAN_KAFKA_PROPERTIES_FILE="/dev/null")
        place = make_tool(folder / "tools")
        for role in ROLES:
            give(stage, role, place)
        work(stage, kafka, hub)
        overstep(stage, kafka)
        take_away(stage, kafka)
