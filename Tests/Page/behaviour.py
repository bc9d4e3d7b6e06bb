"""Cases of what the page does."""

import re
import time

from browser import wait
from pagestage import request
from stage import timestamp
from trial import case, check, equal

JOB = r"#/replays/([0-9a-f-]{36})"


@case("signing in leads to the screen that was asked for, and the key is nowhere on the page",
      r"/ui/session - Failed to load resource: the server responded with a status of 401")
def sign_in(trial):
    trial.sign_in("pf_nobody_0123456789", "failures")
    browser = trial.browser
    wait(lambda: browser.find("[role=alert]"), "a wrong key is refused aloud")
    trial.sign_in(trial.key, "failures")
    trial.ready("failures")
    cookie, = browser.cookies()
    equal((cookie["httpOnly"], cookie["sameSite"], cookie["path"]), (True, "Strict", "/"), "the cookie")
    check(trial.key.split("_")[-1] not in trial.document() + str(cookie), "the page has the key")


@case("live counters move three times, the pause holds them, and they go on")
def live_and_pause(trial):
    trial.open("overview")
    browser = trial.browser
    with trial.traffic():
        def moves(claim):
            for _ in range(3):
                before = trial.live()
                wait(lambda: trial.live() != before, claim)
        wait(trial.live, "there are counters")
        moves("counters move")
        browser.keys("p")
        browser.await_element("body[data-paused=true]")
        held = trial.live()
        trial.pass_events(3)
        equal(trial.live(), held, "paused counters")
        browser.keys("p")
        wait(lambda: not browser.find("body[data-paused=true]"), "p ends the pause")
        moves("counters move after the pause")


@case("a page that is hidden asks nothing, and is live again when it is looked at")
def hidden(trial):
    trial.open("overview")
    browser = trial.browser
    wait(trial.live, "there are counters")
    try:
        browser.ask("POST", "/window/minimize", {})
        wait(lambda: browser.script("return document.hidden"), "the page is hidden")

        def rests():
            before = trial.way.bytes
            trial.pass_events(2)
            return trial.way.bytes == before
        wait(rests, "its connections fall silent")
        before = trial.way.bytes
        trial.pass_events(6)
        equal(trial.way.bytes, before, "bytes that passed while it was hidden")
    finally:
        browser.ask("POST", "/window/rect", {"width": 1280, "height": 900})
    before = trial.live()
    with trial.traffic():
        wait(lambda: trial.live() != before, "it is live again")


def plan_by_keys(trial, reason, row="tr[data-cause]"):
    """From the failures to a plan, by keys alone; returns its id."""
    browser = trial.browser
    wait(lambda: browser.find(row), "there is a failure")
    for _ in range(100):
        browser.keys("j")
        if browser.script("return document.activeElement.closest(arguments[0]) !== null", row):
            break
    else:
        raise AssertionError(f"j does not reach {row}")
    browser.keys("r")
    wait(lambda: browser.find("[name=reason]"), "r asks for a reason")
    trial.focus("[name=reason]")
    browser.keys(reason)
    if trial.browser.script("return document.activeElement.localName") == "textarea":
        browser.keys("Tab")
        trial.focus("form button:not([type=button]), form [data-action=plan]")
    browser.keys("Enter")
    return wait(lambda: re.match(JOB, trial.place()), "there is a plan")[1]


def done_of(trial, job):
    return trial.api.get(f"/v1/replays/{job}", results="true")


def replays_of(trial, name):
    return trial.api.get(f"/v1/requests/{name}", life="true")["life"]["replays"]


@case("from a failure to a plan, its run and its result without leaving the keyboard; what was counted is done, and not more")
def repair_by_keyboard(trial):
    names = trial.fail(3)
    trial.open("overview")
    browser = trial.browser
    browser.keys("g", "f")
    trial.ready("failures")
    job = plan_by_keys(trial, "hub was out")
    browser.await_element("[data-action=run]")
    trial.ready("replay")
    plan = trial.api.get(f"/v1/replays/{job}")
    counted = {word: trial.count(f"[data-count={word}]") for word in ("requests", "safe", "ambiguous")}
    equal(counted["requests"], plan["requests"], "requests of the plan, on the page and of the API")
    check(plan["requests"] >= len(names), f"the plan has {plan['requests']} requests, of which {len(names)} have just failed")
    equal({word: counted[word] for word in ("safe", "ambiguous")}, plan["eligible"], "eligible, on the page and of the API")
    late = trial.fail(2)  # after the plan
    trial.focus("[data-action=run]:not(:disabled)")
    browser.keys("Enter")
    wait(lambda: trial.api.get(f"/v1/replays/{job}")["state"] == "done", "the replay is done")
    wait(lambda: "done" in (trial.shown("[data-state]") or ""), "the page says so")
    wait(lambda: done_of(trial, job)["results"] == {"sent": counted["requests"]}, "as many are sent as were counted")
    done = done_of(trial, job)
    equal((done["next"], done["skipped"], done["reason"]), (counted["requests"], 0, "hub was out"), "what was done, left out, and why")
    for name in names:
        equal([one["state"] for one in replays_of(trial, name)], ["sent"], f"replays of {name}")
    for name in late:
        equal(replays_of(trial, name), [], f"replays of {name}, which failed after the plan")
    browser.keys("g", "q")
    trial.ready("requests")
    browser.keys("j", "Enter")
    trial.ready("request")


