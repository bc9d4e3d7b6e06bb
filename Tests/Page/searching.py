"""Cases of searching: the line and its two times, what a list says of each request, and a search that fails or goes on."""

import datetime
import re
import urllib.parse
import zoneinfo

from behaviour import HOSTILE, OVERRIDE, TURNED
from browser import wait
from looks import emulated
from pagestage import request
from trial import MADE, case, check, equal

# Hands the page answers about requests in place of the gateway's, pairs of a status and a body; those about what is new are `window.newer`.
ANSWERS = """
window.answers = arguments[0]
window.asked = []
window.watched = []
const fetched = window.fetch
window.fetch = async (...given) => {
  const path = String(given[0]?.url ?? given[0])
  if (!/v1\\/requests[/?]/.test(path)) return fetched(...given)
  const isWatch = /limit=100/.test(path)
  ;(isWatch ? window.watched : window.asked).push(path)
  const none = {items: [], searched: {by: 'index', order: 'published', complete: true}}
  const [status, body] = isWatch ? [200, {...none, items: window.newer ?? []}] : window.answers.shift() ?? [200, none]
  return new Response(JSON.stringify(body), {status, headers: {'Content-Type': 'application/json'}})
}"""
CELLS = """
return [...document.querySelectorAll(`main tr[data-row='${arguments[0]}'] [data-label]`)].map((cell) => [cell.dataset.label, cell.textContent])"""
LAST = "return decodeURIComponent(window.asked.at(-1).replaceAll('+', ' '))"
AT = "2026-11-28T13:05:12.000Z"  # 14:05:12 in the browser's zone
AWAY = [503, {"status": 503, "code": "kafka_unavailable", "detail": "Kafka does not answer."}]


def result(state="sent", **members):
    return {"kind": "final", "result_id": "final.r", "state": state, "outcome": "success" if state == "sent" else "transient", "at": AT,
            "replay_safety": "duplicate_risk" if state == "sent" else "safe", "timings": {"published_at": AT, "total_ms": 240}} | members


def row(identity, state="sent", **members):
    return {"id": identity, "state": state, "published_at": AT} | members


def sent(identity="healthy", **members):
    return row(identity, finished_at=AT, result=result(), topic="t", partition=0, offset=1) | members


def page(*items, **members):
    searched = {"by": "index", "order": "published", "complete": True, "zone": "Europe/Berlin"} | members.pop("searched", {})
    return [200, {"items": items, "searched": searched} | members]


def hand(trial, *answers):
    """A list whose next searches have these answers."""
    trial.open("requests")
    trial.browser.script(ANSWERS, answers)


def search(trial, line):
    trial.fill("[name=filter]", line)
    trial.browser.keys("Enter")


def has_row(trial, identity):
    return trial.browser.find(f"main tr[data-row='{identity}']")


def cells_of(trial, identity):
    """The cells of a row by the titles of their columns, in the order of those."""
    return dict(trial.browser.script(CELLS, identity))


def replays(trial):
    """Whether the whole list can be replayed."""
    return trial.browser.find(".end [data-action=replay]").is_displayed()


