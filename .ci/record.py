"""Numbers of the sources that may only fall. A file has those that were written down last; where one must rise, it is changed by hand."""

import json
import pathlib


def risen(counted, recorded):
    """The faults: numbers that are higher, and those that were never written down."""
    for name, now in counted.items():
        if name not in recorded:
            yield f"{name}: {now}, and no number is recorded"
        elif now > recorded[name]:
            yield f"{name}: {now}, {recorded[name]} recorded; it may only fall"


def fallen(counted, recorded):
    """The numbers that wait for being written down."""
    for name, now in counted.items():
        if now < recorded.get(name, now):
            yield f"{name}: {now}, {recorded[name]} recorded; write it down with --update"


def lower(counted, recorded):
    return {name: min(now, recorded.get(name, now)) for name, now in counted.items()}


class Record:
    """The file beside this one."""

    def __init__(self, name):
        self.path = pathlib.Path(__file__).with_name(name)
        self.numbers = json.loads(self.path.read_text()) if self.path.exists() else {}

    def update(self, counted):
        """Writes lower numbers down."""
        self.numbers = lower(counted, self.numbers)
        self.path.write_text(json.dumps(self.numbers, indent=2) + "\n")


def rows(difference):
    """Of a self-test: what is said of 5 beside other numbers, and what would be written down."""
    for before, rising, falling, written in ((5, 0, 0, 5), (4, 1, 0, 4), (6, 0, 1, 5), (None, 1, 0, 5)):
        recorded = {"a": before} if before else {}
        found = len(list(risen({"a": 5}, recorded))), len(list(fallen({"a": 5}, recorded))), lower({"a": 5}, recorded)["a"]
        yield f"5 beside {before} recorded", difference(found, (rising, falling, written)), None
