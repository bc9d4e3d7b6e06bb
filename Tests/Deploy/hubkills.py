"""The part of hub-test in which a hub is killed under registrations and sends, and whatever it has answered is looked for."""

import collections
import random
import re
import threading
import time

from claims import check, until
from hubstage import OwnHub, copy_of, handle, line, print_of, records, sick, told_of

BASE = 4000  # devices that stay as they are, and get broadcasts
# The most pushes of one notification that may be on their way: two pages of a walk. They may be repeated after a kill.
IN_FLIGHT = 2000
WRITERS, OWN = 3, 150  # threads that register, and the devices that each has
SAMPLE = 30  # devices whose lists are read after each kill
PARTS = "abcde"
# Of an end or a start that other programs hold up.
START_LIMIT, SLOW_STARTS = 1, 0.2


def base_line(number):
    return line(handle(number, 0xBA), "base", f"$UserId:{{base-{number}}}")


class Device:
    """A device of a writer, whose every write is of one whole set of tags."""

    def __init__(self, writer, number):
        self.name, self.own, self.is_registration = f"w{writer}-d{number}", handle(number, 0xDE0 + writer), writer == 0
        self.id = f"1-{number + 1}-1"
        # The sets that were tried and answered last.
        self.tried = self.answered = 0

    def tag(self, turn, part):
        return f"{self.name}-t{turn}-{part}"

    def write(self, caller, turn):
        """Writes the set of a turn. Returns whether that was answered."""
        self.tried, tags = turn, [self.tag(turn, part) for part in PARTS]
        answer = caller.register(self.own, *tags, id=self.id) if self.is_registration else caller.put(self.name, self.own, tags)
        if answer.status == 200:
            self.answered = turn
        elif answer.status:
            raise AssertionError(f"{self.name}: {answer}")
        return answer.status == 200

    def found(self, caller):
        """The tags that the hub has, or None."""
        if not self.is_registration:
            return (caller.installation(self.name) or {}).get("tags")
        answer = caller.ask(f"/registrations/{self.id}")
        tags = re.search("<Tags>([^<]*)<", answer.text)
        return tags[1].split(",") if answer.status == 200 and tags else None if answer.status in (200, 404) else [f"{answer}"]

    def faults(self, caller, with_lists):
        """What is wrong with what the hub has."""
        tags = self.found(caller)
        if tags is None:
            return [f"{self.name} is missing, of which turn {self.answered} was answered"] if self.answered else []
        turns = {tag.split("-t")[1].split("-")[0] for tag in tags if "-t" in tag}
        turn = int(turns.pop()) if len(turns) == 1 else 0
        if sorted(tags) != [self.tag(turn, part) for part in PARTS] or not self.answered <= turn <= self.tried:
            return [f"{self.name} has {sorted(tags)}; tried {self.tried}, answered {self.answered}"]
        before, self.answered = self.answered, turn
        if not with_lists:
            return []
        wrong = [part for part in PARTS if caller.tagged(self.tag(turn, part)) != [self.own]]
        stale = [other for other in {before, before - 1, self.tried} - {turn, 0} if caller.tagged(self.tag(other, "c"))]
        return [f"{self.name} in turn {turn}: not listed by {wrong}, still listed by {stale}"] if wrong or stale else []


