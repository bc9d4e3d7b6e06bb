"""Cases of sentences: each is true of the figures that it is made from, whatever they are."""

import re

from browser import wait
from trial import case, check

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