@case("a replay of more than 1,000 requests is run once their number is typed")
def typed_count(trial):
    trial.open("overview")
    name = trial.name("wide")
    names = [f"{name}-{number}" for number in range(1001)]
    far = timestamp((time.time() + 3600) * 1000)
    batch = [request(one, not_before=far, labels={"campaign": name}) for one in names]
    trial.api.publish(batch[:600])
    trial.api.publish(batch[600:])
    for one in names:
        status, said = trial.api.call("POST", f"/v1/requests/{one}:cancel", {"reason": "too early"})
        check(status < 300, f"{one} is cancelled: {status} {said}")
    matched = f"state:cancelled label.campaign:{name} since:1h"
    wait(lambda: trial.total(matched) == len(names), "all are cancelled")
    status, plan = trial.api.call("POST", "/v1/replays", {"filter": matched, "reason": "was a mistake", "set": ["not_before=null"]})
    check(status in (201, 202), f"a plan: {status} {plan}")
    trial.open(f"replays/{plan['id']}")
    browser = trial.browser
    equal(trial.count("[data-count=requests]"), len(names), "requests of the plan")
    for typed, state in ("1000", "planned"), (str(len(names)), "done"):
        field = browser.await_element("[name=count]")
        browser.script("document.querySelector('[name=count]').value = ''")
        field.type(typed)
        browser.find("[data-action=run]").click()
        wait(lambda: trial.api.get(f"/v1/replays/{plan['id']}")["state"] == state, f"it is {state} after {typed}")


@case("a key without the scope finds the control off and the scope named, and the API refuses what the page would not ask",
      r"Failed to load resource: the server responded with a status of 403")
def missing_scope(trial):
    names = trial.fail(1)
    trial.open("failures", trial.read_key)
    browser = trial.browser
    wait(lambda: browser.find("tr[data-cause]"), "there is a failure")
    control = browser.await_element("[data-action=replay]")
    check(not control.isEnabled or control.attribute("aria-disabled") == "true", "a control for which the key has no scope is on")
    said = browser.script("const [node] = arguments; return node.textContent + (node.getAttribute('aria-describedby') ?? '').split(' ')"
                          ".map((id) => document.getElementById(id)?.textContent ?? '').join(' ')",
                          {"element-6066-11e4-a52e-4f735466cecf": control.identity})
    check("scope" in said and "replay" in said, f"the missing scope is not named: {said!r}")
    status = browser.script("return fetch('v1/replays', {method: 'POST', headers: {'Content-Type': 'application/json'},"
                            " body: JSON.stringify({filter: 'state:failed', reason: 'x'})}).then((answer) => answer.status)")
    equal(status, 403, "a plan without the scope")
    trial.open(f"requests/{names[0]}", trial.read_key)
    check(browser.find("[data-action=replay]") is None or not browser.find("[data-action=replay]").isEnabled, "the control of one request is on")


@case("a stream that is cut is said to be so, and goes on where it was, without a load of the page", r"Failed to load resource: net::ERR_")
def cut_stream(trial):
    trial.open("overview")
    browser = trial.browser
    with trial.traffic():
        wait(trial.live, "there are counters")
        browser.script("window.stayed = true")
        age = trial.shown("[data-age]")
        trial.way.cut()
        try:
            wait(lambda: trial.shown("[data-age]") not in (age, "live"), "the age of the data is said")
        finally:
            trial.way.mend()
        for _ in range(2):
            before = trial.live()
            wait(lambda: trial.live() != before, "counters move again")
    check(browser.script("return window.stayed"), "the page was loaded anew")


@case("a gateway that is away leaves screens that say so, and that can be tried again", r"Failed to load resource: net::ERR_")
def gateway_away(trial):
    trial.open("overview")
    browser = trial.browser
    trial.way.cut()
    try:
        browser.keys("g", "f")
        wait(lambda: browser.find("main [role=alert]"), "the screen says that nothing answers")
    finally:
        trial.way.mend()
    browser.keys("g", "o")
    browser.keys("g", "f")
    trial.ready("failures")
    wait(lambda: not browser.find("main [role=alert]"), "the screen is there again")


