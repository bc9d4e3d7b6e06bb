"""Cases of repairing: from a failure or a dead letter to a plan, its run and its results."""

import json
import re

from browser import wait
from trial import MADE, case, check, equal

JOB = r"#/replays/([0-9a-f-]{36})"


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
    return planned(trial)


def planned(trial):
    """The id of the plan to which the page goes."""
    return wait(lambda: re.match(JOB, trial.place()), "there is a plan")[1]


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
    plan = trial.job(job)
    counted = {word: trial.count(f"[data-count={word}]") for word in ("requests", "safe", "ambiguous")}
    equal(counted["requests"], plan["requests"], "requests of the plan, on the page and of the API")
    check(plan["requests"] >= len(names), f"the plan has {plan['requests']} requests, of which {len(names)} have just failed")
    equal({word: counted[word] for word in ("safe", "ambiguous")}, plan["eligible_by_safety"], "eligible, on the page and of the API")
    late = trial.fail(2)  # after the plan
    trial.focus("[data-action=run]:not(:disabled)")
    browser.keys("Enter")
    wait(lambda: trial.job(job)["state"] == "done", "the replay is done")
    wait(lambda: "done" in (trial.shown("[data-state]") or ""), "the page says so")
    wait(lambda: trial.job(job, results="true")["results"] == {"sent": counted["requests"]}, "as many are sent as were counted")
    done = trial.job(job)
    equal((done["next"], done["next"] - done["replayed"], done["reason"]), (counted["requests"], 0, "hub was out"), "what was done, left out, and why")
    for name in names:
        equal([one["state"] for one in replays_of(trial, name)], ["sent"], f"replays of {name}")
    for name in late:
        equal(replays_of(trial, name), [], f"replays of {name}, which failed after the plan")
    browser.keys("g", "q")
    trial.ready("requests")
    browser.keys("j", "Enter")
    trial.ready("request")


@case("a new result says who had the request replayed, and why, in Kafka and on the page")
def actor_and_reason(trial):
    name, = trial.fail(1)
    trial.open("failures")
    job = plan_by_keys(trial, "hub was out again")
    trial.ready("replay")
    trial.fill("form [name=reason]", "as Ann said")
    trial.press("[data-action=run]")
    again = wait(lambda: [one["request_id"] for one in replays_of(trial, name) if one["state"] == "sent"], "it is sent")[0]
    replay = trial.api.get(f"/v1/requests/{again}", life="true")["result"]["replay"]
    equal((replay["job_id"], replay["reason"]), (job, "as Ann said"), "the job and the reason of the new result")
    check(trial.key.split("_")[1] in replay["actor"], f"the actor is {replay['actor']!r}")
    trial.open(f"requests/{again}")
    for said in replay["actor"], "as Ann said", name:
        check(said in trial.text(), f"the page of the new request does not say {said!r}")


@case("a replay of more than 1,000 requests is run once their number is typed")
def typed_count(trial):
    matched = trial.cancelled(1001)
    job = trial.plan(matched, "was a mistake", set=["not_before=null"])
    trial.open(f"replays/{job}")
    equal(trial.count("[data-count=requests]"), 1001, "requests of the plan")
    trial.way.requests.clear()
    for typed in "", "1000", "10010", "many":
        trial.fill("[name=count]", typed)
        trial.browser.find("[data-action=run]").click()
        check(trial.browser.find("[name=count]:invalid"), f"{typed!r} is taken for a number of requests")
    trial.pass_events(2)
    equal([one for one in trial.way.requests if ":run" in one], [], "runs that were asked for with a wrong number")
    equal(trial.job(job)["state"], "planned", "the state after wrong numbers")
    trial.fill("[name=count]", "1,001")
    trial.press("[data-action=run]")
    wait(lambda: trial.job(job)["state"] == "done", "it is done after the right number")


