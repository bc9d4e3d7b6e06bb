"""Cases of how the page looks, and to whom it is open."""

import contextlib
import pathlib

from browser import wait
from selenium.common.exceptions import WebDriverException
from trial import case, check, equal

AUDIT = (pathlib.Path(__file__).parent / "audit.js").read_text()
CONTROLS = ":is(a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0'])"
# Those that Tab should have come to and has not: of radio buttons with one name the chosen one, and nothing behind a dialog.
MISSED = """
const modal = document.querySelector('dialog:modal')
const nodes = [...(modal ?? document).querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
return nodes.filter((node) => !node.disabled && node.tabIndex >= 0 && node.checkVisibility({visibilityProperty: true})
  && !(node.type === 'radio' && !node.checked) && !window.passed.has(node)).map((node) => node.outerHTML.slice(0, 160))"""
# Selenium's `is_displayed` is also true of what a closed `details` holds.
SHOWN = "return arguments[0].checkVisibility({visibilityProperty: true})"
FOCUS = """
const node = document.activeElement
if (node === document.body || node === document.documentElement) return null
const style = getComputedStyle(node), {left, top, width, height} = node.getBoundingClientRect()
const isSeen = node.matches(':focus-visible') && (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 || style.boxShadow !== 'none')
const at = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 8))
window.passed ??= new Set()
const isNew = !window.passed.has(node)
window.passed.add(node)
return [isNew, isSeen, Boolean(at && (node.contains(at) || at.contains(node))), node.outerHTML.slice(0, 160)]"""
MOVING = """
return [...document.querySelectorAll('*')].filter((node) => {
  const style = getComputedStyle(node), longest = (text) => Math.max(...text.split(',').map(parseFloat))
  return longest(style.transitionDuration) > 0.01 || style.animationName !== 'none' && longest(style.animationDuration) > 0.01
}).map((node) => node.outerHTML.slice(0, 120)).slice(0, 5)"""


@contextlib.contextmanager
def emulated(trial, width=1280, height=900, scale=1, **features):
    trial.browser.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
    trial.browser.cdp("Emulation.setScrollbarsHidden", hidden=True)
    trial.browser.emulate(**features)
    try:
        yield
    finally:
        trial.browser.emulate()
        trial.browser.cdp("Emulation.setScrollbarsHidden", hidden=False)
        trial.browser.cdp("Emulation.clearDeviceMetricsOverride")


def open_plan_form(trial):
    """The form of a new plan, wherever it is."""
    trial.fail(1)
    trial.open("failures")
    wait(lambda: trial.browser.find("tr[data-cause] [data-action=replay]"), "a failure can be replayed").click()
    wait(lambda: trial.browser.find("[name=reason]"), "the form of a plan")


def views(trial):
    """Opens each screen, and what opens on them; yields their names."""
    for place in trial.places():
        trial.open(place)
        yield place
    trial.open("overview")
    trial.browser.keys("?")
    trial.browser.await_element("dialog:modal")
    yield "help"
    open_plan_form(trial)
    yield "plan"


# A rule, and what breaks it on a page that keeps it.
BROKEN = [
    ("1.4.3", "const p = main.appendChild(document.createElement('p')); p.textContent = 'pale'; p.style.color = 'rgb(128 128 128 / 50%)'"),
    ("1.4.11", "const i = main.appendChild(document.createElement('input')); i.style.border = i.style.background = 'none'"),
    ("2.5.8", "const p = main.appendChild(document.createElement('p')), style = 'all: unset; display: block; width: 9px; height: 9px';"
              "for (const n of [1, 2]) p.append(Object.assign(document.createElement('button'), {style}))"),
    ("2.4.3", "main.querySelector('button, a, select').tabIndex = 1"),
    ("3.3.2", "main.appendChild(document.createElement('input'))"),
    ("3.1.1", "document.documentElement.removeAttribute('lang')"),
    ("2.4.2", "document.title = ''"),
    ("one h1", "main.appendChild(document.createElement('h1')).textContent = 'second'"),
    ("no nav", "document.querySelector('nav').remove()"),
    ("order of headings", "main.appendChild(document.createElement('h6')).textContent = 'deep'"),
    ("id used twice", "main.appendChild(document.createElement('p')).id = 'main'"),
    ("names what does not exist", "main.setAttribute('aria-describedby', 'nothing')"),
    ("4.1.3", "for (const node of document.querySelectorAll('[aria-live], [role], output')) node.remove()"),
    ("place of a picture", "document.querySelector('img').removeAttribute('alt')"),
    ("header without scope", "document.querySelector('th').removeAttribute('scope')"),
]


@case("the rules find what breaks them")
def rules_find(trial):
    for rule, change in BROKEN:
        trial.open("overview")
        trial.browser.keys("p")
        before = trial.browser.script(AUDIT)
        trial.browser.script(f"const main = document.getElementById('main'); {change}")
        after = [line for line in trial.browser.script(AUDIT) if line not in before]
        check(any(rule in line for line in after), f"{rule} is not found after {change}: {after}")


@case("every screen keeps the rules of WCAG 2.2 AA that can be computed, in light and in dark")
def rules(trial):
    found = []
    for scheme in "light", "dark":
        with emulated(trial, prefers_color_scheme=scheme):
            for view in views(trial):
                found += [f"{view}, {scheme}: {line}" for line in trial.browser.script(AUDIT)]
    check(not found, "\n".join(found))