@case("a list says to whom, what, where it stands and from when to when, and nothing of replay beside a healthy push")
def rows_say(trial):
    healthy = sent(to={"kind": "users", "count": 1, "names": ["alice"], "text": "alice"}, title="Order shipped", labels={"campaign": "sale"}, hub="north")
    hand(trial, page(
        healthy, row("later", "delayed", due="2999-01-01T10:00:00Z", to={"kind": "tags", "count": 1, "text": "tag News"}),
        row("large", "in_parts", parts={"count": 300, "ended": 214}, to={"kind": "users", "count": 30000, "text": "30,000 users"}),
        possible={"items": [sent("broad", to={"kind": "all", "count": 1, "text": "all"})], "more": True},
        searched={"since": AT, "read_as": "alice state:sent since:2026-11-28T13:00:00.000Z until:2026-11-28T13:10:00.000Z"}),
        page(healthy, row("broken", "failed", result=result("failed", error={"code": "hub_unavailable"}))),
        # As a gateway without the new members answers.
        [200, {"items": [{"id": "plain", "state": "sent", "result": result(labels={"way": "old"})}], "searched": {"by": "index", "complete": True}}])
    search(trial, "alice state:sent 14:05")
    wait(lambda: has_row(trial, "healthy"), "the list has its rows")
    cells = cells_of(trial, "healthy")
    equal(list(cells), ["To", "Title", "Labels", "State", "From → to", "Request id"], "the columns")
    equal((cells["To"], cells["Title"], cells["Labels"].strip()), ("alice", "Order shipped", "campaign=sale"), "whom and what")
    check(re.search(r"14:05:12 → .*14:05:12 240 ms", cells["From → to"]), f"from when to when: {cells['From → to']!r}")
    check("replay" not in str(cells).lower() and not replays(trial), "a healthy list speaks of replay")
    later, large = (cells_of(trial, one) for one in ("later", "large"))
    check("waits for" in later["State"] and "not yet" in later["From → to"], f"what waits says {later}")
    check("214 of 300 parts" in large["State"] and "no result" not in str(large), f"what runs says {large}")
    broad = trial.shown("[data-possible]")
    check("the hub knows who has the tag" in broad and has_row(trial, "broad"), f"sends to all are not apart: {broad!r}")
    whole = urllib.parse.unquote_plus(trial.browser.find("[data-possible] p a").get_dom_attribute("href"))
    check("filter=to:all,tags,expression state:sent since:2026-11-28T13:00:00" in whole and "alice" not in whole, f"the link to all of them is {whole!r}")
    check(re.search(r"Read as alice .*since:.*14:00:00", trial.shown("[data-read]")), f"what was read: {trial.shown('[data-read]')!r}")
    equal(trial.shown("[data-zone]"), "Times are Europe/Berlin.", "the zone on the screen")
    check("zone=Europe/Berlin" in trial.browser.script(LAST), "the zone is not sent")
    check(re.search(r"Searched back to .*14:05, in the index", trial.shown("[data-searched]")), trial.shown("[data-searched]"))

    search(trial, "state:sent,failed")
    wait(lambda: has_row(trial, "broken"), "the failed one is there")
    check("hub_unavailable" in cells_of(trial, "broken")["State"] and replays(trial), "a failure is not named, or cannot be repaired")
    check(not trial.browser.find("[data-possible]").is_displayed(), "sends of another search stay")
    search(trial, "state:sent")
    wait(lambda: has_row(trial, "plain"), "an answer without the new members has its row")
    cells = cells_of(trial, "plain")
    check("14:05:12" in cells["From → to"] and "way=old" in cells["Labels"], f"it says {cells}")


@case("a search that fails leaves no rows of another one, and says since when those of the same stand")
def failed_search(trial):
    alice, broken = sent("of-alice"), row("broken", "failed", result=result("failed"))
    hand(trial, page(alice, broken), AWAY, AWAY, page(alice),
         [400, {"status": 400, "code": "invalid", "detail": "stat is no field."}], [400, {"status": 400, "code": "invalid", "detail": "from: it is no time."}])
    search(trial, "alice")
    wait(lambda: has_row(trial, "of-alice") and replays(trial), "the rows of a search")

    def alert():
        return trial.browser.find("main [role=alert]")
    trial.browser.keys("Enter")
    wait(lambda: alert() and "as of" in (trial.shown("[data-old]") or ""), "rows of the same search say since when they stand")
    check(has_row(trial, "of-alice"), "they are gone")
    search(trial, "bob")
    wait(lambda: not has_row(trial, "of-alice"), "rows of another search are gone")
    check(alert() and not trial.shown("[data-old]") and not replays(trial), f"the page says {trial.text()!r}")
    check("Nothing is shown" in trial.shown("[data-searched]"), f"it says {trial.shown('[data-searched]')!r}")
    search(trial, "alice")
    wait(lambda: has_row(trial, "of-alice") and not alert(), "rows come again, and the problem goes")
    search(trial, "stat:failed")
    wait(lambda: trial.browser.find("[name=filter][aria-invalid=true]"), "a line that is refused is marked")
    check(not has_row(trial, "of-alice"), "rows of another search stay beside a refusal")
    described = trial.browser.find("[name=filter]").get_dom_attribute("aria-describedby").split()
    check("no field" in trial.shown(f"#{described[-1]}"), "the refusal does not describe the line")
    trial.fill("[name=from]", "once")
    trial.browser.keys("Enter")
    wait(lambda: trial.browser.find("[name=from][aria-invalid=true][aria-describedby=filter-problem]"), "a time that is refused is marked")
    check(not trial.browser.find("[name=filter][aria-invalid]"), "the line is marked with it")


