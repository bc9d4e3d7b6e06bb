"""Cases of reading: rows that are new, one request, suggestions, plots, and the commands that do the same."""

import datetime
import re
import subprocess
import urllib.parse
import zoneinfo

from browser import wait
from pagestage import request
from trial import case, check, equal

# Beside a row that is seen, at the place that the window has.
SEEN = """
const row = [...document.querySelectorAll('[data-row]')].find((one) => one.getBoundingClientRect().top > 0)
return [scrollY, row.getBoundingClientRect().top, row.textContent]"""

# Keeps the next answer about failures until `kept` is called, and counts those behind it.
KEEP_ONE = """
const fetched = window.fetch
window.passed = 0
window.fetch = async (...asked) => {
  const answer = await fetched(...asked)
  if (!String(asked[0]?.url ?? asked[0]).includes('v1/failures')) return answer
  if (window.kept) window.passed += 1
  else await new Promise((done) => { window.kept = done })
  return answer
}"""


@case("new rows wait behind a bar whose number grows while it has the focus, and nothing jumps")
def new_rows(trial):
    browser = trial.browser

    def wait_behind_bar(place, add):
        trial.open(place)
        first = browser.await_element("[data-row]").text
        add()
        bar = browser.await_element("[data-action=show-new]")
        check(re.search(r"\d+ .*new", bar.text), f"the bar says {bar.text!r}")
        browser.script("document.querySelector('[data-action=show-new]').focus({preventScroll: true}); scrollTo(0, document.body.scrollHeight)")
        seen, before = browser.script(SEEN), trial.count("[data-action=show-new]")
        add()
        wait(lambda: (trial.count("[data-action=show-new]") or 0) > before, f"{place}: the number grows")
        check(browser.script("return document.activeElement.matches('[data-action=show-new]')"), f"{place}: the bar has lost the focus")
        equal(browser.script(SEEN), seen, f"{place}: the place of the window, and a row in it, while new ones come")
        equal(browser.find("[data-row]").text, first, f"{place}: the first row while new ones wait")
        browser.keys("Enter")
        wait(lambda: browser.find("[data-row]").text != first, f"{place}: the new rows are shown")
        wait(lambda: not browser.find("[data-action=show-new]"), f"{place}: the bar is gone")

    # What is due later stands above what is published now, and hides none of it.
    trial.cancelled(110)
    trial.api.publish([request(trial.name("old")) for _ in range(40)])
    wait_behind_bar("requests", lambda: trial.api.publish([request(trial.name("new")) for _ in range(3)]))
    trial.fail(1)
    wait_behind_bar("failures", lambda: trial.fail(1))
    # An answer that is on its way while the new rows are shown is of the old ones.
    trial.fail(1)
    browser.await_element("[data-action=show-new]")
    browser.script(KEEP_ONE)
    trial.fail(1)
    wait(lambda: browser.script("return Boolean(window.kept)"), "failures: a count is on its way")
    browser.script("document.querySelector('[data-action=show-new]').click()")
    wait(lambda: browser.script("return window.passed"), "failures: the rows are asked for")
    browser.script("window.kept(); return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    wait(lambda: not browser.find("[data-action=show-new]"), "failures: the bar is gone after an answer that came late")


RUN = ("status", "failed", "results list", "results show", "replay list", "replay status", "replay plan", "holds", "cancel --request")
# These end with 4 where there is nothing to list or to do.
NONE = ("pushfan replay plan", "pushfan replay list", "pushfan holds", "pushfan cancel")
# What the page asks without being asked for it: its stream is the overview's, and its files and its session are its own.
UNSAID = r"/v1/status/events|/ui\b"


@case("every screen shows its calls as commands: all that it asked is among them, and a shell runs them")
def commands(trial):
    if not trial.stage:
        return "left out: it runs commands of pushfan"
    folder = trial.stage.work / "commands"
    folder.mkdir(exist_ok=True)
    (folder / "pushfan").unlink(missing_ok=True)
    (folder / "pushfan").symlink_to(trial.stage.program)
    (folder / ".curlrc").write_text('max-time = 15\nwrite-out = "\\n%{http_code}"\n')
    shell = trial.stage.environment | {
        "KEY": trial.key, "HOME": str(folder), "CURL_HOME": str(folder), "PATH": f"{folder}:{trial.stage.environment['PATH']}"}

    def run(line):
        return subprocess.run(["bash", "-c", line], env=shell, cwd=folder, capture_output=True, text=True, check=False)
    wrong, count, left = [], 0, None
    failed, = trial.fail(1)
    for place in [*trial.places(), f"requests/{failed}", f"requests?filter=request:{failed}", "replays/new?filter=state:failed"]:
        trial.way.requests.clear()
        trial.open(place)
        asked = {line.split()[1].split("?")[0] for line in trial.way.requests if not re.search(UNSAID, line)}
        # The page that was left may have asked for its own request once more.
        asked = {path for path in asked if not left or left not in path}
        left = place.partition("/")[2]
        if place.startswith("replays/new"):
            trial.fill("[name=reason]", "it's \"quoted\" $HOME")
        shown = trial.browser.script("return [...document.querySelectorAll('main details.as pre')].flatMap((one) => one.textContent.split('\\n'))")
        curls = [line for line in shown if line.startswith("curl ")]
        mine = [line for line in shown if line.startswith("pushfan ")]
        wrong += [f"#/{place}: no call as {word}" for word, lines in (("curl", curls), ("pushfan", mine)) if not lines]
        wrong += [f"#/{place}: {path} was asked and is not shown" for path in asked if path not in "\n".join(curls)]
        for line in curls:
            isPlan = re.search(r"/v1/replays'?$", line) is not None
            if re.search(r" (--json|-X) ", line) and not isPlan:
                continue
            endless = " --max-time 4" if "/v1/status/events" in line else ""
            done = trial.browser.inside(run, line + endless)  # where the page's address is
            count += 1
            if done.stdout.rsplit("\n", 1)[-1] not in ("200", "201", "202"):
                wrong.append(f"#/{place}: {line.replace(trial.key, '')}: {done.returncode} {done.stdout[-300:]} {done.stderr[-200:]}")
        for line in mine:
            if not line.removeprefix("pushfan ").startswith(RUN):
                continue
            done = run(line)
            count += 1
            if done.returncode not in ((0, 4) if line.startswith(NONE) else (0,)):
                wrong.append(f"#/{place}: {line}: exit status {done.returncode} {done.stderr[-300:]}")
    check(not wrong, "\n".join(wrong))
    return f"{count} were run"


@case("one request shows what was published and the calls as rendered, with their bytes")
def payloads(trial):
    name = trial.name("rendered")
    published = request(name, platforms=["apple", "fcmv1"])
    trial.api.publish([published])
    wait(lambda: trial.state(name) == "sent", "it is sent")
    trial.open(f"requests/{name}")
    trial.press("[data-action=payload]")
    wait(lambda: published["message"]["body"] in trial.text(), "the text that was published")
    trial.press("[data-action=explain]")
    status, answer = trial.api.call("POST", "/v1/requests:explain", published)
    equal(status, 200, "the status of explain")
    equal([call["platform"] for call in answer["calls"]], published["platforms"], "the platforms that are called")
    for call in answer["calls"]:
        css = f"[data-call={call['platform']}]"
        trial.browser.await_element(css)
        shown = trial.shown(css)
        for said in (call["request_line"], *call["headers"], f"{call['body_bytes']:,} of {call['body_bytes_allowed']:,} bytes"):
            moment = said.partition("apns-expiration: ")[2]
            # The page asked some seconds before this did.
            isShown = (found := re.search(r"apns-expiration: (\d+)", shown)) and abs(int(found[1]) - int(moment)) < 60 if moment else said in shown
            check(isShown, f"{call['platform']} does not show {said!r}")
        equal(re.sub(r"\s", "", trial.shown(f"{css} pre[aria-label^=Body]")), re.sub(r"\s", "", call["body"]), f"the body of {call['platform']}")


NUMBERS = '"order":23958446825181076828,"most":1e400,"price":1.10'


@case("what is published comes back as it was written: each digit, and an id that ends like a call")
def as_written(trial):
    def publish(name):
        body = f'{{"aps":{{"alert":"Lunch?"}},{NUMBERS}}}'
        status, said = trial.api.call("POST", "/v1/requests", (
            f'{{"id":"{name}","audience":{{"users":["alice"]}},"platforms":["apple"],"payloads":{{"apple":{{"body":{body}}}}}}}').encode())
        equal(status, 202, f"the status of publishing {name}: {said}")

    def says(css):
        return NUMBERS in re.sub(r"\s", "", trial.shown(css) or "")
    name = trial.name("order") + ":cancel"
    publish(name)
    wait(lambda: trial.total(f"request:{name}") == 1, "it has a result")
    trial.open(f"requests?filter=request:{name}")
    trial.press("[data-row] a")
    trial.ready("request")
    check(trial.browser.find("[data-verdict]"), f"the page of {name} says {trial.text()!r}")
    trial.press("[data-action=payload]")
    wait(lambda: says("pre[aria-label^='The request']"), "the request has its digits")
    check(says("details.as pre"), "the line for curl has other digits")
    trial.press("[data-action=explain]")
    wait(lambda: says("[data-call=apple] pre[aria-label^=Body]"), "the call has its digits")
    for other in (".", ".."):
        publish(other)
        trial.open(f"requests/{other}")
        check(trial.browser.find("[data-verdict]"), f"the page of {other!r} says {trial.text()!r}")
    # A filter longer than a head.
    matched = urllib.parse.quote(f"request:{name}," + ",".join(f"absent-{number}" for number in range(600)))
    trial.open(f"requests?filter={matched}")
    wait(lambda: trial.browser.find("[data-row] a"), "a long filter finds it")
    check("requests:search" in (trial.shown("details.as pre") or ""), "the line for curl has another call")
    trial.open(f"failures?filter={matched}")
    check(not trial.browser.find("main [role=alert]"), f"failures with a long filter: {trial.text()!r}")


def accept_and_give_up(trial, meanwhile=None):
    """A request that the hub accepts, and gives up while something is done; returns its id."""
    name = trial.name("late")
    trial.fault("hidden=3s,state=Abandoned", "telemetry")
    try:
        trial.api.publish([request(name, hub="south", options={"max_attempts": 1, "track_outcome": True})])
        wait(lambda: trial.state(name) == "sent", "the hub has accepted it")
        if meanwhile:
            meanwhile(name)
        wait(lambda: any(one["kind"] == "outcome" for one in trial.api.get(f"/v1/requests/{name}", life="true")["life"]["results"]),
             "the outcome is written")
    finally:
        trial.fault(None, "telemetry")
    return name


def says_abandoned(trial):
    return trial.browser.find("[data-verdict].bad") and "Abandoned" in trial.shown("[data-verdict]")


@case("a request that the hub accepted and gave up later is shown as a failure on every screen")
def late_outcome(trial):
    name = accept_and_give_up(trial)
    trial.open(f"requests/{name}")
    check(says_abandoned(trial), f"the page says {trial.shown('[data-verdict]')!r}")
    trial.open(f"failures?filter=request:{name}")
    wait(lambda: trial.browser.find("tr[data-cause=hub_abandoned]"), "it is among the failures")
    trial.open(f"requests?filter=request:{name}")
    row = trial.browser.await_element(f"tr[data-row='{name}']")
    check("Abandoned" in row.text and row.find_elements("css selector", ".state.bad"), f"the list has it as {row.text!r}")


@case("an outcome that comes while the request is open comes to its page")
def outcome_meanwhile(trial):
    accept_and_give_up(trial, lambda name: trial.open(f"requests/{name}"))
    wait(lambda: says_abandoned(trial), "the open page says that it failed", limit=30)


@case("the filter is written by keyboard with what is suggested, and stands in the address")
def suggestions(trial):
    trial.fail(1)
    trial.open("requests")
    browser = trial.browser

    def takes(typed, wanted):
        browser.keys(typed)
        for _ in range(30):
            browser.keys("ArrowDown")
            chosen = browser.script("const id = document.activeElement.getAttribute('aria-activedescendant');"
                                    "return document.getElementById(id)?.querySelector('span').textContent ?? null")
            check(chosen, f"nothing is suggested after {typed!r}")
            if chosen == wanted:
                return browser.keys("Enter")
        raise AssertionError(f"{wanted} is not suggested after {typed!r}")
    browser.keys("/")
    takes("st", "state:")
    takes("f", "failed")
    takes(" hub:so", "south")
    equal(browser.script("return document.activeElement.value"), "state:failed hub:south", "the filter that was chosen")
    browser.keys(" stat")
    check(browser.script("return document.activeElement.getAttribute('aria-expanded') === 'true'"), "nothing is suggested for a second name")
    browser.keys("Escape")
    check(browser.script("return document.activeElement.name === 'filter' && document.activeElement.getAttribute('aria-expanded') === 'false'"),
          "Esc does not close the suggestions alone")
    trial.fill("[name=filter]", "state:failed hub:south")
    browser.keys("Enter")
    wait(lambda: "state%3Afailed" in trial.place(), "the filter is in the address")
    wait(lambda: browser.script("const rows = [...document.querySelectorAll('main [data-row]')];"
                                "return rows.length > 0 && rows.every((row) => /failed/.test(row.textContent) && /south/.test(row.textContent))"),
         "the rows are those of the filter")


ROWS = """
const figure = [...document.querySelectorAll('figure')].find((one) => one.querySelector('h2').textContent === arguments[0])
figure.querySelector('details').open = true
return [...figure.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))"""


@case("the tables of the plots have the figures of the history")
def plot_tables(trial):
    trial.open("overview")
    zone = zoneinfo.ZoneInfo("Europe/Berlin")  # of the browser

    def figures(history):
        """The minutes that have ended, the newest first."""
        for minute in reversed(history["items"][:-1]):
            at = datetime.datetime.fromisoformat(minute["at"].replace("Z", "+00:00")).astimezone(zone).strftime("%H:%M")
            named = [minute["finished"].get(word, 0) for word in ("sent", "partial", "failed", "rejected")]
            yield [at, *(f"{one:,}" for one in (*named, sum(minute["finished"].values()) - sum(named)))]

    def agrees():
        expected = list(figures(trial.api.get("/v1/history")))
        shown = trial.browser.script(ROWS, "Outcomes a minute")
        return expected and all(row in shown for row in expected)
    wait(agrees, "each minute of the history is in the table", limit=150)
    # A minute without a result has no times.
    times = [minute["latency"] for minute in trial.api.get("/v1/history")["items"][:-1] if "latency" in minute]
    expected = [[f"{one[f'{name}_ms']} ms" for name in ("p50", "p95", "p99")] for one in times if one["p99_ms"] < 1000]
    wait(lambda: (rows := [row[1:] for row in trial.browser.script(ROWS, "Publish to final")]) and all(one in rows for one in expected),
         f"the table has the times {expected}")
