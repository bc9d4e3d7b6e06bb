"""Cases of what is missing: a scope, a session, the stream, the gateway, its index."""

import re

from browser import wait
from pagestage import API, request
from trial import case, check, equal

REFUSED = r"Failed to load resource: the server responded with a status of 403"
GONE = r"Failed to load resource: net::ERR_"
# The words of the first control of a kind, those that describe it included, and whether it can be used.
CONTROL = """
const node = document.querySelector(arguments[0])
return node && [node.disabled || node.ariaDisabled === 'true', node.textContent + (node.getAttribute('aria-describedby') ?? '').split(' ')
  .map((id) => document.getElementById(id)?.textContent ?? '').join(' ')]"""


def is_off(trial, css, scope):
    """Claims that a control is not there, or is off and names the scope."""
    if found := trial.browser.script(CONTROL, css):
        isOff, said = found
        check(isOff, f"{css} at {trial.place()} is on, and the key has no scope {scope}")
        check("scope" in said and scope in said, f"{css} at {trial.place()} does not name the scope {scope}: {said!r}")
    return found


@case("a key without the scope finds the control off and the scope named, and the API refuses what the page would not ask", REFUSED)
def missing_scope(trial):
    names = trial.fail(1)
    trial.open("failures", trial.keys["read"])
    browser = trial.browser
    wait(lambda: browser.find("tr[data-cause]"), "there is a failure")
    check(is_off(trial, "[data-action=replay]", "replay"), "no control says what a key with another scope could do")
    status = browser.script("return fetch('v1/replays', {method: 'POST', headers: {'Content-Type': 'application/json'},"
                            " body: JSON.stringify({filter: 'state:failed', reason: 'x'})}).then((answer) => answer.status)")
    equal(status, 403, "a plan without the scope")
    trial.open(f"requests/{names[0]}", trial.keys["read"])
    is_off(trial, "[data-action=replay]", "replay")
    is_off(trial, "[data-action=payload]", "read:payload")


def says(trial, place, key, words):
    trial.open(place, key)
    wait(lambda: re.search(words, trial.text()), f"#/{place} says {words!r}, not {trial.text()[:300]!r}", limit=15)


@case("a key that may only publish reads on every screen that it may not see it, and nothing is asked again and again",
      REFUSED, r"/v1/requests/.* - Failed to load resource: the server responded with a status of 404")
def publish_alone(trial):
    if "publish" not in trial.keys:
        return "left out: needs a gateway of its own"
    wrong = []
    for place in trial.places():
        trial.open(place, trial.keys["publish"])
        if not re.search(r"scope `?read|No such request of yours", trial.text()):
            wrong.append(f"#/{place} says {trial.text()[:200]!r}")
        trial.way.requests.clear()
        trial.pass_events(8)
        if len(trial.way.requests) > 1:
            wrong.append(f"#/{place} asked {trial.way.requests[:4]} within 8 s of a refusal")
    check(not wrong, "\n".join(wrong))


@case("a key without read:payload reads that contents are kept from it, of a request and of a dead letter")
def without_payload(trial):
    if not trial.stage:
        return "left out: needs a gateway of its own"
    key = trial.keys["blind"]
    title, name = "Secret " + trial.name("title"), trial.name("blind")
    trial.api.publish([request(name, message={"title": title, "body": "x"})])
    wait(lambda: trial.state(name) == "sent", "it is sent")
    trial.open(f"requests/{name}", key)
    check(is_off(trial, "[data-action=payload]", "read:payload"), "nothing says that a key with another scope could see it")
    check(title not in trial.text(), "the title is shown")
    trial.stage.letters([(name.encode(), f'{{"broken": "{title}"'.encode())])
    letter = wait(lambda: next((one for one in trial.api.get("/v1/deadletters", payload="true")["items"] if title in one.get("value", "")), None),
                  "there is a dead letter")
    trial.open("deadletters", key)
    trial.press(f"[data-letter='{letter['id']}'] button")
    wait(lambda: "read:payload" in (trial.shown("[data-detail]") or ""), "the detail names the scope")
    check(title not in trial.text(), "the text of the dead letter is shown")


@case("a key of a tenant sees that tenant's requests alone, and reads what is kept from it", REFUSED)
def key_of_tenant(trial):
    if "tenant" not in trial.keys:
        return "left out: needs a gateway of its own"
    key, own = trial.keys["tenant"], trial.name("acme")
    API(trial.base, key).publish([request(own)])
    wait(lambda: trial.state(own) == "sent", "it is sent")
    others, = trial.fail(1)
    for place in "overview", "deadletters":
        says(trial, place, key, "tenant")
        trial.way.requests.clear()
        trial.pass_events(12)
        check(len(trial.way.requests) <= 2, f"#/{place} asked {trial.way.requests} within 12 s of a refusal")
    trial.open("requests", key)
    wait(lambda: trial.browser.find(f"[data-row='{own}']"), "the list has the tenant's request")
    check(not trial.browser.find(f"[data-row='{others}']"), "the list has another's request")
    trial.open("failures", key)
    check(not trial.browser.find("tr[data-cause]"), "another's failure is shown")


