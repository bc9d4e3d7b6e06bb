"""Cases of sentences: each is true of the figures that it is made from, whatever they are."""

import pathlib
import re

from behaviour import HOSTILE
from browser import wait
from looks import AUDIT, emulated
from pagestage import request
from trial import MADE, case, check, equal


def worker(**members):
    return {"id": "w", "age_ms": 100, "loops": []} | members


def fleet(**members):
    return {"workers": [worker()], "hubs": [], "finished_per_second": 0, "sent_per_second": 0} | members


OUT = [{"hub": "south", "circuit": "open"}, {"hub": "north", "circuit": "closed"}]
AWAY = {"reachable": False, "since": "2026-11-27T15:00:01.000Z", "problem": "brokers do not answer"}
RESTS = {"requests": 0, "oldest_ms": 0, "reasons": []}
# Of each the fleet, the backlog, what is to be said, and what is not.
VERDICTS = [
    (fleet(hubs=OUT, finished_per_second=40, sent_per_second=30), RESTS, r"the rest moves: 30\.0 sent a second", r"40"),
    (fleet(hubs=OUT, finished_per_second=40), RESTS, r"Hub south is out; nothing is sent", r"moves|40"),
    (fleet(finished_per_second=40, sent_per_second=0), RESTS, r"40\.0 finished a second, 0\.0 of them sent", None),
    (fleet(finished_per_second=40, sent_per_second=40), RESTS, r"Moving: 40\.0 finished a second, nothing waits", r"of them"),
    (fleet(), RESTS, r"Idle: nothing waits", None),
    (fleet(), RESTS | {"delayed": 3, "held": 1}, r"Idle: nothing waits but 3 delayed and 1 held by ordering keys\.", None),
    (fleet(kafka=AWAY, workers=[]), {"unknown": True}, r"Kafka is away: brokers do not answer, since .*\d\d:00:01", r"[Ww]orker|Idle"),
    (fleet(kafka=AWAY), RESTS, r"Kafka is away", r"Idle|nothing waits"),
    (fleet(kafka={"reachable": True}, workers=[worker(stale=True)]), RESTS, r"No worker reports\. Requests wait", r"away"),
    (fleet(kafka={"reachable": True}, workers=[]), {"unknown": True, "at": "2026-11-27T15:00:00.000Z"}, r"Kafka does not show", r"until one runs"),
    (fleet(workers=[]), None, r"Kafka has not answered yet", r"until one runs"),
]


@case("the overview's sentence counts what was sent as moving, and names Kafka before missing workers")
def verdicts(trial):
    trial.open("overview")
    for seen, backlog, said, unsaid in VERDICTS:
        text = trial.browser.script(MADE, "overview.js", "verdict", {"state": "live", "fleet": seen, "backlog": backlog})["text"]
        check(re.search(said, text), f"{text!r} does not say {said!r}")
        check(not unsaid or not re.search(unsaid, text), f"{text!r} says {unsaid!r}")


# A word, and how it is copied.
WORDS = [
    ("order-1", "order-1"), ("it's", "'it'\\''s'"), ("$(id)", "'$(id)'"), ("a\nb", "'a\nb'"), ("\x1b[201~\x03", r"$'\x1b[201~\x03'"),
    ("a\tb", r"$'a\x09b'"), ("it's\x7f\\", r"$'it\'s\x7f\\'"), ("\u202ea\u0085", r"$'\u202ea\u0085'"),
]


@case("what a terminal would act on is copied as an escape, and the shell makes the same word of it")
def copied(trial):
    trial.open("overview")
    for word, expected in WORDS:
        equal(trial.browser.script(MADE, "kit.js", "shell", word), expected, f"the copy of {word!r}")


# What may stand in a topic in place of a member of a result.
ODD = [None, True, 7, -1, 1e308, "", "text", "\x1b", [], [None], [7], {}, {"a": None}, [[[]]], {"constructor": 1, "toString": 2}]
MEMBERS = ["kind", "state", "outcome", "replay_safety", "error", "sends", "attempts", "targets", "timings", "labels", "replay", "parts",
           "parent", "worker", "origin", "attempt_count", "at", "hub_state", "result_id"]
