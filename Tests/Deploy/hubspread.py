"""The parts of hub-test that need a Kafka: hubs of one's own as a spread, and apps in front of them."""

import base64
import json
import re

from callbackstage import Stage
from claims import attempt, check, until
from devicestage import API, PASSWORD, fnv, mix
from hubstage import OwnHub, handle, print_of, told_of

NAMES = "east", "middle", "west"
WORKERS = "worker-1", "worker-2"
USERS = 300
DOWN = "middle"


class Crowd:
    """Three hubs of one's own that are a spread, the default, with a gateway and two workers."""

    def __init__(self, program, folder):
        self.stage = Stage(program, folder)
        self.ending = self.stage.ending
        try:
            self.hubs = {name: self.ending.enter_context(OwnHub(program, folder / name, name)) for name in NAMES}
            for hub in self.hubs.values():
                told_of(hub)
            settings = {
                "kafka": {"bootstrap_servers": self.stage.broker.bootstrap},
                "hubs": {name: {"name": name, "connection_string": hub.connection} for name, hub in self.hubs.items()},
                "spreads": {"crowd": list(NAMES)}, "default_hub": "crowd", "gateway": {"users_file": str(folder / "users")},
            }
            for name in "PUSHFAN_HUB_NAME", "PUSHFAN_HUB_CONNECTION_STRING":
                del self.stage.environment[name]
            file = folder / "pushfan.yaml"
            file.write_text(json.dumps(settings, indent=1))
            file.chmod(0o600)
            self.stage.environment["PUSHFAN_CONFIG"] = str(file)
            for name in "alice", "bob":
                self.stage.command("users", "set", name, "--file", folder / "users", input=f"{PASSWORD}\n")
            self.key = self.stage.make_key("--scope", "register,publish,publish:broadcast,read")
            self.base = self.stage.start_gateway()
            self.service = API(self.base, f"Bearer {self.key}")
            for name in WORKERS:
                self.stage.start(name, "worker", PUSHFAN_WORKER_ID=name)
        except BaseException:
            self.stage.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stage.__exit__()

    def user(self, name):
        return API(self.base, "Basic " + base64.b64encode(f"{name}:{PASSWORD}".encode()).decode())

    @staticmethod
    def home(name):
        """The hub of a user, as page Hubs has the rule."""
        return max(sorted(NAMES), key=lambda hub: mix(fnv(name) ^ mix(fnv(hub))))

    def rung(self, own):
        """How often a handle is in the records."""
        wanted = print_of(own)
        return sum(push.device == wanted for hub in self.hubs.values() for push in hub.pushes)

    def prints(self):
        return {push.device for hub in self.hubs.values() for push in hub.pushes}

    def result(self, id, wait=0):
        """The result of a request, or None while there is none."""
        answer = self.service.ask(f"/v1/requests/{id}?wait={wait}")
        return answer.json.get("result") if answer.status == 200 else None


def test_spread(at):
    stage, homes = at.stage, {f"person-{number}": at.home(f"person-{number}") for number in range(USERS)}
    own = {name: handle(number, 0x510) for number, name in enumerate(homes)}
    answers = [at.service.put(f"of-{name}", platform="apns", handle=own[name], user=name) for name in homes]
    check("devices are registered by the gateway", {answer.status for answer in answers} == {200}, next((one for one in answers if one.status != 200), ""))
    wrong = [name for name, home in homes.items() if [hub for hub, there in at.hubs.items() if there.caller.installation(f"of-{name}")] != [home]]
    check("each is at its user's hub alone, and each hub has some", not wrong and set(homes.values()) == set(NAMES), wrong[:5])

    def publish(first, names):
        # A call that the kill cuts off is made again.
        lines = [json.dumps({"schema_version": 1, "id": f"{first}-{name}", "audience": {"users": [name]}, "message": {"title": first},
                             "options": {"on_ambiguous": "retry"}}) for name in names]
        (stage.folder / f"{first}.ndjson").write_text("\n".join(lines) + "\n")
        stage.command("enqueue", stage.folder / f"{first}.ndjson")
    names = list(homes)
    publish("early", names[:150])
    until(lambda: at.prints() & {print_of(own[name]) for name in names[:150]}, "the first are recorded")
    at.hubs[DOWN].kill()
    publish("late", names[150:])
    others = {print_of(own[name]) for name, home in homes.items() if home != DOWN}
    check("with one hub killed, the others get all of their share", until(lambda: others <= at.prints(), limit=60), len(others - at.prints()))
    share = [name for name in names[150:] if homes[name] == DOWN]
    missing = [name for name in share if print_of(own[name]) not in at.prints()]
    check(f"its share of {len(share)} waits", share and missing == share and not any(at.result(f"late-{name}") for name in share[:5]), len(missing))
    check("the workers go on", all(stage.running[name].runs for name in WORKERS))
    at.hubs[DOWN].start()
    everyone = {print_of(mark) for mark in own.values()}
    check("once it is back, nothing is lost", until(lambda: everyone <= at.prints(), limit=100), len(everyone - at.prints()))
    results = {id: at.result(id, wait=20) for id in [f"early-{name}" for name in names[:150:10]] + [f"late-{name}" for name in names[150::10]]}
    check("every request has its result", all(results.values()), [id for id, result in results.items() if not result])
    # The devices of a push that a kill has cut off may get it twice.
    twice = sum(at.rung(own[name]) > 1 for name in names[150:] if homes[name] != DOWN)
    check("at the others none came twice", twice == 0, twice)
    before = {name: len(hub.pushes) for name, hub in at.hubs.items()}
    answer = at.service.ask("/v1/requests", {"id": "news", "audience": {"broadcast": True}, "message": {"title": "News"}, "platforms": ["apple"]})
    check("a broadcast is published", answer.status == 202, answer)
    shares = {name: sum(home == name for home in homes.values()) for name in NAMES}

    def came():
        return {name: len(hub.pushes) - before[name] for name, hub in at.hubs.items()}
    check("it reaches every device of every hub", until(lambda: all(came()[name] >= shares[name] for name in NAMES), limit=60), came(), shares)


