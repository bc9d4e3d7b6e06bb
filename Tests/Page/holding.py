"""Cases of stopping: a hold and its banner, its release, cancelling, and who may."""

import re
import time

from behaviour import HOSTILE, OVERRIDE, TURNED
from browser import wait
from lacking import REFUSED, is_off
from looks import AUDIT, emulated
from pagestage import request
from stage import timestamp
from trial import MADE, case, check, equal


def orders(trial):
    """The holds and limits that stand."""
    return trial.api.get("/v1/holds")["items"]


def give(trial, scope, reason, **members):
    """Gives an order; returns its id."""
    status, made = trial.api.call("POST", "/v1/holds", {"scope": scope, "reason": reason, **members})
    equal(status, 201, f"the status of an order: {made}")
    return made["id"]


def release_all(trial):
    """Cases that follow are to find nothing held."""
    for order in orders(trial):
        trial.api.call("POST", f"/v1/holds/{order['id']}:release", {})
    wait(lambda: not orders(trial), "nothing is held")


def banner(trial):
    return trial.shown("#orders:not([hidden])") or ""


@case("a hub is held from the overview by keyboard, every screen says so with the time that is left, and its requests go once it is released")
def hold_hub(trial):
    browser = trial.browser
    trial.open("overview")
    held = "tr[data-hub=south]"
    wait(lambda: browser.find(f"{held} [data-action=hold]"), "the hub can be held")
    trial.focus(f"{held} [data-action=hold]")
    browser.keys("Enter")
    trial.ready("holds")
    equal(browser.find("main [name=hub]").get_property("value"), "south", "the hub of the form")
    trial.focus("main [name=reason]")
    browser.keys("wrong text", "Enter")
    try:
        order = wait(lambda: next((one for one in orders(trial) if one["scope"] == {"hub": "south"}), None), "the hub is held")
        equal(order["reason"], "wrong text", "the reason of the order")
        wait(lambda: browser.find(f"[data-order='{order['id']}'] [data-action=release]"), "the screen has the order")
        name = trial.name("held")
        trial.api.publish([request(name, hub="south")])
        for place in "overview", "failures":
            trial.open(place)
            wait(lambda: re.search(r"Held:.*hub:south until (\w+ \d+ )?\d\d:\d\d \(in (59|60) min\) – wrong text", banner(trial)), f"#/{place} says what is held")
        trial.open("overview")
        wait(lambda: re.search(r"held until (\w+ \d+ )?\d\d:\d\d: wrong text", trial.shown(held) or ""), "the row of the hub says that it is held")
        check(not browser.find(f"{held} [data-action=hold]"), "a hub that is held can be held once more")
        trial.pass_events(3)
        check(trial.state(name) != "sent", "a request for a hub that is held was sent")
        trial.open("holds")
        trial.press(f"[data-order='{order['id']}'] [data-action=release]")
        wait(lambda: not orders(trial), "nothing is held any more")
        wait(lambda: not banner(trial), "the banner is gone")
        wait(lambda: trial.state(name) == "sent", "the request goes")
        wait(lambda: "released by" in (trial.shown(f"[data-ended='{order['id']}']") or ""), "the history has the release")
        trial.open(f"requests/{name}")
        wait(lambda: "wrong text" in (trial.shown("[data-step=held]") or ""), "its request says by what it was held")
    finally:
        release_all(trial)


@case("the time that is left of an order goes down on every screen, moves nothing and is not announced, and an order ends by itself")
def countdown(trial):
    browser = trial.browser

    def left():
        return trial.count("#orders [data-ends]")

    def main_top():
        return browser.script("return document.querySelector('main').getBoundingClientRect().top + scrollY")
    try:
        order = give(trial, {"tenant": "nobody"}, "until it ends", for_seconds=45)
        for place in "requests", "holds":
            trial.open(place)
            before = wait(left, f"#/{place} counts down")
            top, said = main_top(), trial.shown("#said")
            wait(lambda: 0 < (left() or 0) < before - 2, f"#/{place} counts down by seconds")
            check(not re.search(r"in \d+ s", said + trial.shown("#said")), f"#/{place} announces {trial.shown('#said')!r}")
            equal(main_top(), top, f"#/{place}: the place of the screen below the banner")
        wait(lambda: not banner(trial), "the banner is gone when the order has ended")
        wait(lambda: "no longer held" in trial.shown("#said"), "the end is announced")
        wait(lambda: "by itself" in (trial.shown(f"[data-ended='{order}']") or ""), "the history has its end")
    finally:
        release_all(trial)