# Its fields are of one kind, whatever the record says.
KINDS = """
const [odd, members] = arguments
return import(new URL('ui/view.js', location.href)).then(({asResult, doubts}) => {
  const wrong = []
  for (const name of members) for (const value of odd) {
    const result = asResult({request_id: 'r', [name]: value})
    const texts = [result.kind, result.state, result.outcome, result.replay_safety ?? '', result.error?.code ?? '', ...(result.sends ?? []).map((send) => send.outcome)]
    const lists = [result.sends ?? [], result.attempts ?? [], result.error?.faults ?? [], result.replay?.sends ?? [], result.replay?.modified ?? []]
    doubts([result], result, [result])
    if (!texts.every((one) => typeof one === 'string') || !lists.every(Array.isArray) || result.request_id !== 'r') wrong.push([name, value])
  }
  return wrong.concat(odd.filter((value) => asResult(value).state !== 'unknown'))
})"""


@case("an odd record empties no screen: what the contract does not have in its place is left out")
def odd_records(trial):
    trial.open("overview")
    equal(trial.browser.script(KINDS, ODD, MEMBERS), [], "members that are read as something else")


@case("beside the sentence that nothing waits stands how many failures are open, with the way to them")
def idle_with_failures(trial):
    trial.fail(1)
    trial.open("overview")
    browser = trial.browser
    wait(lambda: "Idle: nothing waits" in trial.shown("[data-verdict]") and trial.count("[data-open]") == trial.open_failures(),
         "the number of open failures stands beside it")
    trial.press("[data-open]")
    trial.ready("failures")
    check(browser.find("tr[data-cause]"), "the link does not lead to what has failed")


PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Commands/PushFan/PushFan.docc"
# Of each a replay, the words of what it has left, and their numbers.
LEFT = [
    ({"state": "planned", "left": {"gone": 2}, "requests": 5, "next": 0, "replayed": 0}, {"not run so far": 5, "no longer in Kafka": 2}),
    ({"state": "stopped", "left": {"gone": 2}, "left_by_run": {"gone": 1, "ambiguous": 3}, "requests": 9, "next": 6, "replayed": 2},
     {"no longer in Kafka": 3, "may have arrived": 3, "stopped before it": 3}),
    ({"state": "running", "left": {}, "left_by_run": {"expired": 1}, "requests": 9, "next": 8, "replayed": 5},
     {"expired": 1, "a moment ago": 2, "turn has not come": 1}),
    ({"state": "done", "left": {"newer_word": 7}, "requests": 1, "next": 1, "replayed": 1}, {"newer_word": 7}),
]


@case("the leftovers of a replay have their number and a reason in words, and a word that is not known is shown as it is")
def left_words(trial):
    trial.open("replays")
    for replay, expected in LEFT:
        found = trial.browser.script(MADE, "replays.js", "leftLines", replay)
        equal({said: sum(number for number, why in found if said in why) for said in expected}, expected, f"what {replay} has left")
        equal(len(found), len(expected), f"the reasons of {replay}")
    table = (PAGES / "Replay.md").read_text().split("| Left as | Why |")[1].split("\n\n")[0]
    words = re.findall(r"^\| `(\w+)` \|", table, re.M)
    left = {word: 1 for word in words}
    found = trial.browser.script(MADE, "replays.js", "leftLines", {"state": "done", "left": left, "requests": 0, "next": 0, "replayed": 0})
    said = {why for _, why in found}
    check(len(words) > 10 and len(said) == len(words), f"{words} are {said}")
    check(not any("_" in why for why in said), f"a reason is without words: {said}")


def final(**members):
    return {"kind": "final", "result_id": "final.a.0.7", "state": "sent", "outcome": "success", "targets": {"planned": 1, "accepted": 1}} | members


def attempt(number, **members):
    return {"n": number, "send": 0, "result": "ok", "http_status": 201, "bytes_sent": True} | members


LOST = attempt(1, result="timeout", http_status=None)
UNKNOWN = final(state="failed", outcome="ambiguous", targets={"planned": 2, "ambiguous": 1},
                sends=[{"index": 0, "outcome": "ambiguous"}, {"index": 1, "outcome": "throttled"}])
