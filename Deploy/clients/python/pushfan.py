"""Publishes requests by a gateway of pushfan, and hears what became of them. One file without dependencies, for Python 3.9 and later.

    client = Pushfan("http://127.0.0.1:8080", os.environ["PUBLISH_KEY"])
    client.publish({"audience": {"users": ["alice"]}, "message": {"title": "Shipped"}}, "order-4711", wait=30)

No proxy of the environment is used and no redirect is followed, so that the key goes to the gateway alone."""
from __future__ import annotations

import contextlib, hashlib, http.client, json, os, random, re, socket, ssl, threading, time, urllib.parse, uuid
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

JSON = Dict[str, Any]
LARGEST = 64 << 20  # bytes of an answer
UNCERTAIN = {408, 409, 425, 429, 500, 502, 503, 504}  # statuses after which a call is made again where the answer does not say `retry`


class Problem(Exception):
    """Why a call came to no end: a refusal, or the last of its failures when its time was over. `status` is 0 where there was no answer,
    `body` the whole answer. Unless `retry` is "never", the call may be made again later, under the same key."""

    def __init__(self, status: int, body: JSON) -> None:
        self.status, self.body, self.code = status, body, str(body.get("code") or f"http_{status}")
        self.retry = str(body.get("retry") or ("same_key" if status in UNCERTAIN else "never"))
        self.detail, self.errors = str(body.get("detail") or body.get("title") or ""), body.get("errors") or []
        super().__init__(f"{status} {self.code}: {self.detail} {self.errors or ''}".strip())