@case("a replay is paused, goes on and is stopped on its page, which has each request that was left")
def pause_and_stop(trial):
    count = 200
    job = trial.plan(trial.cancelled(count), "was a mistake", set=["not_before=null"])
    trial.open(f"replays/{job}")
    trial.fill("form [name=rate]", "1")
    trial.press("[data-action=run]")

    def stands(state):
        wait(lambda: trial.job(job)["state"] == state, f"it is {state}")
        wait(lambda: state in (trial.shown("[data-state]") or ""), f"the page says that it is {state}")

    def grows():
        before = trial.count("[data-progress]")
        wait(lambda: trial.count("[data-progress]") != before, "the page counts what is dealt with")
    stands("running")
    grows()
    # The bar's own button holds the figures alone.
    trial.press("[data-action=pause-view]")
    wait(lambda: "figures frozen" in trial.shown("[data-age]"), "the bar says that the figures are frozen")
    grows()
    equal(trial.shown("[data-action=pause-view]"), "Let the figures go on", "the button of the figures while they are frozen")
    trial.press("[data-action=pause-view]")
    wait(lambda: "figures frozen" not in trial.shown("[data-age]"), "the bar says that the figures move")
    equal([trial.shown(f"[data-action={one}]") for one in ("pause-view", "pause")], ["Freeze the figures", "Pause this replay"], "the two pauses")
    trial.press("[data-action=pause]")
    stands("paused")
    equal(trial.shown("[data-action=resume]"), "Go on with this replay", "the way on")
    held = trial.job(job)["next"]
    trial.pass_events(3)
    equal(trial.job(job)["next"], held, "requests dealt with while it is paused")
    trial.press("[data-action=resume]")
    stands("running")
    grows()
    wait(lambda: trial.job(job)["next"] > held, "it goes on")
    trial.press("[data-action=stop]")
    trial.browser.await_element("dialog[open]")
    equal(trial.job(job)["state"], "running", "the state while it is asked")
    trial.press("[data-action=stop-now]")
    stands("stopped")
    over = trial.job(job)
    check(held < over["next"] < count, f"it stopped after {over['next']} of {count}")
    check(not trial.browser.find("[data-action=run], [data-action=resume]"), "a replay that was stopped can be run")
    wait(lambda: trial.count("[data-count=left]") == count - over["next"]
         and f"{count - over['next']}: the replay was stopped before it" in trial.shown("[data-left]"), "the page has the number of leftovers, and why")
    trial.press("main details:not(.as) summary")
    rows = "return [...document.querySelectorAll('main details:not(.as) tbody tr')].map((row) => row.querySelector('th').textContent)"

    def left():
        trial.browser.script("document.querySelector('main details:not(.as) button')?.click()")
        return len(trial.browser.script(rows)) >= count - over["next"]
    wait(left, "the page has all that was left")
    found = trial.browser.script(rows)
    equal((len(found), len(set(found))), (count - over["next"],) * 2, "requests that were left")
    equal(trial.count("[data-rest]"), count - over["next"], "what it has not come to")
    # From the end of a long list, what is above would come to lie below the bar.
    trial.browser.script("scrollTo(0, 0)")
    trial.press("[data-action=plan-rest]")
    trial.ready("plan")
    filled = {name: trial.browser.find(f"main [name={name}]").get_property("value") for name in ("reason", "set")}
    equal(filled, {"reason": "was a mistake", "set": "not_before=null"}, "what the form of the rest has")
    trial.press("[data-action=plan]")
    rest = planned(trial)
    wait(lambda: trial.job(rest)["state"] == "planned", "the rest is planned")
    equal(trial.job(rest)["requests"], count - over["next"], "requests of the plan of the rest")


@case("a plan that was never run is deleted on its page, and what no repetition mends is said before it runs")
def delete_plan(trial):
    job = trial.plan(trial.cancelled(2), "too much", set=["not_before=null"])
    trial.open(f"replays/{job}")
    trial.press("[data-action=delete]")
    trial.ready("replays")
    equal(trial.api.call("GET", f"/v1/replays/{job}", None)[0], 404, "the status of a plan that was deleted")


@case("the list of keys closes with its screen, and the bar names the key")
def help_closes(trial):
    trial.open("replays")
    check(trial.key.split("_")[1] in trial.shown("[data-key]"), "the bar does not name the key")
    trial.browser.keys("?")
    trial.browser.await_element("#help[open]")
    trial.browser.script("location.hash = '#/failures'")
    trial.ready("failures")
    check(not trial.browser.find("dialog[open]"), "the list of keys is still there")


# Plans that were stopped, and the filters of the forms that plan their rest.
AT = "2026-11-29T13:00:00.000Z"
USUAL = "state:failed,partial,rejected,expired,cancelled,unknown kind:final,outcome"
RESTS = [
    # To name cancelled requests would repeat them: what a plan has added is not named.
    (f"{USUAL} since:{AT}", f"since:{AT} until:{AT}"), (f"hub:south {USUAL} until:{AT}", f"hub:south until:{AT}"),
    ("state:cancelled label.campaign:sale kind:final,outcome", f"state:cancelled label.campaign:sale until:{AT}"), ("", f"until:{AT}"),
]


@case("the rest of a stopped replay is what its author named, up to the moment of its plan, and a change without a value is to be completed")
def rest_of_plan(trial):
    trial.open("replays")
    for matched, expected in RESTS:
        made = trial.browser.script(MADE, "replays.js", "restOf", {"filter": matched, "created_at": AT, "set": ["hub=north", "message.title", "data.x=a…"]})
        equal((made["filter"], made["set"]), (expected, "hub=north\nmessage.title\ndata.x"), f"the rest of {matched!r}")