# Of each the results of a request, those of its replays, and what is to be said: nothing where none can have rung twice.
TWICE = [
    ([final()], [], None),
    ([final(attempts=[attempt(1)])], [], None),
    ([final(attempts=[LOST, attempt(2)])], [], "an attempt had no answer"),
    ([final(attempts=[attempt(1, result="error", http_status=524), attempt(2)])], [], "an attempt had no answer"),
    ([final(attempts=[attempt(1, result="error", http_status=503), attempt(2)])], [], None),
    ([final(attempts=[LOST | {"bytes_sent": False}, attempt(2)])], [], None),
    ([final(attempts=[LOST, attempt(1, send=1)])], [], None),
    ([UNKNOWN], [], None),
    ([final(), final()], [], "a result more than once"),
    ([final(), final(result_id="final.a.0.9")], [], "published and sent 2 times"),
    ([final(), final(result_id="final.a.0.9", state="duplicate", targets={"planned": 0})], [], None),
    ([UNKNOWN], [final(replay={"sends": [0]})], "a replay repeated"),
    ([UNKNOWN], [final(replay={})], "a replay repeated"),
    ([UNKNOWN], [final(replay={"sends": [1]})], None),
    ([UNKNOWN], [final(state="expired", targets={"planned": 1, "accepted": 0})], None),
]


@case("what may have rung twice is said to, and nothing else is")
def twice(trial):
    trial.open("requests")
    for results, replays, said in TWICE:
        found = trial.browser.script(MADE, "view.js", "doubts", results, results[-1], replays)
        check(len(found) == (said is not None) and (said or "") in "; ".join(found), f"{results} and {replays}: {found}")


@case("a request whose call was made again without an answer is not sent without a word on its page")
def sent_perhaps_twice(trial):
    name = trial.name("twice")
    trial.fault("reset=after,tags=username:bob,count=1")
    try:
        trial.api.publish([request(name, "bob", hub="south", options={"max_attempts": 2, "on_ambiguous": "retry"})])
        wait(lambda: trial.state(name) == "sent", "it is sent")
    finally:
        trial.fault(None)
    trial.open(f"requests/{name}")
    check("rung twice" in (trial.shown("[data-twice]") or ""), f"the page says {trial.shown('[data-verdict]')!r}")
    check("Sent, and may have rung twice: the first answer was lost." in trial.shown("[data-verdict]"), f"it says {trial.shown('[data-verdict]')!r}")
    check("perhaps twice" in trial.shown("[data-step=result]"), "the timeline has it as sent, without a word")
    trial.open(f"requests?filter=request:{name}")
    check("perhaps twice" in trial.browser.await_element(f"tr[data-row='{name}']").text, "the list has it as sent, without a word")


# Hands the page events of the fleet in place of the gateway's, which end with the function.
EVENTS = """
window.EventSource = class extends EventTarget {
  constructor() { super(); window.fed = this }
  close() {}
}
window.feed = (name, data) => window.fed?.dispatchEvent(new MessageEvent(name, {data: JSON.stringify(data)}))
"""


BEHIND = "return [...document.querySelectorAll('[data-verdict] [data-behind]')].map((line) => line.textContent)"