@case("a request that waits is cancelled on its page, with what that concerns before and after")
def cancel_waiting(trial):
    browser = trial.browser
    name = trial.name("waits")
    trial.api.publish([request(name, not_before=timestamp((time.time() + 3600) * 1000))])
    wait(lambda: trial.api.call("GET", f"/v1/requests/{name}?life=true")[1].get("whereabouts", {}).get("state") == "delayed", "it waits until it is due")
    trial.open(f"requests/{name}")
    trial.press("[data-action=cancel]")
    browser.await_element("dialog:modal")
    wait(lambda: trial.count("[data-count=before-delayed]") == 1, "the dialog counts it before anything is cancelled")
    equal([trial.count(f"[data-count=before-{word}]") for word in ("waiting", "running", "sent", "other")], [0] * 4, "others that are counted")
    check(trial.state(name) != "cancelled", "counting has cancelled it")
    found = trial.browser.script(AUDIT)
    equal(found, [], "what breaks the rules in the dialog")
    trial.press("dialog [data-action=cancel-now]")
    check(browser.find("dialog [name=reason]:invalid"), "it is cancelled without a reason")
    trial.fill("dialog [name=reason]", "wrong text")
    trial.press("dialog [data-action=cancel-now]")
    wait(lambda: trial.state(name) == "cancelled", "it is cancelled")
    wait(lambda: trial.count("[data-count=after-delayed]") == 0 and trial.count("[data-count=after-other]") == 1, "the dialog counts it afterwards")
    browser.keys("Escape")
    wait(lambda: not browser.find("dialog:modal"), "Esc closes the dialog")
    wait(lambda: "cancelled" in trial.shown("[data-verdict]"), "the page says that it is cancelled")
    check("wrong text" in trial.text(), "the page does not say why")
    said = trial.shown("details.as")
    check("pushfan cancel --request" in said and "wrong text" in said, f"the commands are {said!r}")


@case("a key without operate sees what is held and why, finds each control off with the scope named, and is refused", REFUSED)
def without_operate(trial):
    key = trial.keys["read"]
    name, = trial.fail(1)
    try:
        order = give(trial, {"tenant": "nobody"}, "to look at", for_seconds=600)
        trial.open("overview", key)
        wait(lambda: "tenant:nobody" in banner(trial), "it sees what is held")
        wait(lambda: trial.browser.find("tr[data-hub] [data-action=hold]"), "there are hubs")
        check(is_off(trial, "tr[data-hub] [data-action=hold]", "operate"), "no control says what a key with another scope could do to a hub")
        trial.open(f"requests/{name}", key)
        for action in "hold", "cancel":
            check(is_off(trial, f"main .head [data-action={action}]", "operate"), f"no control says that another key may {action}")
        trial.open("holds", key)
        wait(lambda: trial.browser.find(f"[data-order='{order}'] [data-action=release]"), "the order is in the list")
        for css in f"[data-order='{order}'] [data-action=release]", "[data-action=give]", "[data-action=count]":
            check(is_off(trial, css, "operate"), f"there is no {css}")
        status = trial.browser.script(
            "return fetch('v1/holds', {method: 'POST', headers: {'Content-Type': 'application/json'},"
            " body: JSON.stringify({scope: {tenant: 'nobody'}, reason: 'x'})}).then((answer) => answer.status)")
        equal(status, 403, "a hold without the scope")
    finally:
        release_all(trial)


@case("who names nothing must type everything before all is held")
def typed_everything(trial):
    browser = trial.browser
    trial.open("holds")
    trial.fill("main [name=reason]", "a mistake")
    trial.way.requests.clear()
    for typed in "", "all", "everythin":
        trial.fill("main [name=everything]", typed)
        browser.find("[data-action=give]").click()
        check(browser.find("main [name=everything]:invalid"), f"{typed!r} is taken for everything")
    trial.pass_events(2)
    equal([one for one in trial.way.requests if one.startswith("POST")], [], "what was asked for without everything")
    equal(orders(trial), [], "what is held")
    trial.fill("main [name=hub]", "south")
    check(not browser.find("main [name=everything]").is_displayed(), "everything is to be typed for a hub")


