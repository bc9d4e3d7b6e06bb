"""The parts of hub-test that are about a hub's file: a disk that is full, files that are not to be used, and copies of them."""

import base64
import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import sqlite3
import sys

from claims import check, until
from hubstage import CONFIGURATION, SECRETS, Beside, OwnHub, bytes_of, copy_of, handle, id_of, line, sick, told_of
from programs import Program, run
from web import ask

# Exit statuses: of what may be tried later, and of what was done in part.
BUSY, PARTLY = 75, 3


def small_disk(folder):
    """A place, what stands before a command that has a small file system there, and its options; then what makes room for a process of it, and
    what stands before a command that sees the same files."""
    place = folder / "small"
    place.mkdir(parents=True)
    (place / "none").touch()
    mount = "unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=16m,mode=700 none "$0" && head -c 8000000 /dev/zero >"$0/ballast" && exec "$@"'
    if run(*mount, place, "true").returncode == 0:
        def make_room(process):
            (pathlib.Path(f"/proc/{process.pid}/root{place}") / "ballast").unlink()
        return place, [*mount, place], {}, make_room, lambda process: ["nsenter", "--mount", "--target", process.pid]

    def limit():
        """Of a process whose files are not to grow."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, resource.RLIM_INFINITY))

    def lift(process):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return place, [], {"preexec_fn": limit, "restore_signals": False}, lift, lambda _: []


def test_full(program, folder):
    place, before, options, make_room, enter = small_disk(folder / "full")
    with OwnHub(program, folder / "full", before=before, state=place / "hub.db", **options) as hub:
        caller = told_of(hub)
        kept, refused, answer = [], [], None
        long = [f"{number:02}-{'x' * 100}" for number in range(30)]

        def put(number, first="device"):
            own = handle(number, {"device": 0xF0, "refused": 0xF1, "after": 0xF2}[first])
            return caller.put(f"{first}-{number}", own, [f"own-{first}-{number}", *long], user=f"user-{number}")
        for number in range(60_000):
            if (answer := put(number)).status != 200:
                break
            kept.append(f"device-{number}")
        check(f"after {len(kept)} devices the disk is full", answer.status == 503 and kept, answer)
        check("the answer says when to come again", answer.headers.get("Retry-After", "").isdecimal(), dict(answer.headers))
        sent = []
        for number in range(30):
            name = f"refused-{number}"
            (kept if put(number, "refused").status == 200 else refused).append(name)
            answer = caller.send("full", f"own-device-{number}")
            if answer.status == 201:
                sent.append(id_of(answer))
            elif answer.status != 503 or not answer.headers.get("Retry-After", "").isdecimal():
                check("a send that cannot be kept is refused with 503 and Retry-After", False, answer)
        check("more of them are refused", refused, kept[-5:])
        check("/readyz says so, and stays ready for those who read", until(lambda: "degraded hub_files" in caller.call("/readyz").text, limit=20)
              and caller.call("/readyz").status == 200, caller.call("/readyz"))
        check("it still reads", caller.installation("device-0")["tags"] and caller.tagged("own-device-1") == [handle(1, 0xF0)])
        check("nothing of what was refused is there", not (half := [name for name in refused if caller.installation(name) or caller.tagged(f"own-{name}")]), half)
        process = hub.process.process
        make_room(process)
        answer = until(lambda: (said := put(0, "after")).status == 200 and said, limit=30, pause=0.2)
        check("with room it goes on", answer and answer.status == 200, hub.said[-1000:])
        check("and is ready", until(lambda: "degraded" not in (said := caller.call("/readyz")).text and said.status == 200, limit=20))
        broken = [name for name in kept if not has_all(caller, name, long)]
        check(f"all {len(kept)} that it has answered are there with all their tags", not broken, broken[:5])
        check("so are all of them by a tag that all have", len(caller.tagged(long[0])) == len(kept) + 1, len(kept))
        sent.append(caller.sent("room", "own-after-0"))
        ends = {id: caller.end_of(id) for id in sent}
        check("what it took to send meanwhile has its end", all(said and said.state == "Completed" and said.counts == {"Success": 1} for said in ends.values()), ends)
        look = f"import sqlite3; print(sqlite3.connect('file:{hub.state}?mode=ro', uri=True).execute('PRAGMA integrity_check').fetchall())"
        said = run(*enter(process), sys.executable, "-c", look).said.strip()
        check("SQLite finds nothing against the file", said == "[('ok',)]", said)
        done = run(*enter(process), program, "hub", "check", "--state", hub.state, env=hub.environment)
        check("nor does `hub check`", done.returncode == 0, done.said)
    with OwnHub(program, folder / "again") as hub:
        told_of(hub)
        hub.end()

        def fill():
            """Of a process whose files are not to grow at all."""
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        done = run(*hub.command_line, env=hub.environment, cwd=hub.folder, timeout=30, preexec_fn=fill, restore_signals=False)
        check("a start on a full disk ends with 75, and asks for the disk", done.returncode == BUSY and "is the disk full?" in done.stderr, done.returncode, done.said)
    with OwnHub(program, folder / "gone") as hub:
        caller = told_of(hub)
        caller.put("before", handle(1, 0xF3), ["World"])
        hub.state.rename(hub.folder / "elsewhere")
        answer = until(lambda: (said := caller.put("lost", handle(2, 0xF3))).status != 200 and said, limit=20)
        check("a file that was taken away is no place for answers", answer and answer.status == 503 and answer.headers.get("Retry-After"), answer)
        check("and /readyz says so", until(lambda: "hub_files" in caller.call("/readyz").text, limit=20) and caller.call("/livez").status == 200)
        hub.end()
        copy = copy_of(hub.folder / "elsewhere", hub.folder / "look")
        check("the file itself is sound", not (said := sick(copy)), said)


def has_all(caller, name, long):
    found = caller.installation(name)
    return found and set(found["tags"]) == {f"own-{name}", *long}


def key_file(folder, name):
    path = folder / name
    path.write_text(base64.b64encode(os.urandom(32)).decode() + "\n")
    path.chmod(0o600)
    SECRETS.add(path.read_text().strip())
    return path


def refused_at_start(hub, claim, *names, words=None):
    """A start that ends with 78 and a sentence that names the file."""
    before, hub.words = hub.words, hub.words if words is None else words
    done = run(*hub.command_line, env=hub.environment, cwd=hub.folder, timeout=30)
    hub.words = before
    check(f"{claim}: it ends with 78 and says so", done.returncode == CONFIGURATION and not done.stdout and all(name in done.stderr for name in names)
          and "Fatal error" not in done.stderr and len(done.stderr) < 4000, done.returncode, done.said)
    return done


def test_locks(program, folder):
    place = folder / "locks"
    place.mkdir()
    key, other = key_file(place, "key"), key_file(place, "other")
    with OwnHub(program, place, words=["--handle-key-file", key]) as hub:
        caller = told_of(hub)
        for number in range(20):
            caller.put(f"device-{number}", handle(number, 0xB0), ["World"], user=f"user-{number}")
        said, path = hub.said, str(hub.state)
        check("with a key nothing is said of plain handles", "plain" not in said.lower(), said)
        second = OwnHub(program, place, words=["--handle-key-file", key], starts=False)
        second.environment = hub.environment
        refused_at_start(second, "a file that another process has open", path, f"fuser {path}.lock")
        check("the first goes on", caller.put("device-20", handle(20, 0xB0), ["World"]).status == 200 and len(caller.tagged("World")) == 21)
        hub.end()
        data = bytes_of(hub.state)
        leaked = [number for number in range(21) for form in (handle(number, 0xB0).encode(), bytes.fromhex(handle(number, 0xB0))) if form in data]
        check("no handle is in the file's bytes", data and not leaked, leaked)
        refused_at_start(hub, "another key", path, words=["--handle-key-file", other])
        refused_at_start(hub, "no key where there was one", path, words=[])
        (place / "short").write_text("c2hvcnQ=\n")
        (place / "short").chmod(0o600)
        refused_at_start(hub, "a key that is too short", "expected one line, 32 bytes as base64", words=["--handle-key-file", place / "short"])
        refused_at_start(hub, "no such key file", "the file of the key of its handles does not exist", words=["--handle-key-file", place / "no-such"])
        for claim, spoil in {
            "a file of a newer version": newer, "a damaged file": lambda copy: copy.write_bytes(copy.read_bytes()[:4096] + b"\xaa" * (copy.stat().st_size - 4096)),
            "a file without its beginning": lambda copy: copy.write_bytes(b"\xaa" * 4096 + copy.read_bytes()[4096:]),
            "a text": lambda copy: copy.write_text("hello\n" * 1000), "a database of another program": foreign,
        }.items():
            copy = copy_of(hub.state, place / "spoilt")
            spoil(copy)
            spoilt = copy.read_bytes()
            refused_at_start(OwnHub(program, place, state=copy, words=hub.words, starts=False), claim, str(copy))
            check("and leaves it as it is", copy.read_bytes() == spoilt)
            done = hub.tool("check", "--handle-key-file", key, state=copy)
            check("`hub check` finds it, too", done.returncode > 0, done.returncode, done.said)
        refused_at_start(OwnHub(program, place, state=place / "none" / "hub.db", starts=False), "a folder that is not there", "none")
        refused_at_start(OwnHub(program, place, state=place, starts=False), "a folder in place of a file", str(place))
        hub.start()
        check("with its key it has all", len(hub.caller.tagged("World")) == 21 and hub.caller.sent("Hi", "World"))
        done = hub.tool("check", "--handle-key-file", key, "-o", "json")
        check("`hub check` finds nothing, and counts", done.returncode == 0 and hub_counts(done) == 21, done.returncode, done.said)
    with OwnHub(program, place / "plain") as hub:
        told_of(hub)
        hub.end()
        refused_at_start(hub, "a key where there was none", str(hub.state), words=["--handle-key-file", key])


def hub_counts(done):
    return json.loads(done.stdout)[0]["installations"]


def newer(copy):
    with contextlib.closing(sqlite3.connect(copy)) as file:
        file.execute("PRAGMA user_version = 99")
        file.commit()


def foreign(copy):
    copy.unlink()
    with contextlib.closing(sqlite3.connect(copy)) as file:
        file.executescript("PRAGMA application_id = 7; CREATE TABLE notes (text)")


def normal(lines):
    """Registrations without what a hub gives: their ids, versions and times."""
    return sorted(re.sub("<(ETag|ExpirationTime|RegistrationId)>[^<]*</\\1>", "", text) for text in lines.splitlines() if text.strip())


def test_backup(program, folder):
    place = folder / "backup"
    hub = OwnHub(program, place, starts=False).make()
    lines = [line(handle(number, 0xC0), "World", f"number-{number}", f"$UserId:{{user-{number % 500}}}") for number in range(18_000)]
    lines += [line(handle(number, 0xC1), "World", f"number-{number}", f"$InstallationId:{{device-{number}}}") for number in range(2_000)]
    (place / "azure.txt").write_text("\n".join(lines) + "\n")
    done = hub.tool("import", "--dry-run", place / "azure.txt")
    check("a rehearsal of an import is done", done.returncode == 0, done.said)
    done = hub.tool("import", place / "no-such.txt")
    check("a file that is not there is told", done.returncode != 0 and "no-such.txt" in done.said, done.returncode, done.said)
    cut = OwnHub(program, place / "cut", starts=False).make()
    importing = Program(program, "hub", "import", place / "azure.txt", "--state", cut.state, log=cut.log, environment=cut.environment)
    until(lambda: bytes_of(cut.state).count(b"number-1") > 500 or not importing.runs)
    importing.kill()
    found = cut.counts()["registrations"]
    check(f"an import that was killed has whole portions ({found}), and the file is sound", found % 200 == 0 and not sick(copy_of(cut.state, place / "look")), found)
    done = hub.tool("import", place / "azure.txt")
    check("20,000 registrations are imported", done.returncode == 0 and "20000 lines done, 0 failed" in done.said, done.returncode, done.said)
    with hub:
        hub.start()
        caller = told_of(hub)
        check("their tags have them", caller.tagged("number-17999") == [handle(17_999, 0xC0)] and len(caller.tagged("$UserId:{user-7}")) == 36)
        check("an imported installation is one", (caller.installation("device-7") or {}).get("pushChannel", "").upper() == handle(7, 0xC1), caller.installation("device-7"))
        written = []
        with Beside(*(load(hub, first, written) for first in range(3))):
            until(lambda: len(written) > 500, "the load has begun")
            done = hub.tool("import", place / "azure.txt")
            check("an import needs the file for itself", done.returncode == BUSY, done.returncode, done.said)
            before = list(written)
            done = hub.tool("backup", place / "copy.db")
            check("a backup is made while it runs", done.returncode == 0 and (place / "copy.db").stat().st_mode & 0o777 == 0o600, done.said)
            check("`hub check` finds nothing against the running one", (done := hub.tool("check")).returncode == 0, done.said)
        check("`hub check` finds nothing against the copy", (done := hub.tool("check", state=place / "copy.db")).returncode == 0, done.said)
        check("nor does SQLite", not (said := sick(copy_of(place / "copy.db", place / "look"))), said)
        check("a second one takes its place", hub.tool("backup", place / "copy.db").returncode == 0 and not (place / "copy.db.part").exists())
        with OwnHub(program, place / "second", state=place / "copy.db") as second:
            check("the copy is a hub with the same key", second.caller.key == caller.key)
            missing = [name for name in set(before) if not trio(second.caller, name)]
            check(f"with all {len(set(before))} devices that were answered before", not missing, missing[:5])
            id = second.caller.sent("copy", "World")
            check("it sends to all it has", (said := second.caller.end_of(id)).counts == {"Success": 20_000}, said)
        done = hub.tool("export", place / "out.txt")
        check("what runs is exported", done.returncode == 0, done.said)
        compare_jobs(hub, place, lines)
    moved = OwnHub(program, place / "moved", starts=False).make()
    moved.tool_done("import", place / "out.txt")
    moved.tool_done("export", place / "again.txt")
    first, again = (normal((place / name).read_text()) for name in ("out.txt", "again.txt"))
    check(f"{len(first)} exported registrations are the same after an import", first == again and len(first) >= 20_000 + 500, len(first), len(again),
          sorted(set(first) ^ set(again))[:4])
    done = moved.tool("import", "-", "-o", "json", input="\n".join([line(handle(1, 0xC9), "a"), "<broken", line("no-hex", "a"), line(handle(2, 0xC9), "a")]) + "\n")
    told = re.findall(r'"line": ?(\d+)', done.stdout)
    check("faulty lines are told by their numbers", done.returncode == PARTLY and told == ["2", "3"], done.returncode, done.said)
    moved.tool_done("export", place / "again.txt")
    check("and the others are there", {handle(number, 0xC9) for number in (1, 2)} <= set(re.findall("<DeviceToken>(.*?)<", (place / "again.txt").read_text())))
    moved.tool_done("erase", "--user", "user-7")
    moved.tool_done("export", place / "again.txt")
    text, data = (place / "again.txt").read_text(), bytes_of(moved.state)
    check("an erased user is in no export", "{user-7}" not in text and "{user-70}" in text)
    gone = [number for number in range(7, 18_000, 500) if handle(number, 0xC0).encode() in data or bytes.fromhex(handle(number, 0xC0)) in data]
    check("nor are its devices in the bytes of the file", not gone and re.search(rb"(?i)user-7\D", data) is None, gone)


def trio(caller, name):
    """Whether a device of the load has the tags of one write."""
    tags = sorted((caller.installation(name) or {}).get("tags", []))
    return len(tags) == 3 and len({tag.rpartition("-")[0] for tag in tags}) == 1


def load(hub, first, written):
    """Writes installations in turn, and notes those that are written."""
    caller = hub.another()

    def write(turn):
        name = f"load-{first}-{turn % 2000}"
        if caller.put(name, handle(turn % 2000, 0xD0 + first), [f"t{turn}-{part}" for part in "abc"]).status == 200:
            written.append(name)
    return write


def compare_jobs(hub, place, lines):
    """Imports by jobs, as SDKs do, into a hub of its own."""
    with OwnHub(hub.program, place / "jobs") as other:
        caller, storage = told_of(other), f"{other.address}/storage/bulk"
        for number, part in enumerate([lines[:10_000], lines[10_000:]]):
            body = "\n".join(part).encode()
            # A call's body has a limit, and lines are long.
            for half, text in enumerate([body[:(middle := body.index(b"\n", len(body) // 2))], body[middle + 1:]]):
                answer = caller.beside(f"/storage/bulk/in-{number}-{half}.txt", text, "PUT")
                check("a file of lines is stored", answer.status == 201, answer)
                id = caller.job("ImportCreateRegistrations", storage, f"{storage}/in-{number}-{half}.txt")
                said = caller.job_end(id)
                check("a job imports it", "<Status>Completed<" in said and "Failed.txt" in said, said)
                failed = caller.beside(f"/storage/bulk/{other.name}/{id}/Failed.txt")
                check("without a faulty line", failed.status == 200 and not failed.text.strip(), failed)
        id = caller.job("ExportRegistrations", storage)
        check("a job exports all", "<Status>Completed<" in caller.job_end(id), caller.job_end(id))
        said = caller.beside(f"/storage/bulk/{other.name}/{id}/Output.txt")
        check("20,000 of them", said.status == 200 and len(normal(said.text)) == 20_000, said.status, said.text[:500])
        check("a stranger gets none", ask(f"{storage}/{other.name}/{id}/Output.txt").status in (401, 403))
