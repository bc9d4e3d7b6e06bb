"""Cases of what the page does."""

from browser import wait
from trial import case, check, equal


@case("signing in leads to the screen that was asked for, and the key is nowhere on the page",
      r"/ui/session - Failed to load resource: the server responded with a status of 401")
def sign_in(trial):
    trial.sign_in("pf_nobody_0123456789", "failures")
    browser = trial.browser
    wait(lambda: browser.find("[role=alert]"), "a wrong key is refused aloud")
    trial.sign_in(trial.key, "failures")
    trial.ready("failures")
    cookie, = browser.get_cookies()
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


@case("a page that is hidden asks nothing, be it a replay that runs, and is live again when it is looked at")
def hidden(trial):
    browser = trial.browser
    job = trial.plan(trial.cancelled(120), "was a mistake", set=["not_before=null"])

    def rests(place, moves):
        trial.open(place)
        if place != "overview":
            trial.fill("form [name=rate]", "1")
            trial.press("[data-action=run]")
        wait(moves, f"#/{place} has figures")
        try:
            browser.minimize_window()
            wait(lambda: browser.script("return document.hidden"), "the page is hidden")

            def falls_silent():
                before = trial.way.bytes
                trial.pass_events(2)
                return trial.way.bytes == before
            wait(falls_silent, f"#/{place}: its connections fall silent")
            before = trial.way.bytes
            trial.pass_events(6)
            equal(trial.way.bytes, before, f"bytes that passed while #/{place} was hidden")
        finally:
            browser.set_window_rect(width=1280, height=900)
        before = moves()
        with trial.traffic():
            wait(lambda: moves() != before, f"#/{place} is live again")
    rests("overview", trial.live)
    rests(f"replays/{job}", lambda: trial.count("[data-progress]"))
    trial.press("[data-action=stop]")
    trial.press("[data-action=stop-now]")


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
    plan = trial.plan(f"request:{name} state:failed since:1h", HOSTILE)
    places = [f"requests/{name}", f"requests?filter=request:{name}", "failures", f"replays/{plan}", "replays",
              "requests/%3Cimg%20src%3Dx%20onerror%3D%22window.hacked%3D1%22%3E", "requests?filter=%3Cimg+src%3Dx+onerror%3Dhacked%3E"]
    if trial.stage:
        trial.stage.letters([(HOSTILE.encode(), HOSTILE.encode() + b"\xff" + OVERRIDE.encode() + b"\0")])
        wait(lambda: trial.api.get("/v1/deadletters")["items"], "there is a dead letter")
        places.append("deadletters")
    for place in places:
        trial.visit(place)
        wait(lambda: browser.find("main[data-ready=true]"), f"#/{place} is there")
        check(browser.script(
            "return window.hacked === undefined && !document.querySelector('main img, main script, main b[onclick]')"),
              f"#/{place}: text has become elements")
    trial.open(f"replays/{plan}")
    check(HOSTILE in browser.script("return document.querySelector('main').textContent"), "the reason is not shown as it is")
    trial.open(f"requests/{name}")
    check("gpj.exe" in browser.script("return document.querySelector('main').textContent"), "the title is not shown")
    equal(browser.script(TURNED), [], "texts that turn what follows them")


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
    equal(browser.find("main").get_dom_attribute("data-screen"), "overview", "the screen after keys that are off")
    check(not browser.find("body[data-paused=true]"), "a key that is off has paused the view")
    browser.script("localStorage.clear()")


@case("each screen has an address that brings it back, and the browser's own way back works")
def addresses(trial):
    trial.open("overview")
    browser = trial.browser
    for key, screen in zip("fqrhdo", ["failures", "requests", "replays", "holds", "deadletters", "overview"]):
        browser.keys("g", key)
        trial.ready(screen)
    browser.back()
    trial.ready("deadletters")
    trial.open("requests?filter=state%3Afailed")
    equal(browser.find("input[name=filter]").get_property("value"), "state:failed", "the filter of an address")
    trial.open("overview")
    trial.choose("main select", "15")
    wait(lambda: "minutes=15" in trial.place(), "the range of the plots is in the address")
    trial.open("overview?minutes=30")
    equal(browser.find("main select").get_property("value"), "30", "the range of an address")
    trial.open("failures")
    trial.choose("main select", "1h")
    wait(lambda: "since=1h" in trial.place(), "the time of the failures is in the address")
    trial.open("failures?since=7d&filter=hub%3Asouth")
    equal([browser.find(f"main {one}").get_property("value") for one in ("select", "[name=filter]")], ["7d", "hub:south"], "what an address has")
    if trial.stage:
        trial.stage.letters([(b"one", b"no JSON"), (b"two", b"no JSON")])
        wait(lambda: len(trial.api.get("/v1/deadletters")["items"]) >= 2, "there are dead letters")
        trial.open("deadletters")
        trial.press("[data-letter]:nth-child(2) button")
        chosen = browser.await_element("[data-detail]").get_dom_attribute("data-detail")
        trial.visit(trial.place().removeprefix("#/"))
        equal(browser.await_element("[data-detail]").get_dom_attribute("data-detail"), chosen, "the letter of an address")
