"""The claims of a test script: each is told as soon as it is tried, and those that do not hold are counted."""

import time

from script import NAME

# Seconds. Nothing takes nearly as long.
FAR = 120
TOLD = 40  # lines of what was said
begun = time.monotonic()
tried = failed = skipped = 0


class Skip(Exception):
    """Why something cannot be tried here."""


def check(claim, holds, *said):
    """Tells a claim, and, where it does not hold, the end of each text that says why. Returns whether it holds."""
    global tried, failed
    tried += 1
    print(f"{time.monotonic() - begun:6.1f} s  {'ok    ' if holds else 'FAILED'}  {claim}", flush=True)
    if not holds:
        failed += 1
        for text in said:
            print("".join(f"                | {line}\n" for line in str(text).splitlines()[-TOLD:]), end="", flush=True)
    return bool(holds)


def attempt(claim, steps):
    """Tells a claim, which holds if `steps` neither finds a fault nor raises one. Returns whether it does; None where Skip is raised."""
    global skipped
    try:
        found = list(steps() or ())
    except Skip as reason:
        skipped += 1
        print(f"SKIPPED  {claim}: {reason}", flush=True)
        return None
    except Exception as error:  # noqa: BLE001 whatever it is, the other claims are tried
        found = [error if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"]
    return check(claim, not found, *found)


def until(condition, what=None, limit=FAR, pause=0.05):
    """Asks again and again. Returns what a condition gives once that is true; when time is over, what it gave last, or, with a name of what
    is waited for (a text, or a function that gives it), raises an AssertionError."""
    end = time.monotonic() + limit
    while not (found := condition()):
        if time.monotonic() > end:
            if what is None:
                return found
            raise AssertionError(f"not within {limit} s: {what() if callable(what) else what}")
        time.sleep(pause)
    return found


def conclude():
    """Tells the sum. Returns the exit status."""
    left_out = f", {skipped} skipped" if skipped else ""
    print(f"{NAME}: {tried} claims, {failed} failed{left_out}, {time.monotonic() - begun:.0f} s", flush=True)
    return 1 if failed else 0


def self_test(rows):
    """Shows that each check finds its fault. A row is a name of what is wrong, the faults that were found in it, and a text that one of
    them must have, "" for any; None where none may be found. Damage may be done where rows are yielded. Returns the exit status."""
    count = missed = 0
    for case, found, expected in rows:
        count, found = count + 1, [str(fault) for fault in found]
        if found if expected is None else not any(expected in fault for fault in found):
            missed += 1
            print(f"{NAME} --self-test: {case}: expected {'no fault' if expected is None else repr(expected)}, found {found}", flush=True)
    print(f"{NAME} --self-test: {count} cases, {missed} failures", flush=True)
    return 1 if missed else 0


def difference(found, expected):
    """One fault, where something else was found than expected. With None it is a row of a self-test."""
    return [] if found == expected else [f"expected {expected!r}, found {found!r}"]