@case("every control has a role and a name")
def names(trial):
    found = []
    for view in views(trial):
        # What is behind a dialog has no role.
        for control in trial.browser.all("dialog:modal " + CONTROLS) or trial.browser.all(CONTROLS):
            with contextlib.suppress(WebDriverException):  # what has just been replaced
                if trial.browser.script(SHOWN, control) and (control.aria_role in ("none", "generic", "") or not control.accessible_name.strip()):
                    found.append(f"{view}: {control.get_property('outerHTML')[:160]} is {control.aria_role!r} {control.accessible_name!r}")
    check(not found, "\n".join(found))


@case("Tab comes to every control of every screen, and the focus is always seen")
def focus(trial):
    browser = trial.browser
    found = []
    for view in views(trial):
        browser.keys("p")
        browser.script("window.passed = new Set(); document.activeElement.blur(); scrollTo(0, 0)")
        for _ in range(400):
            browser.keys("Tab")
            at = browser.script(FOCUS)
            if at is None:
                continue
            isNew, isSeen, isOnTop, text = at
            if not isNew:
                break
            found += [f"{view}: {text} {fault}" for fault, isWrong in
                      [("shows no focus", not isSeen), ("is covered while it has the focus", not isOnTop)] if isWrong]
        missed = browser.script(MISSED)
        found += [f"{view}: Tab does not come to {text}" for text in missed]
    check(not found, "\n".join(found))


@case("nothing is lost at 320 px, nor at 400 % of a window of 1280: no screen is scrolled sideways")
def narrow(trial):
    found = []
    for width, height, scale in (320, 800, 1), (320, 256, 4):
        with emulated(trial, width, height, scale):
            for view in views(trial):
                wide = trial.browser.script(
                    "const most = document.documentElement.clientWidth; if (document.documentElement.scrollWidth <= most) return [];"
                    "return [...document.querySelectorAll('body *')].filter((node) => node.getBoundingClientRect().right > most + 1)"
                    ".slice(0, 3).map((node) => node.outerHTML.slice(0, 160))")
                found += [f"{view} at {width} px: {text}" for text in wide]
    check(not found, "\n".join(found))


@case("who wants less motion sees none")
def motion(trial):
    with emulated(trial, prefers_reduced_motion="reduce"):
        for view in views(trial):
            equal(trial.browser.script(MOVING), [], f"what moves on {view}")


@case("times are local, with UTC on hover")
def times(trial):
    trial.open("requests")
    found = trial.browser.script(
        "return [...document.querySelectorAll('main time')].map((node) => [node.textContent, node.title, node.dateTime])")
    check(found, "there are no times")
    for text, title, moment in found:
        check("UTC" in title or title.endswith("Z"), f"{text} ({moment}) has the title {title!r}")


@case("nothing comes from elsewhere")
def own_files(trial):
    for place in trial.places():
        trial.open(place)
        origins = set(trial.browser.script("return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).origin)"))
        equal(origins, {trial.way.base}, f"origins of what #/{place} loads")


@case("pictures of every screen, in light and in dark, wide and narrow")
def pictures(trial):
    if not trial.shots:
        return "left out: --shots names no folder"
    trial.shots.mkdir(parents=True, exist_ok=True)
    count = 0
    for scheme in "light", "dark":
        for width in 1280, 390:
            with emulated(trial, width, 900 if width > 400 else 844, prefers_color_scheme=scheme):
                for view in views(trial):
                    wait(lambda: trial.shown("[data-age]").startswith("live"), "the page is live")
                    name = view.split("/")[0] + ("-one" if "/" in view else "")
                    trial.browser.screenshot(trial.shots / f"{name}-{scheme}-{width}.png", whole=view not in ("help", "plan"))
                    count += 1
    return f"{count} in {trial.shots}"


@case("first paint within 0.5 s, all of a screen within 1 s, and live at a twentieth of a processor")
def figures(trial):
    """Printed, and judged generously: other work of this machine is in them."""
    browser = trial.browser
    paints, screens = [], []
    for place in ["overview", "failures", "requests"] * 3:
        trial.open(place)
        paint, now = browser.script("return ['first-contentful-paint', 'ready'].map((name) => performance.getEntriesByName(name)[0].startTime)")
        paints.append(paint)
        screens.append(now)
    trial.open("overview")
    browser.cdp("Performance.enable")
    with trial.traffic():
        trial.pass_events(3)
        begun = metrics(browser)
        trial.pass_events(15)
        ended = metrics(browser)
    browser.cdp("Performance.disable")
    busy = (ended["TaskDuration"] - begun["TaskDuration"]) / (ended["Timestamp"] - begun["Timestamp"])
    said = (f"first paint {median(paints):.0f} ms, screen complete {median(screens):.0f} ms, "
            f"main thread {100 * busy:.1f} % while live, heap {ended['JSHeapUsedSize'] / 1e6:.1f} MB")
    check(median(paints) <= 5000 and median(screens) <= 10000 and busy <= 0.5, said)
    return said


def metrics(browser):
    return {one["name"]: one["value"] for one in browser.cdp("Performance.getMetrics")["metrics"]}


def median(values):
    return sorted(values)[len(values) // 2]