@case("with Kafka away the overview names it, no figure is live, and none of the present is shown")
def kafka_away(trial):
    browser = trial.browser
    trial.open("overview")
    browser.script(EVENTS)
    browser.keys("p", "p")  # opens the stream anew
    wait(lambda: browser.script("return Boolean(window.fed)"), "the page follows the events at hand")
    now = "2026-11-27T15:01:01.000Z"

    def feed(**members):
        browser.script("feed('backlog', arguments[0]); feed('fleet', arguments[1])", {"at": now, "unknown": True}, fleet(at=now, **members))
    feed(kafka=AWAY, workers=[worker(stale=True, age_ms=61000)])
    check(re.search(r"Kafka is away, .*old", trial.shown("[data-age]")), f"the bar says {trial.shown('[data-age]')!r}")
    check("Kafka is away" in trial.shown("[data-verdict]"), f"the sentence is {trial.shown('[data-verdict]')!r}")
    equal(set(one.split(" ", 1)[1] for one in trial.live() if not one.startswith("failed")), {"–"}, "the figures of the present")
    feed(kafka=AWAY, workers=[])
    check("worker" not in trial.shown("[data-verdict]") and "live" not in trial.shown("[data-age]"), "workers are blamed, or figures live")
    # Nothing but reports of long ago: the stream lives, the figures do not.
    feed(kafka={"reachable": True}, workers=[worker(stale=True, age_ms=30000)])
    check("live" not in trial.shown("[data-age]"), f"the bar says {trial.shown('[data-age]')!r}")
    feed(kafka={"reachable": True})
    check("live" in trial.shown("[data-age]"), f"the bar says {trial.shown('[data-age]')!r} of what is of the present")


@case("below the reasons stands whose requests wait and until when, as text, at 1,280 and 390 px, and not while Kafka is away")
def whose_requests_wait(trial):
    browser = trial.browser
    lines = [f"sources: '{HOSTILE}' 2100, {'x' * 300} 180", "tenants: acme 12", "grows: 40/s come, 31/s end"]
    now = "2026-11-27T15:01:01.000Z"
    backlog = {"at": now, "requests": 2280, "oldest_ms": 60000, "delayed": 0, "held": 0, "reasons": [], "causes": lines}
    found = []
    for scheme, width in ("light", 1280), ("dark", 390):
        with emulated(trial, width, 900, prefers_color_scheme=scheme):
            trial.open("overview")
            browser.script(EVENTS)
            browser.keys("p", "p")  # opens the stream anew
            wait(lambda: browser.script("return Boolean(window.fed)"), "the page follows the events at hand")
            browser.script("feed('backlog', arguments[0]); feed('fleet', arguments[1])", backlog, fleet(at=now, kafka={"reachable": True}))
            equal(browser.script(BEHIND), lines, "the lines below the sentence")
            found += [f"{scheme}: {line}" for line in browser.script(AUDIT)]
            check(browser.script("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"), f"it is scrolled sideways at {width} px")
            check(browser.script("return window.hacked === undefined && !document.querySelector('main img, main script')"), "text has become elements")
            browser.script("feed('fleet', arguments[0])", fleet(at=now, kafka=AWAY))
            equal(browser.script(BEHIND), [], "the lines with Kafka away")
    equal(found, [], "what breaks the rules")


# Of each a place, and its sentence.
PLACES = [
    ({"state": "in_parts", "parts": {"count": 40, "ended": 12}}, "It was divided into 40 parts: 12 have a result, 28 are on the way."),
    ({"state": "in_parts", "parts": {"count": 2, "ended": 1}}, "It was divided into 2 parts: 1 has a result, 1 is on the way."),
    ({"state": "in_parts", "parts": {"count": 2, "ended": 2}}, "All have a result, and that of the whole is about to be written."),
    ({"state": "in_parts", "parts": {"ended": 7}}, "of which at least 7 have a result."),
    ({"state": "done"}, "The workers are done with it, and its result is not kept."), ({"state": "new_word"}, "new word"),
]


@case("where a request without a result is has a sentence, also one whose parts have not all ended")
def places(trial):
    trial.open("requests")
    for place, said in PLACES:
        found = trial.browser.script(MADE, "request.js", "placeText", place)
        check(said in found, f"{place} is {found!r}")


@case("a list of dead letters that a search has not ended, or a filter has emptied, does not say that every record was understood")
def emptied_letters(trial):
    trial.open("deadletters?code=no_such_code")
    check("No dead letter matches" in trial.text() and "Every record" not in trial.text(), f"it says {trial.text()!r}")