@case("a session that is over in the middle asks for the key and comes back to the screen that was open",
      r"/v1/.* - Failed to load resource: the server responded with a status of 401")
def session_over(trial):
    browser = trial.browser
    trial.open("requests?filter=state%3Asent")
    place = trial.place()
    equal(browser.script("return fetch('ui/session', {method: 'DELETE'}).then((answer) => answer.ok)"), True, "the session is ended")
    # The page may have noticed by itself.
    browser.script("document.querySelector('main form button.main').click()")
    field = browser.await_element("main[data-screen=sign-in] [name=key]")
    check("over" in trial.text(), f"the page says {trial.text()!r}")
    equal(trial.place(), place, "the address while the key is asked for")
    field.send_keys(trial.key)
    browser.keys("Enter")
    trial.ready("requests")
    equal((trial.place(), browser.find("[name=filter]").get_property("value")), (place, "state:sent"), "the screen after signing in again")
    wait(lambda: re.search(r"live|old", trial.shown("[data-age]")), "figures come again")
    # A screen that only follows notices, too.
    trial.open("overview")
    browser.script("return fetch('ui/session', {method: 'DELETE'}).then((answer) => answer.ok)")
    wait(lambda: browser.find("main[data-screen=sign-in]"), "the overview asks for the key by itself")
    trial.signed = "nobody"


@case("a stream that is cut is said to be so, and goes on where it was, without a load of the page", GONE)
def cut_stream(trial):
    trial.open("overview")
    browser = trial.browser
    with trial.traffic():
        wait(trial.live, "there are counters")
        browser.script("window.stayed = true")
        trial.way.cut()
        try:
            wait(lambda: re.search(r"cut off", trial.shown("[data-age]")), "the page says that it is cut off")
        finally:
            trial.way.mend()
        for _ in range(2):
            before = trial.live()
            wait(lambda: trial.live() != before, "counters move again")
        check("cut off" not in trial.shown("[data-age]"), "the page still says that it is cut off")
    check(browser.script("return window.stayed"), "the page was loaded anew")


@case("while the gateway is away screens say so; then the open ones go on by themselves, and the others can be tried again", GONE)
def gateway_away(trial):
    browser = trial.browser

    def away(until, claim):
        browser.script("window.stayed = true")
        trial.way.cut()
        try:
            wait(until, claim)
        finally:
            trial.way.mend()

    def alert():
        return browser.find("main [role=alert]")
    trial.fail(1)
    trial.open("overview")
    with trial.traffic():
        away(alert, "the overview says that nothing answers")
        before = trial.live()
        wait(lambda: trial.live() != before, "its figures go on by themselves")
        wait(lambda: not alert(), "the overview's error goes away by itself")

    job = trial.plan(trial.cancelled(150), "was a mistake", set=["not_before=null"])
    trial.open(f"replays/{job}")
    trial.fill("form [name=rate]", "1")
    trial.press("[data-action=run]")
    wait(lambda: trial.count("[data-progress]"), "it is dealt with")
    away(lambda: alert() or "cut off" in trial.shown("[data-age]"), "the replay says that nothing answers")
    before = trial.count("[data-progress]")
    wait(lambda: trial.count("[data-progress]") != before, "the replay's progress goes on by itself")
    wait(lambda: not alert(), "the replay's error goes away by itself")
    trial.press("[data-action=stop]")
    trial.press("[data-action=stop-now]")

    trial.open("overview")
    away(lambda: browser.keys("g", "f") or wait(alert, "the failures say that nothing answers"), "the failures say so")
    trial.press("main [data-action=again], main form button.main")
    wait(lambda: browser.find("tr[data-cause]") and not alert(), "the failures are there once they are tried again")
    check(browser.script("return window.stayed"), "the page was loaded anew")


@case("beside a gateway that keeps no index lists and failures work and say so, and no open page searches again and again",
      r"/v1/replays.* - Failed to load resource: the server responded with a status of 4")
def without_index(trial):
    if not trial.stage:
        return "left out: needs a gateway of its own"
    name, = trial.fail(1)
    wrong = []
    with trial.at(trial.stage.serve("bare", PUSHFAN_GATEWAY_STATE_DIR=None)):
        for path in "/v1/requests", "/v1/failures":
            equal(trial.api.get(path)["searched"]["by"], "scan", f"{path} is searched")
        for place, css in [("requests", f"[data-row='{name}']"), ("failures", "tr[data-cause]"), (f"requests/{name}", "ol.steps li"),
                           ("deadletters", "main h1")]:
            trial.open(place)
            wait(lambda: trial.browser.find(css), f"#/{place} has its data")
            if place in ("requests", "failures") and not re.search(r"without an index|scan", trial.text()):
                wrong.append(f"#/{place} does not say that there is no index")
            trial.way.requests.clear()
            with trial.traffic():
                trial.pass_events(20)
            # New rows are asked for by time, which costs what is new.
            searches = [one for one in trial.way.requests
                        if re.search(r"/v1/(requests|failures|deadletters|replays)", one) and not re.search(r"since(%3A|=)20", one)]
            if len(searches) > 1:
                wrong.append(f"#/{place} asked {searches} within 20 s")
    check(not wrong, "\n".join(wrong))
