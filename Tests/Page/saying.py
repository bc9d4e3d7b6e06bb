"""Cases of sentences: each is true of the figures that it is made from, whatever they are."""

import pathlib
import re

from browser import wait
from trial import case, check, equal

# What an exported function of a file of the page makes of its arguments.
MADE = "return import(new URL(`ui/${arguments[0]}`, location.href)).then((file) => file[arguments[1]](...arguments.slice(2)))"


def worker(**members):
    return {"id": "w", "age_ms": 100, "loops": []} | members


def fleet(**members):
    return {"workers": [worker()], "hubs": [], "finished_per_second": 0, "sent_per_second": 0} | members


OUT = [{"hub": "south", "circuit": "open"}, {"hub": "north", "circuit": "closed"}]
RESTS = {"requests": 0, "oldest_ms": 0, "reasons": []}
# Of each the fleet, the backlog, what is to be said, and what is not.
VERDICTS = [
    (fleet(hubs=OUT, finished_per_second=40, sent_per_second=30), RESTS, r"the rest moves: 30\.0 sent a second", r"40"),
    (fleet(hubs=OUT, finished_per_second=40), RESTS, r"Hub south is out; nothing is sent", r"moves|40"),
    (fleet(finished_per_second=40, sent_per_second=0), RESTS, r"40\.0 finished a second, 0\.0 of them sent", None),
    (fleet(finished_per_second=40, sent_per_second=40), RESTS, r"Moving: 40\.0 finished a second, nothing waits", r"of them"),
    (fleet(), RESTS, r"Idle: nothing waits", None),
]


@case("the overview's sentence counts what was sent as moving, and not what failed")
def verdicts(trial):
    trial.open("overview")
    for seen, backlog, said, unsaid in VERDICTS:
        text = trial.browser.script(MADE, "overview.js", "verdict", {"state": "live", "fleet": seen, "backlog": backlog})["text"]
        check(re.search(said, text), f"{text!r} does not say {said!r}")
        check(not unsaid or not re.search(unsaid, text), f"{text!r} says {unsaid!r}")


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


PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/PushFan/PushFan.docc"
# Of each a replay, the words of what it has left, and their numbers.
LEFT = [
    ({"state": "planned", "left": {"gone": 2}, "requests": 5, "next": 0, "skipped": 0}, {"not run so far": 5, "no longer in Kafka": 2}),
    ({"state": "stopped", "left": {"gone": 2}, "left_by_run": {"gone": 1, "ambiguous": 3}, "requests": 9, "next": 6, "skipped": 4},
     {"no longer in Kafka": 3, "may have arrived": 3, "stopped before it": 3}),
    ({"state": "running", "left": {}, "left_by_run": {"expired": 1}, "requests": 9, "next": 8, "skipped": 3},
     {"expired": 1, "a moment ago": 2, "turn has not come": 1}),
    ({"state": "done", "left": {"newer_word": 7}, "requests": 1, "next": 1, "skipped": 0}, {"newer_word": 7}),
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
    found = trial.browser.script(MADE, "replays.js", "leftLines", {"state": "done", "left": left, "requests": 0, "next": 0, "skipped": 0})
    said = {why for _, why in found}
    check(len(words) > 10 and len(said) == len(words), f"{words} are {said}")
    check(not any("_" in why for why in said), f"a reason is without words: {said}")