@case("a large request on its way is neither done nor unknown: its page says how many of its parts have a result")
def in_parts(trial):
    users = [f"nobody-{number}" for number in range(1700)]  # 17 parts, of 100 users each
    name = trial.name("large")
    trial.fault("delay=6s")
    try:
        trial.api.publish([request(name, audience={"users": users}, hub="south")])
        wait(lambda: trial.api.get(f"/v1/requests/{name}", life="true").get("whereabouts", {}).get("state") == "in_parts", "it is divided")
        trial.open(f"requests/{name}")
        check(re.search(r"On its way: .*\d+ (of \d+ )?parts", trial.shown("[data-verdict]")), f"the page says {trial.shown('[data-verdict]')!r}")
        check(not re.search("is not kept|no result|not known|done with it", trial.text(), re.I), "the page says that it is done, or unknown")
    finally:
        trial.fault(None)
    wait(lambda: trial.state(name) == "sent", "it is sent")
    wait(lambda: trial.browser.find("[data-step=planned]"), "its page has the result of the whole", limit=70)


TOPS = """
const [all] = arguments
return import(new URL('ui/overview.js', location.href)).then(({topOf}) => all.map((values) => topOf(values)))"""


@case("a peak does not flatten the rest of a plot, and a plot of like values has the greatest as its top")
def peaks(trial):
    trial.open("overview")
    calm = list(range(1, 21))
    equal(trial.browser.script(TOPS, [[], [None, 3], calm, [*calm, 5000], [0] * 50 + [7]]), [0, 3, 20, 38, 7], "the tops of axes")


def follow_events(trial):
    """Opens the overview on events at hand; returns what hands it one of the fleet."""
    trial.open("overview")
    trial.browser.script(EVENTS)
    trial.browser.keys("p", "p")  # opens the stream anew
    wait(lambda: trial.browser.script("return Boolean(window.fed)"), "the page follows the events at hand")

    def feed(**members):
        trial.browser.script("feed('fleet', arguments[0])", fleet(at="2026-11-27T15:01:01.000Z", **members))
    return feed


DOWN = {"id": "hub_down/south/1", "kind": "hub_down", "subject": "south", "from": "2026-11-27T15:00:01.000Z", "seconds": 300,
        "failed": 3, "expired": 0, "waited": 9, "filter": "hub:south since:2026-11-27T15:00:01.000Z",
        "text": "Hub south has been down for 5 min; meanwhile 9 requests waited, 3 failed in all."}
OVER = DOWN | {"to": "2026-11-27T15:05:01.000Z", "filter": DOWN["filter"] + " until:2026-11-27T15:05:01.001Z",
               "text": "Hub south was down for 5 min; meanwhile 9 requests waited, 3 failed in all."}
LIMITED = {"id": "tenant_limited/acme/1", "kind": "tenant_limited", "subject": "acme", "from": "2026-11-27T14:00:01.000Z", "seconds": 60,
           "to": "2026-11-27T14:01:01.000Z", "waited": 2, "text": "Tenant acme was held to its rate for 60 s: 2 requests waited."}
LISTED = """
window.listed = arguments[0]
const fetched = window.fetch
window.fetch = async (...given) => /v1\\/incidents/.test(String(given[0]?.url ?? given[0]))
  ? new Response(JSON.stringify({items: window.listed}), {headers: {'Content-Type': 'application/json'}}) : fetched(...given)"""
WAY = "return decodeURIComponent(document.querySelector(arguments[0])?.getAttribute('href') ?? '')"


@case("an incident is the overview's first line while it lasts and after, with the way to its failures, and the line goes with it")
def incident_line(trial):
    feed, browser = follow_events(trial), trial.browser
    feed(incidents=[DOWN])
    check(DOWN["text"] in trial.shown("[data-incident]") and "now" in trial.shown("[data-incident]"), f"it says {trial.shown('[data-incident]')!r}")
    check(DOWN["filter"] in browser.script(WAY, "[data-incident] a").replace("+", " "), "its failures have no link")
    feed(incidents=[OVER])
    check(OVER["text"] in trial.shown("[data-incident]") and "now" not in trial.shown("[data-incident]"), f"it says {trial.shown('[data-incident]')!r}")
    feed(incidents=[])
    check(not browser.find("[data-incident]"), "the line of an incident of long ago stays")