@case("a search that has not ended says how far it is, goes on from there, and asks by the difference from UTC where the zone's name is unknown")
def search_on(trial):
    far = {"by": "scan", "since": AT, "complete": False, "records": 5, "of": 9}
    hand(trial, [400, {"status": 400, "detail": "zone: Europe/Berlin is not known here."}],
         page(sent("first"), next="c1", searched=far), page(sent("second", offset=2), searched=far | {"complete": True}))
    search(trial, "alice")
    wait(lambda: has_row(trial, "first"), "the search goes on without the name")
    check(re.search(r"zone=\+0[12]:00", trial.browser.script("return decodeURIComponent(window.asked.at(-1))")), "the difference is not sent")
    check(re.search(r"Times are \+0[12]:00\.", trial.shown("[data-zone]")), f"the screen says {trial.shown('[data-zone]')!r}")
    check(re.search(r"Searched back to .*14:05, in Kafka, without an index: 5 of 9 records", trial.shown("[data-searched]")), trial.shown("[data-searched]"))
    equal(trial.shown("[data-action=more]"), "Search on", "the words of the button")
    trial.press("[data-action=more]")
    wait(lambda: has_row(trial, "second"), "older rows come behind")
    check(has_row(trial, "first") and "cursor=c1" in trial.browser.script(LAST), "it has begun anew")


@case("a request that gets its result is no new row, and one that was published is")
def result_is_no_news(trial):
    waiting = row("waiting", "in_work", topic="t", partition=0, offset=1)
    hand(trial, page(waiting))
    search(trial, "alice")
    wait(lambda: has_row(trial, "waiting"), "it is in the list")
    ended = waiting | {"state": "sent", "finished_at": AT, "result": result()}
    trial.browser.script("window.newer = arguments[0]", [ended])
    trial.pass_events(12)
    check(not trial.browser.find("[data-action=show-new]"), "its result counts as new")
    trial.browser.script("window.newer = arguments[0]", [row("newer", "published", topic="t", partition=0, offset=2), ended])
    equal(trial.browser.await_element("[data-action=show-new]").text, "1 new", "the bar")
    # What was delayed and is due later would come first otherwise, however much of it there is.
    asked = trial.browser.script("return window.watched")
    check(asked and all("times=published" in one for one in asked), f"new rows are asked for by {asked}")
    over = {"from": AT, "to": "2026-11-28T14:00:00.000Z"}
    hand(trial, page(waiting, searched=over))
    search(trial, "alice")
    wait(lambda: has_row(trial, "waiting"), "it is in the list of a time that is over")
    before = trial.browser.script("return window.watched.length")
    trial.pass_events(12)
    equal(trial.browser.script("return window.watched.length"), before, "questions about what is new in a time that is over")


@case("a list fits 1,280 and 390 whatever is in it, and text from elsewhere stays text")
def rows_fit(trial):
    long = "x" * 300
    odd = sent(f"order-{long}-end", to={"kind": "users", "count": 1, "names": [long], "text": long}, title=f"{OVERRIDE}{HOSTILE}{long}", hub=OVERRIDE + long,
               labels={name: OVERRIDE + long for name in "abcde"}, result=result("failed", error={"code": long}), state="failed")
    for width in 1280, 390:
        with emulated(trial, width):
            hand(trial, page(odd, possible={"items": [odd | {"id": "other"}], "more": False}, searched={"read_as": f"user:{long}"}))
            search(trial, "x")
            wait(lambda: has_row(trial, odd["id"]), "it is in the list")
            wide = trial.browser.script(
                "return [document.documentElement, ...document.querySelectorAll('main .scroll')].filter((node) => node.scrollWidth > node.clientWidth + 1)"
                ".map((node) => `${node.localName}: ${node.scrollWidth} of ${node.clientWidth}`)")
            equal(wide, [], f"what is wider than {width} px")
            check(trial.browser.script("return window.hacked === undefined && !document.querySelector('main img, main script')"), "text has become elements")
            equal(trial.browser.script(TURNED), [], "texts that turn what follows them")
            anchor = trial.browser.find("main tr[data-row] a")
            equal((anchor.accessible_name, anchor.get_property("textContent")), (odd["id"],) * 2, "the name of the link to a long id")