@case("a dead letter is mended and published on the page, and its request is sent")
def mend_letter(trial):
    if not trial.stage:
        return "left out: it writes to Kafka"
    name = trial.name("mended")
    whole = {"id": name, "audience": {"users": ["alice"]}, "message": {"title": "Order shipped", "body": "On its way"}, "platforms": ["apple"]}
    broken = json.dumps(whole)[:-1] + f', "note": {name}'
    trial.stage.letters([(name.encode(), broken.encode())])
    letter = wait(lambda: next((one for one in trial.api.get("/v1/deadletters", payload="true")["items"]
                                if name in one.get("value", "")), None), "there is a dead letter")
    trial.open("deadletters")
    trial.press(f"[data-letter='{letter['id']}'] button")
    detail = trial.browser.await_element("[data-detail]")
    wait(lambda: broken in trial.shown("[data-detail]"), "its text is shown")
    bytes_row = " ".join(f"{byte:02x}" for byte in broken.encode()[:16])
    check(bytes_row in trial.shown("[data-detail]"), "its bytes are not shown")
    check(letter["code"] in trial.shown("[data-detail]"), "its fault is not shown")
    trial.fill("[name=reason]", "a comma too many")
    trial.fill("textarea[name=value]", "{")
    trial.press("[data-detail] [data-action=plan]")
    wait(lambda: detail.find_elements("css selector", "[role=alert]"), "what is no JSON yet is refused")
    trial.fill("textarea[name=value]", json.dumps(whole))
    trial.press("[data-detail] [data-action=plan]")
    job = planned(trial)
    trial.press("[data-action=run]")
    wait(lambda: trial.job(job)["state"] == "done", "it is published")
    wait(lambda: trial.state(name) == "sent", "its request is sent")
    if results := trial.browser.find("main a[data-action=results]"):
        results.click()
        trial.ready("requests")
        wait(lambda: trial.browser.find(f"[data-row='{name}']"), "the link to the results of the replay leads to it", limit=10)


@case("what is typed into the form of a plan stands in its address, and an address fills the form")
def plan_address(trial):
    browser = trial.browser
    typed = {"filter": "state:failed hub:south", "reason": "hub was out", "rate": "20", "set": "hub=north"}
    trial.open("replays/new")
    for name, text in typed.items():
        trial.fill(f"main [name={name}]", text)
    browser.find("[name=ambiguous]").click()
    wait(lambda: "include_ambiguous" in trial.place(), "the address has the mode")
    trial.visit(trial.place().removeprefix("#/"))
    trial.ready("plan")
    found = {name: browser.find(f"main [name={name}]").get_property("value") for name in typed}
    equal(found, typed, "what the form has after a load of its address")
    check(browser.find("[name=ambiguous]:checked"), "the mode of the address is not in the form")


# The causes on screen: of each its code, hub, platforms, count, and the address of what there is to see.
CAUSES = """
return [...document.querySelectorAll('main tr[data-cause]')].map((row) => [row.dataset.cause, row.dataset.hub ?? '',
  row.querySelector('[data-label=Platforms]').textContent, Number(row.querySelector('[data-label=Count]').textContent.replace(/\\D/g, '')),
  row.querySelector('a.button').hash])"""


@case("to see a cause is to see the results of that cause and no other, whatever its hub and its platforms")
def see_cause(trial):
    label = trial.name("cause")
    count = 2
    one, = trial.fail(1, labels={"campaign": label})
    trial.fail(1, labels={"campaign": label}, platforms=["apple", "fcmv1"])
    if trial.stage:
        # A result of the same error that names no hub, as workers without a default hub write them.
        result = trial.api.get(f"/v1/requests/{one}")["result"] | {"request_id": trial.name("hubless"), "result_id": label}
        del result["hub"]
        trial.stage.letters([(label.encode(), json.dumps(result).encode())], "results")
        count = 3
    wait(lambda: trial.total(f"state:failed label.campaign:{label}") == count, "all have failed")
    trial.open(f"failures?filter=label.campaign:{label}")
    causes = wait(lambda: trial.browser.script(CAUSES), "there are causes")
    seen = 0
    for code, hub, platforms, number, place in causes:
        trial.open(place.removeprefix("#/"))
        rows = trial.browser.script("return [...document.querySelectorAll('main tr[data-row]')].map((row) => row.dataset.row)")
        check(len(rows) >= number, f"{code} of {hub or 'no hub'}: {len(rows)} of {number}")
        for name in rows:
            result = trial.api.get(f"/v1/requests/{name}")["result"]
            equal((result["error"]["code"], result.get("hub", "")), (code, hub),
                  f"the cause of {name}, seen for {code} of {hub or 'no hub'}, {platforms}")
            seen += 1
    check(seen >= count, f"{seen} results are seen")