def test_apps(at):
    """What the apps of the tutorials call."""
    alice, bob = at.user("alice"), at.user("bob")
    phones = {"alice": handle(1, 0xA99), "bob": handle(2, 0xA99)}
    for name, app in ("alice", alice), ("bob", bob):
        answer = app.ask(f"/api/register?handle={phones[name]}", b"", "POST")
        check(f"the app of {name} gets an id", answer.status == 200 and re.fullmatch('"[^"]+"', answer.text.strip()), answer)
        id = answer.json
        for _ in range(2):
            answer = app.ask(f"/api/register/{id}", {"Platform": "apns", "Handle": phones[name], "Tags": ["World"]}, "PUT")
            check("and registers with it, as often as it starts", answer.status == 200, answer)
        answer = app.ask(f"/api/register?handle={phones[name]}", b"", "POST")
        check("the handle keeps it", answer.status == 200 and answer.json == id, answer, id)
    answer = alice.ask("/api/notifications?pns=apns&to_tag=bob", '"Hi, Bob"', "POST", Content_Type="application/json")
    check("a note to a user is taken", answer.status == 200, answer)
    check("it rings at that user's device", until(lambda: at.rung(phones["bob"]) == 1, limit=40), at.rung(phones["bob"]))
    check("and at no other", at.rung(phones["alice"]) == 0)
    shown = [device for hub in at.hubs.values() for device in json.loads(hub.caller.beside(f"/devices?handle={phones['bob']}").text)]
    check("/devices shows it in the tutorial's form", any('"From alice: Hi, Bob"' in ring["body"] for device in shown for ring in device["rung"]), shown)
    answer = alice.ask("/api/notifications?pns=apns&to_tag=nobody-of-that-name", '"Hi"', "POST", Content_Type="application/json")
    check("a note to somebody without a device is taken, too", answer.status == 200, answer)
    news = {"Platform": "apns", "Handle": handle(3, 0xA99), "Tags": ["Sports"], "Templates": {"news": {"Body": '{"aps":{"alert":"$(messageParam)"}}', "Tags": ["Sports"]}}}
    name = alice.ask(f"/api/register?handle={handle(3, 0xA99)}", b"", "POST").json
    check("an app for news registers a template", alice.ask(f"/api/register/{name}", news, "PUT").status == 200)
    hub = at.hubs[at.home("alice")].caller
    id = hub.sent("", "Sports", format="template")
    check("a template send to its category reaches it", (said := hub.end_of(id)).counts == {"Success": 1}, said)
    check("an app leaves", alice.ask(f"/api/register/{name}", method="DELETE").status == 200 and hub.installation(name) is None)


def test(program, folder, parts):
    folder.mkdir(parents=True, exist_ok=True)
    with Crowd(program, folder) as at:
        tests = {"spread": test_spread, "apps": test_apps}
        for part in (part for part in tests if part in parts):
            attempt(f"{part} comes to its end", lambda part=part: tests[part](at))