# What is typed, and what is suggested.
SUGGESTED = [("us", "user:"), ("dev", "device:"), ("tit", "title:"), ("to", "to:"), ("to:ta", "tags"), ("state:wai", "waiting"), ("state:run", "running"),
             ("state:del", "delayed"), ("state:in", "in_parts"), ("state:dead", "dead_letter"), ("since:y", "yesterday")]


@case("users, devices, titles, audiences and where a request without a result is are suggested, and the help has plain words")
def suggested(trial):
    trial.open("requests")
    for typed, wanted in SUGGESTED:
        trial.fill("[name=filter]", typed)
        found = trial.browser.script("return [...document.querySelectorAll('#filter-options [role=option] span:first-child')].map((one) => one.textContent)")
        check(wanted in found, f"{wanted} is not suggested after {typed!r}: {found}")
    trial.browser.keys("Escape")
    field = trial.browser.find("[name=filter]")
    for said in (field.get_dom_attribute("placeholder"), trial.shown(f"#{field.get_dom_attribute('aria-describedby')}")):
        check(all(word in said for word in ("14:05", "a device", "title")), f"it says {said!r}")


@case("plain words find a request at once: a user, an id, a label's value, words of a title; the fields bound it, and Enter opens what was pasted")
def plain_words(trial):
    browser = trial.browser
    name, user, sale = (trial.name(prefix) for prefix in ("pasted", "carol", "sale"))
    title = f"Parcel {trial.name('word')}"
    trial.api.publish([request(name, user, message={"title": title, "body": "x"}, labels={"campaign": sale})])
    wait(lambda: "result" in trial.api.call("GET", f"/v1/requests/{name}")[1], "it has a result")
    for line in user, f"user:{user}", user.upper(), sale, f"label.campaign:{sale}", f'"{title}"', f'title:"{title}"', name:
        wait(lambda: [one["id"] for one in trial.api.get("/v1/requests", filter=line)["items"]] == [name], f"{line} finds it")
        trial.open("requests")
        search(trial, line)
        wait(lambda: [one.get_dom_attribute("data-row") for one in browser.all("main section:not([data-possible]) tr[data-row]")] == [name], f"{line} lists it alone")
        cells = cells_of(trial, name)
        equal((cells["To"], cells["Title"]), (user, title), f"whom and what after {line}")
    wait(lambda: browser.script("return document.activeElement.matches('main tr[data-row] a')"), "the focus is on what was pasted")
    equal(trial.place().split("?")[0], "#/requests", "the screen before Enter")
    browser.keys("Enter")
    trial.ready("request")

    before = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin")) - datetime.timedelta(minutes=20)
    trial.open("requests")
    trial.fill("[name=from]", before.strftime("%Y-%m-%d %H:%M"))
    search(trial, user)
    wait(lambda: "from=" in trial.place() and "zone=Europe" in trial.place() and has_row(trial, name), "it was published since then")
    check("since:" in trial.shown("[data-read]"), f"what was read: {trial.shown('[data-read]')!r}")
    check(" since:2" in trial.shown("details.as pre[aria-label='As pushfan']"), "the line for pushfan lacks the time")
    trial.fill("[name=from]", "")
    trial.fill("[name=to]", before.strftime("%Y-%m-%d %H:%M"))
    browser.keys("Enter")
    wait(lambda: re.search("No request matches|Nothing so far", trial.shown("[data-searched]")), "none was published before")
    trial.visit(trial.place().removeprefix("#/"))
    trial.ready("requests")
    equal([browser.find(f"[name={one}]").get_property("value") for one in ("filter", "from", "to")],
          [user, "", before.strftime("%Y-%m-%d %H:%M")], "the fields after a load of the address")
    trial.open(f"requests?filter={user}&from=2026-01-01&zone=America/New_York")
    check("America/New_York" in trial.shown("[data-zone]") and "Europe/Berlin" in trial.shown("[data-zone]"), trial.shown("[data-zone]"))