@case("what is typed into the form of a hold stands in its address and among its commands, and an address fills the form")
def hold_address(trial):
    browser = trial.browser
    typed = {"label": "campaign=sale", "source": "marketing", "reason": "it's wrong"}
    trial.open("holds")
    for name, text in typed.items():
        trial.fill(f"main [name={name}]", text)
    trial.choose("main [name=lane]", "bulk")
    trial.choose("main [name=for]", "900")
    wait(lambda: "for=900" in trial.place(), "the address has the time")
    line = "pushfan hold --source marketing --lane bulk --label campaign=sale --reason 'it'\\''s wrong' --for 15m"
    check(line in trial.shown("details.as"), f"{line} is not in {trial.shown('details.as')!r}")
    trial.visit(trial.place().removeprefix("#/"))
    trial.ready("holds")
    found = {name: browser.find(f"main [name={name}]").get_property("value") for name in (*typed, "lane", "for")}
    equal(found, typed | {"lane": "bulk", "for": "900"}, "what the form has after a load of its address")
    trial.choose("main [name=kind]", "limit")
    trial.fill("main [name=number]", "50")
    wait(lambda: "pushfan limit 50 --source" in trial.shown("details.as"), "the command of a limit")


@case("a screen with orders keeps the rules of WCAG 2.2 AA, is not scrolled sideways at 320 px, and shows hostile reasons as text")
def looks_of_orders(trial):
    try:
        for reason, scope in [(HOSTILE, {"tenant": "nobody-" + "x" * 100}), (OVERRIDE, {"labels": {"campaign": "<b>sale</b>"}, "tenant": "nobody"})]:
            give(trial, scope, reason, for_seconds=600)
        give(trial, {"tenant": "nobody"}, "slowly", kind="limit", calls_per_second=50, for_seconds=600)
        found = []
        for scheme, width in ("light", 1280), ("dark", 320):
            with emulated(trial, width, 900, prefers_color_scheme=scheme):
                for place in "holds", "overview":
                    trial.open(place)
                    wait(lambda: "at most 50 calls a second" in banner(trial), f"#/{place} says what is limited")
                    found += [f"{place}, {scheme}: {line}" for line in trial.browser.script(AUDIT)]
                    check(trial.browser.script("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
                          f"#/{place} is scrolled sideways at {width} px")
                    check(HOSTILE in banner(trial), "the reason is not shown as it is")
                    equal(trial.browser.script(TURNED), [], "texts that turn what follows them")
                    check(trial.browser.script("return window.hacked === undefined && !document.querySelector('main img, aside img, aside b')"),
                          f"#/{place}: text has become elements")
        equal(found, [], "what breaks the rules")
    finally:
        release_all(trial)


@case("orders have sentences, scopes and times as they are meant")
def order_words(trial):
    trial.open("overview")
    order = {"kind": "hold", "until": "2020-01-02T12:00:00.000Z", "reason": "wrong text"}
    for made, name, given, expected in [
        ("orderText", "holds.js", order, r"^held until .*2.* 13:00: wrong text$"),  # in Berlin
        ("orderText", "holds.js", order | {"kind": "limit", "calls_per_second": 1200}, r"^at most 1,200 calls a second until "),
        ("leftText", "holds.js", 899_001, r"^in 15 min$"), ("leftText", "holds.js", 119_000, r"^in 119 s$"), ("leftText", "holds.js", 100, r"^in 1 s$"),
        ("leftText", "holds.js", -5, r"^in 0 s$"), ("leftText", "holds.js", 4 * 3_600_000, r"^in 4 h$"), ("leftText", "holds.js", 7 * 86_400_000, r"^in 7 d$"),
    ]:
        said = trial.browser.script(MADE, name, made, given)
        check(re.search(expected, said), f"{made} of {given} is {said!r}")
    for named, scope in [({"hub": "north", "tenant": ""}, {"hub": "north"}), ({"hub": "", "label": ""}, {"everything": True}),
                         ({"label": "a=b=c"}, {"labels": {"a": "b=c"}})]:
        equal(trial.browser.script(MADE, "holds.js", "scopeOf", named), scope, f"the scope of {named}")