class Life:
    """What callers do from a start to a kill."""

    def __init__(self, hub, devices, sent):
        self.hub, self.devices, self.sent, self.over = hub, devices, sent, threading.Event()
        self.touched, self.last, self.faults, self.count = set(), {}, [], 0
        self.threads = [threading.Thread(target=self.guard, args=[work], daemon=True) for work in [
            *(lambda writer=writer: self.write(writer) for writer in range(WRITERS)), self.broadcast, self.single]]
        for thread in self.threads:
            thread.start()

    def guard(self, work):
        try:
            work()
        except Exception as error:  # noqa: BLE001 of a thread, told by the one that waits for it
            self.faults.append(f"{type(error).__name__}: {error}")

    def write(self, writer):
        caller = self.hub.another(limit=30)
        while not self.over.is_set():
            device = random.choice(self.devices[writer])
            self.touched.add(device)
            self.last[writer] = device
            if not device.write(caller, device.tried + 1):
                return
            self.count += 1

    def broadcast(self):
        caller = self.hub.another(limit=30)
        while not self.over.is_set() and self.send(caller, "base", range(BASE)):
            self.over.wait(0.25)

    def single(self):
        caller = self.hub.another(limit=30)
        number = random.randrange(BASE)
        while not self.over.is_set() and self.send(caller, f"$UserId:{{base-{number}}}", [number]):
            number = random.randrange(BASE)
            self.over.wait(0.01)

    def send(self, caller, tags, audience):
        answer = caller.send("killed", tags)
        if answer.status == 201:
            self.sent[answer.headers["Location"].split("?")[0].rsplit("/", 1)[-1]] = audience
            self.count += 1
        elif answer.status:
            raise AssertionError(f"a send to {tags}: {answer}")
        return answer.status == 201

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def test(program, folder, kills):
    place, seed = folder / "kills", random.randrange(1 << 32)
    random.seed(seed)
    hub = OwnHub(program, place, starts=False).make()
    (place / "base.txt").write_text("".join(f"{base_line(number)}\n" for number in range(BASE)))
    hub.tool_done("import", place / "base.txt")
    devices = [[Device(writer, number) for number in range(OWN)] for writer in range(WRITERS)]
    sent, ends, seconds, faults, unsound, writes, life = {}, [], [], [], [], 0, None
    with hub:
        for kill in range(kills + 1):
            seconds.append(hub.start())
            told_of(hub)
            if kill:
                chosen = [*life.last.values(), *random.sample(sorted(life.touched, key=lambda device: device.name), min(SAMPLE, len(life.touched)))]
                for device in life.touched:
                    faults += device.faults(hub.caller, with_lists=device in chosen)
                faults += unheard(hub, chosen[:WRITERS + 2])
                checked = hub.tool("check")
                if checked.returncode:
                    unsound.append(checked.said)
            if kill == kills:
                break
            life = Life(hub, devices, sent)
            until(lambda life=life: life.count > 20 or life.faults, limit=30)
            time.sleep(random.uniform(0, 0.6))
            hub.kill()
            life.end()
            faults, writes = faults + life.faults, writes + life.count
            ends.append(hub.record_end)
            if said := sick(copy_of(hub.state, place / "copy")):
                unsound.append(said)
        check(f"killed {kills} times (seed {seed}), no device of {writes} answered calls is missing, and no tag half changed", not faults and writes, *faults[:5])
        check("SQLite's own check and `hub check` find nothing after any kill", not unsound, *unsound[:3])
        slow = [found for found in seconds if found > START_LIMIT]
        check(f"a start takes a second at most ({max(seconds):.2f} s)", len(slow) <= SLOW_STARTS * len(seconds), slow)
        compare_all(hub, [device for group in devices for device in group if device.answered])
        ended = {id: hub.caller.end_of(id) for id in sent}
        wrong = {id: said for id, said in ended.items() if not said or said.state != "Completed" or said.counts != {"Success": len(sent[id])}}
        check(f"all {len(sent)} notifications that were taken end, with counts that add up", sent and not wrong, list(wrong.items())[:3])
        check("none waits any more", hub.counts()["unfinished"] == 0, hub.counts())
        compare_record(hub, sent, [*ends, hub.record_end])


def unheard(hub, devices):
    """Devices that a send to all of their tags does not reach."""
    ids = {hub.caller.sent("all five", " && ".join(device.tag(device.answered, part) for part in PARTS)): device for device in devices if device.answered}
    told = {id: hub.caller.end_of(id) for id in ids}
    return [f"{ids[id].name} is not reached by its tags: {said}" for id, said in told.items() if not said or said.state != "Completed" or said.counts != {"Success": 1}]


def compare_all(hub, devices):
    """Every device is reached by a tag, and by no tag of before."""
    for claim, turn, wanted in ("each is reached by its tag", lambda device: device.answered, True), ("and by none of before", lambda device: device.answered - 1, False):
        missed = []
        for first in range(0, len(devices), 20):
            group = [device for device in devices[first:first + 20] if turn(device)]
            if not group:
                continue
            said = hub.caller.end_of(hub.caller.sent("one of each", " || ".join(device.tag(turn(device), "c") for device in group)))
            if said.counts["Success"] != (len(group) if wanted else 0):
                missed.append((said, [device.name for device in group]))
        check(f"of {len(devices)} devices {claim}", devices and not missed, missed[:2])


def compare_record(hub, sent, ends):
    """The record has every device of every notification, and what it has twice was on its way at a kill."""
    pushes, pairs, repeats, wrong = {}, 0, collections.Counter(), []
    for life, (first, last) in enumerate(zip([0, *ends], ends)):
        for push in records(hub.record, first, last):
            found = pushes.setdefault(push.message, {})
            before = found.get(push.device)
            found[push.device] = (push.id, life)
            if before is None:
                pairs += 1
            elif before[0] != push.id or before[1] == life:
                wrong.append((push, before, life))
            else:
                repeats[push.message, life] += 1
    prints = [print_of(handle(number, 0xBA)) for number in range(BASE)]
    missing = [id for id, audience in sent.items() if set(pushes.get(id, ())) != {prints[number] for number in audience}]
    check(f"the record has each of {pairs} pushes, and none to others", pairs and not missing, len(missing),
          [(len(sent[id]), len(pushes.get(id, ()))) for id in missing[:5]])
    check(f"{repeats.total()} that were on their way at a kill came again, with the same ids", not wrong, len(wrong), wrong[:3])
    check(f"of a notification at most {IN_FLIGHT} at a kill", max(repeats.values(), default=0) <= IN_FLIGHT, repeats.most_common(3))
    ids = {id for found in pushes.values() for id, _ in found.values()}
    check("no two pushes have one id", len(ids) == pairs and all(re.fullmatch("(?i)[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", id) for id in list(ids)[:100]), len(ids))