@case("one request says to whom it went and its title, and names the one with the same title to the same user")
def whom_and_twins(trial):
    hand(trial, [200, {"id": "one", "state": "sent", "to": {"kind": "users", "count": 1, "text": "alice"}, "title": HOSTILE,
                       "twins": [{"id": "two", "published_at": AT, "state": "in_work"}], "life": {"results": [result(request_id="one")]}}])
    trial.browser.script("location.hash = '#/requests/one'")
    trial.ready("request")
    published = wait(lambda: trial.shown("[data-step=published]"), "the timeline is there")
    check("alice" in published and HOSTILE in published, f"the first step says {published!r}")
    check(trial.browser.find("main a[href='#/requests/two']") and "in work" in trial.text(), "the twin is not named")
    check("same title was published to the same user" in trial.text(), "a twin is said to have the same text, or to have been sent")


# Of each a line with its times, what the gateway read, the line for others, and the words on the screen.
READ = [
    (("state:failed since:1h", "", ""), {"read_as": "state:failed since:1h"}, "state:failed since:1h", r"^$"),
    (("ALICE", "", ""), {"read_as": "alice"}, "ALICE", r"^Read as alice$"),
    (("alice 14:05", "", ""), {"read_as": "alice since:2026-11-28T13:00:00.000Z"}, "alice since:2026-11-28T13:00:00.000Z", r"^Read as alice since:.*14:00:00$"),
    (("", "1h", ""), {"read_as": "since:2026-11-28T13:00:00Z"}, "since:2026-11-28T13:00:00Z", r"14:00:00$"),
    (("a", "yesterday 9:00", "10:00"), {}, 'a since:"yesterday 9:00" until:10:00', r"^$"),
    (("", "", ""), {}, "", r"^$"),
]
# Of each a line, and the one of sends by tag or to all.
BROAD = [
    ("alice", "to:all,tags,expression"),
    ('alice "two words" user:bob -device:x to:users hub:north', "to:all,tags,expression hub:north"),
    ("user:bob label.a:b -state:failed since:2026-11-28T13:00:00Z", "to:all,tags,expression label.a:b -state:failed since:2026-11-28T13:00:00Z"),
    ("push.requests.v1:3:17 constructor:x", "to:all,tags,expression"),
]
# Of each where a request is, and the words for it.
WHERE = [
    ({"state": "in_parts", "parts": {"count": 300, "ended": 214}}, "214 of 300 parts ended"), ({"state": "in_parts", "parts": {"ended": 7}}, "7 parts ended"),
    ({"state": "in_parts"}, "parts are on the way"), ({"state": "delayed", "due": "2000-01-01T00:00:00Z"}, "is due"), ({"state": "held"}, "waits behind another"),
    ({"state": "published"}, "waits to be read"), ({"state": "in_work"}, "a worker is at work on it"), ({"state": "done"}, "no result is kept"),
    ({"state": "dead_letter"}, "was not understood"), ({"state": "new_word"}, ""),
]


@case("a line is handed on with the times that it meant here, and each place of a request has words")
def lines_read(trial):
    trial.open("requests")

    def made(name, *given):
        return trial.browser.script(MADE, "requests.js", name, *given)
    for (line, begin, end), searched, others, words in READ:
        asked = {"filter": line, "from": begin, "to": end}
        equal(made("whole", asked, searched), others, f"{asked} for others")
        check(re.search(words, made("readText", asked, searched)), f"{asked} is told as {made('readText', asked, searched)!r}")
    for line, expected in BROAD:
        equal(made("broad", line), expected, f"sends to all beside {line}")
    for place, expected in WHERE:
        equal(made("whereText", place), expected, f"the words for {place}")
    check(made("whereText", {"state": "delayed", "due": "2999-01-01T10:00:00Z"}).startswith("waits for "), "what is delayed does not say until when")
