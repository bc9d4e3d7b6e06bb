"""Calls by HTTP."""

import json
import re
import typing
import urllib.error
import urllib.parse
import urllib.request

from claims import FAR


class Answer(typing.NamedTuple):
    """Status 0 stands for no answer; the text then says why."""

    status: int
    text: str
    headers: typing.Mapping

    @property
    def json(self):
        return json.loads(self.text)


def ask(address, body=None, method=None, limit=FAR, **headers):
    """The answer to a call: GET, or POST where there is a body (bytes, text, or what becomes JSON). Of a header's name, _ stands for -."""
    if body is not None and not isinstance(body, bytes | str):
        body, headers = json.dumps(body), {"Content-Type": "application/json"} | headers
    call = urllib.request.Request(
        address, body.encode() if isinstance(body, str) else body, {name.replace("_", "-"): value for name, value in headers.items()},
        method=method)
    try:
        with urllib.request.urlopen(call, timeout=limit) as answer:
            return Answer(answer.status, answer.read().decode(errors="replace"), answer.headers)
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read().decode(errors="replace"), error.headers)
    except OSError as error:
        return Answer(0, str(error), {})


def ask_all(address):
    """The entries of a list of the emulator, of all its pages."""
    entries = []
    while address:
        answer = ask(address)
        entries += answer.json
        link = re.match(r'<([^>]+)>; rel="next"', answer.headers.get("Link", ""))
        address = link and urllib.parse.urljoin(address, link[1])
    return entries