HOSTILE = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>"
# Texts with a mark of direction outside of what isolates it.
TURNED = """
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = []
while (walker.nextNode()) {
  const {data, parentElement} = walker.currentNode
  const style = getComputedStyle(parentElement)
  const isAlone = /isolate|plaintext/.test(style.unicodeBidi) || style.display !== 'inline' && parentElement.childNodes.length === 1
  if (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(data) && !isAlone) found.push(parentElement.outerHTML.slice(0, 200))
}
return found"""
OVERRIDE = "safe\u202egpj.exe"


@case("hostile text in titles, labels, reasons, dead letters and addresses is shown as text",
      r"/v1/requests.*%3Cimg.*Failed to load resource: the server responded with a status of 40[04]")
def hostile_text(trial):
    browser = trial.browser
    trial.open("overview")
    message = {"title": HOSTILE, "body": OVERRIDE + "x" * 1000}
    name = trial.fail(1, message=message, labels={"campaign": "<b onclick=hacked>x</b>", "way": OVERRIDE})[0]
    status, plan = trial.api.call("POST", "/v1/replays", {"filter": f"request:{name} state:failed since:1h", "reason": HOSTILE})
    check(status in (201, 202), f"a plan: {status} {plan}")
    places = [f"requests/{name}", f"requests?filter=request:{name}", "failures", f"replays/{plan['id']}", "replays",
              "requests/%3Cimg%20src%3Dx%20onerror%3D%22window.hacked%3D1%22%3E", "requests?filter=%3Cimg+src%3Dx+onerror%3Dhacked%3E"]
    if trial.letters:
        trial.letters([(HOSTILE.encode(), HOSTILE.encode() + b"\xff" + OVERRIDE.encode() + b"\0")])
        wait(lambda: trial.api.get("/v1/deadletters")["items"], "there is a dead letter")
        places.append("deadletters")
    for place in places:
        trial.visit(place)
        wait(lambda: browser.find("main[data-ready=true]"), f"#/{place} is there")
        check(browser.script(
            "return window.hacked === undefined && !document.querySelector('main img, main script, main b[onclick]')"),
              f"#/{place}: text has become elements")
    trial.open(f"replays/{plan['id']}")
    check(HOSTILE in browser.script("return document.querySelector('main').textContent"), "the reason is not shown as it is")
    trial.open(f"requests/{name}")
    check("gpj.exe" in browser.script("return document.querySelector('main').textContent"), "the title is not shown")
    equal(browser.script(TURNED), [], "texts that turn what follows them")


@case("new rows wait behind a bar, and nothing jumps")
def new_rows(trial):
    trial.open("requests")
    browser = trial.browser
    first = browser.await_element("[data-row]").text
    trial.api.publish([request(trial.name("new")) for _ in range(3)])
    bar = browser.await_element("[data-action=show-new]")
    check(re.search(r"\d+ .*new", bar.text), f"the bar says {bar.text!r}")
    equal(browser.find("[data-row]").text, first, "the first row while new ones wait")
    bar.click()
    wait(lambda: browser.find("[data-row]").text != first, "the new rows are shown")


@case("every screen shows its calls as commands, and these are the calls that it made")
def commands(trial):
    for place in trial.places():
        trial.way.requests.clear()
        trial.open(place)
        shown = trial.shown("main details.as")
        check(shown, f"#/{place} has no calls as commands")
        check("curl" in shown and "pushfan" in shown, f"#/{place} shows {shown[:200]!r}")
        paths = [re.sub(r"[?'\"\s].*", "", path) for path in re.findall(r"/v1/[^\s'\"]+", shown)]
        asked = " ".join(trial.way.requests)
        check(any(path in asked for path in paths), f"#/{place} shows {paths} and asked {asked}")


@case("? lists the keys, Esc closes the list, and single keys can be turned off")
def help_and_keys(trial):
    trial.open("overview")
    browser = trial.browser
    browser.keys("?")
    dialog = browser.await_element("dialog:modal")
    for word in "/", "j", "k", "Enter", "p", "?", "Esc":
        check(word in dialog.text, f"the list of keys has no {word}")
    trial.focus("dialog input[type=checkbox]", 20)
    browser.keys(" ")
    browser.keys("Escape")
    wait(lambda: not browser.find("dialog:modal"), "Esc closes the list")
    browser.keys("p")
    browser.keys("g", "f")
    equal(browser.find("main").attribute("data-screen"), "overview", "the screen after keys that are off")
    check(not browser.find("body[data-paused=true]"), "a key that is off has paused the view")
    browser.script("localStorage.clear()")


@case("each screen has an address that brings it back, and the browser's own way back works")
def addresses(trial):
    trial.open("overview")
    browser = trial.browser
    for key, screen in zip("fqrdo", ["failures", "requests", "replays", "deadletters", "overview"]):
        browser.keys("g", key)
        trial.ready(screen)
    browser.ask("POST", "/back", {})
    trial.ready("deadletters")
    trial.open("requests?filter=state%3Afailed")
    equal(browser.find("input[name=filter]").ask("property/value"), "state:failed", "the filter of an address")