@case("the list of incidents has what failed in all, nothing of that for a tenant, and a link that ends when its incident does")
def incident_list(trial):
    browser = trial.browser
    trial.open("overview")
    browser.script(LISTED, [DOWN, LIMITED])
    row = f"tr[data-key='{DOWN['id']}']"
    # The list is asked for each 10 s.
    wait(lambda: browser.find(row), "the list has the incident", limit=20)
    check("lasts" in browser.find(row).text and DOWN["text"] in browser.find(row).text, f"the row is {browser.find(row).text!r}")
    limited = dict(browser.script(
        "return [...document.querySelectorAll(`tr[data-key='${arguments[0]}'] [data-label]`)].map((cell) => [cell.dataset.label, cell.textContent])",
        LIMITED["id"]))
    equal((limited["Failed"], limited["Expired"], limited["Waited"]), ("–", "–", "2"), "the counts of a tenant")
    # The words of the link stay, its time gets an end.
    browser.script("window.listed = arguments[0]", [OVER])
    wait(lambda: "until:" in browser.script(WAY, f"{row} a"), "the link to its failures ends with it", limit=20)


@case("the menu counts open failures and dead letters, and says where there may be fewer")
def menu_counts(trial):
    feed = follow_events(trial)
    for members, expected in [
            ({"open_failures": 1203, "dead_letters": 7, "dead_letters_at_most": True}, ("1,203", "≤ 7")),
            ({"open_failures": 2, "dead_letters": 7}, ("2", "7")), ({}, ("", ""))]:
        feed(**members)
        equal(tuple(trial.browser.script("return ['failures', 'deadletters'].map((one) => document.querySelector(`#nav [data-menu=${one}]`).textContent.trim())")),
              expected, f"the menu for {members}")


@case("what was typed to find a hub among many hides none of the few that are left")
def hidden_search(trial):
    feed, browser = follow_events(trial), trial.browser
    hubs = [{"hub": f"hub-{number}", "circuit": "closed"} for number in range(12)]
    feed(hubs=hubs)
    trial.fill("[data-find=hub]", "hub-11")
    feed(hubs=hubs)
    equal(len(browser.script("return [...document.querySelectorAll('tr[data-hub]')].map((one) => one.dataset.hub)")), 1, "the rows that are found")
    feed(hubs=hubs[:3])
    check(not browser.find("[data-find=hub]").is_displayed(), "a short list has a search")
    equal(len(browser.script("return [...document.querySelectorAll('tr[data-hub]')].map((one) => one.dataset.hub)")), 3, "the rows of a short list")


@case("words of a search that begin with a minus are no options of the command that is copied")
def command_words(trial):
    trial.open("requests")
    for line, words in [("", []), ("state:sent", ["--", "state:sent"]), ('-alice "two words"', ["--", "-alice", "'\"two words\"'"])]:
        equal(trial.browser.script(MADE, "requests.js", "asWords", line), words, f"the words of {line!r}")


@case("copying an id is said to those who hear the page")
def copy_is_said(trial):
    name, browser = trial.name("copied"), trial.browser
    trial.api.publish([request(name)])
    wait(lambda: trial.state(name) == "sent", "it is sent")
    trial.open(f"requests/{name}")
    browser.script("Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text }}})")
    trial.press("[data-action=copy]")
    wait(lambda: browser.script("return window.copied") == name, "the id is copied")
    wait(lambda: browser.script("return document.getElementById('said').textContent") == "Copied", "it is said")


TWINS = """
const [all] = arguments
return import(new URL('ui/requests.js', location.href)).then(({markTwins}) => { markTwins(all); return all.map(({twin}) => twin ?? 0) })"""


@case("two pushes to one user with one title within a minute are marked in the list, and no others")
def marked_twins(trial):
    trial.open("overview")

    def row(second, user="alice", title="Hi", count=1, **more):
        return {"published_at": f"2026-11-28T13:05:{second:02}.000Z", "title": title, "to": {"kind": "users", "count": count, "text": user}} | more
    rows = [row(59), row(40), row(30, "bob"), row(20, title="hi"), row(10, "3 users", count=3), row(9, "3 users", count=3), {"published_at": "x"}]
    equal(trial.browser.script(TWINS, rows), [19000, 20000, 0, 20000, 0, 0, 0], "the milliseconds between twins")