class Pushfan:
    """A gateway at an address, called with a key. Threads may share it: each has a connection of its own, which is kept for its next call.
    A call has `timeout` seconds for its answer. After a failure that may pass it is made again with the same Idempotency-Key, at the time
    that `Retry-After` says or after 1 s, 2 s and so on up to 30 s, as long as that is within `patience` seconds. Then, and at once where
    `retry` is "never", it raises a Problem. `context` is for a gateway whose certificate the system does not know."""

    def __init__(self, base: str, key: str, timeout: float = 30, patience: float = 300, context: Optional[ssl.SSLContext] = None) -> None:
        address, key = urllib.parse.urlsplit(base), key.strip()
        if address.scheme not in ("http", "https") or not address.hostname or re.search("[^!-~]|[@?#]", base):
            raise ValueError("base is no address such as https://gateway.example:8080")
        if not re.fullmatch("[!-~]+", key):
            raise ValueError("key is empty or has a character that no key has")  # without the key itself
        self.timeout, self.patience, self._own, self._prefix = timeout, patience, threading.local(), address.path.rstrip("/")
        host, port, secure = address.hostname, address.port, (context or ssl.create_default_context()) if address.scheme == "https" else None
        self._open: Callable[[], http.client.HTTPConnection] = lambda: (
            http.client.HTTPSConnection(host, port, timeout=timeout, context=secure) if secure else http.client.HTTPConnection(host, port, timeout=timeout))
        self._fields = {"Authorization": f"Bearer {key}", "Accept": "application/json", "Content-Type": "application/json"}

    def publish(self, request: Mapping[str, Any], idempotency_key: Optional[str] = None, wait: float = 0) -> JSON:
        """Publishes a request, once however often it is called with this key. Returns `id`, `state`, `location` and more. With `wait` there
        is `result`, too, unless none came within so many seconds."""
        end, asked = time.monotonic() + wait, int(min(wait, 30))
        fields = {"Idempotency-Key": idempotency_key or str(uuid.uuid4()), **({"Prefer": f"wait={asked}"} if asked else {})}
        answer, headers = self._call("POST", "/v1/requests", {"id": str}, request, fields, asked)
        answer["location"] = headers.get("Location") or ""
        if wait >= 1 and "result" not in answer:
            with contextlib.suppress(Problem):  # It is published, whatever becomes of the wait.
                answer.update(self.wait(answer, end - time.monotonic()))
        return answer

    def publish_batch(self, requests: Sequence[Mapping[str, Any]], idempotency_key: Optional[str] = None) -> List[JSON]:
        """Publishes up to 1,000 requests, and repeats those alone that Kafka did not take. Returns what was last said of each, in their order:
        `status` 202 where it is published, else `code`, `detail` and `retry`. Where nothing was said of any it raises a Problem. One without
        an `id` gets it from the key and its place."""
        key, end = idempotency_key or str(uuid.uuid4()), time.monotonic() + self.patience
        made = [{"id": "k" + hashlib.sha256(f"{key}/{n}".encode()).hexdigest()[:32], **one} for n, one in enumerate(requests)]
        found: List[JSON] = [{"index": n, "status": 0, "code": "no_answer", "retry": "same_key"} for n in range(len(made))]
        left, fields = list(range(len(made))), {"Idempotency-Key": key}
        while left and (fields or time.monotonic() < end):
            try:
                body, _ = self._call("POST", "/v1/requests:batch", {"items": list}, {"requests": [made[n] for n in left]}, fields, end=end)
            except Problem as problem:
                if not isinstance(problem.body.get("items"), list):  # else each has a verdict of its own
                    if fields:
                        raise
                    break
                body = problem.body
            for n, item in zip(left, body["items"]):
                found[n] = {**item, "index": n} if isinstance(item, dict) else found[n]
            left, fields = [n for n in left if found[n].get("retry", "never") != "never"], {}  # the same, as their ids say
            time.sleep(1 if left else 0)
        return found

    def wait(self, request: Union[str, Mapping[str, Any]], seconds: float = 60, outcome: bool = False) -> JSON:
        """The state of a request when it has a `result`, with `outcome` when its outcome is known, or when time is over. It is given by its
        id, or by what `publish` or a batch returned of it: then every gateway finds it at once."""
        name, path = (request, "") if isinstance(request, str) else (str(request["id"]), str(request.get("location") or ""))
        path = path or "/v1/requests/" + ("~" if name in (".", "..") else "") + urllib.parse.quote(name, safe="")
        end, more = time.monotonic() + seconds, "&until=outcome" if outcome else ""
        while True:
            asked = max(int(min(end - time.monotonic(), 30)), 0)
            state, _ = self._call("GET", f"{path}{'&' if '?' in path else '?'}wait={asked}{more}", {"state": str}, wait=asked, end=end)
            if "result" in state and not (outcome and state.get("outcome_state") == "awaited") or time.monotonic() + 1 > end:
                return state
            time.sleep(1)

    def results(self, cursor: Optional[str] = None, wait: int = 20, since: str = "", **query: Any) -> Iterator[Tuple[List[JSON], str]]:
        """The feed from a cursor on, without end: results, oldest first, with the cursor to keep once they are handled. After `wait` seconds
        without any there are none. With neither cursor nor `since` that is so at once: it begins now. `query` is limit, kinds, source or
        filter. A result may come again, with the same `result_id`. A Problem of status 410 has the cursor of what is left in `body["first"]`."""
        while True:
            place = {"after": cursor, "wait": wait} if cursor else {"since": since} if since else {}
            page, _ = self._call("GET", "/v1/results?" + urllib.parse.urlencode({**query, **place}), {"results": list, "cursor": str}, wait=wait)
            yield page["results"], (cursor := page["cursor"])

    def _call(self, method: str, path: str, needed: Dict[str, type], body: Optional[Mapping[str, Any]] = None,
              fields: Optional[Dict[str, str]] = None, wait: float = 0, end: Optional[float] = None) -> Tuple[JSON, Mapping[str, str]]:
        """Makes a call until it is certain what became of it: until a refusal, or an answer with the members that are needed."""
        data, pause, end = None if body is None else json.dumps(body).encode(), 0.5, end or time.monotonic() + self.patience
        while True:
            is_kept, after, pause = str(os.getpid()) in self._own.__dict__, "", min(2 * pause, 30)
            try:
                status, headers, answer = self._exchange(method, path, data, fields or {}, self.timeout + wait)
                if 200 <= status < 300:
                    if all(isinstance(answer.get(name), kind) for name, kind in needed.items()):
                        return answer, headers
                    answer = {"code": "bad_answer", "retry": "same_key", "detail": "This is no answer of a gateway."}
                problem, is_kept, after = Problem(status, answer), False, headers.get("Retry-After") or ""
            except (OSError, http.client.HTTPException) as lost:
                retry = "never" if isinstance(lost, ssl.SSLCertVerificationError) else "same_key"
                problem = Problem(0, {"code": "no_answer", "retry": retry, "detail": repr(lost)})
            # What was kept may have been closed meanwhile. So it is tried at once on a new connection.
            delay = 0 if is_kept else max(float(after), 0.1) if after.isdecimal() else pause * random.uniform(0.5, 1)
            if problem.retry == "never" or time.monotonic() + delay > end:
                raise problem
            time.sleep(delay)

    def _exchange(self, method: str, path: str, data: Optional[bytes], fields: Dict[str, str], seconds: float) -> Tuple[int, Any, JSON]:
        connection = self._own.__dict__.pop(str(os.getpid()), None) or self._open()  # After a fork the other one is the parent's.

        def cut() -> None:  # The time-out of a socket begins again with each byte, and the connection has none behind a `Connection: close`.
            with contextlib.suppress(OSError, TypeError):
                socket.socket.shutdown(sock or connection.sock, socket.SHUT_RDWR)
        cutting, text, said, sock, last = threading.Timer(seconds, cut), bytearray(), None, connection.sock, time.monotonic() + seconds
        cutting.daemon = True
        cutting.start()
        try:
            connection.request(method, self._prefix + path, data, {**self._fields, **fields})
            (sock := connection.sock).settimeout(seconds)
            answer = connection.getresponse()
            while len(text) <= LARGEST and (piece := answer.read(1 << 16)):
                text += piece
            if answer.length or not answer.isclosed() or time.monotonic() > last:
                raise http.client.HTTPException("the answer is cut off, or too large")
        except BaseException:
            connection.close()
            raise
        finally:
            cutting.cancel()
        self._own.__dict__[str(os.getpid())] = connection
        with contextlib.suppress(ValueError, RecursionError):
            said = json.loads(text)
        return answer.status, answer.headers, said if isinstance(said, dict) else {}
