#!/usr/bin/env python3
"""A service that publishes orders, and hears what became of each: by the feed, and by callbacks. It may be killed and started again at any time:
it keeps what it has heard in the file `heard`, and then the place of the feed behind that in the file `cursor`.

    GATEWAY=http://127.0.0.1:8080 PUBLISH_KEY=… SECRET=whsec_… PORT=9000 orders.py COUNT
"""
import base64, hashlib, hmac, http.server, json, os, sys, threading, time, urllib.error, urllib.request

GATEWAY, KEY, COUNT = os.environ["GATEWAY"], os.environ["PUBLISH_KEY"], int(sys.argv[1])
SECRET = base64.b64decode(os.environ["SECRET"].removeprefix("whsec_"))
heard = {"feed": set(), "callback": set()}  # orders: a result may come again
journal = open("heard", "a+")
journal.seek(0)
for line in journal:
    way, order = line.split()
    heard[way].add(order)


def call(path, body=None, **headers):
    """Calls until there is an answer that counts. Time-outs, 429, 5xx and lost connections are tried again, under the same key."""
    while True:
        request = urllib.request.Request(GATEWAY + path, body, {"Authorization": f"Bearer {KEY}", **headers})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            if problem.code not in (409, 429, 500, 502, 503, 504):
                raise SystemExit(f"{path}: {problem.code} {problem.read().decode()}")
            time.sleep(float(problem.headers.get("Retry-After") or 1))
        except OSError:  # no connection, or no answer in time
            time.sleep(1)


def publish(first, orders):
    return call("/v1/requests:batch", json.dumps({"requests": orders}).encode(), **{
        "Content-Type": "application/json", "Idempotency-Key": f"orders-{first}"})["items"]


def note(way, result):
    if result["kind"] == "final" and result["state"] != "duplicate":  # of an order that was published again after all
        heard[way].add(result["request_id"])
        journal.write(f"{way} {result['request_id']}\n")
        journal.flush()
        print(way, result["request_id"], result["result_id"], result["state"], flush=True)


def keep(cursor):
    with open("cursor.new", "w") as file:
        file.write(cursor)
    os.replace("cursor.new", "cursor")


def follow(cursor):
    """Reads the feed from a cursor on."""
    while True:
        page = call(f"/v1/results?after={cursor}&wait=20&limit=500")
        for result in page["results"]:
            note("feed", result)
        cursor = page["cursor"]
        keep(cursor)


class Callback(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name, moment = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        wanted = "v1," + base64.b64encode(hmac.digest(SECRET, f"{name}.{moment}.".encode() + body, hashlib.sha256)).decode()
        is_right = any(hmac.compare_digest(wanted, one) for one in self.headers["webhook-signature"].split())
        if is_right and abs(time.time() - int(moment)) < 300:
            note("callback", json.loads(body))
        self.send_response(204 if is_right else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Callback)
threading.Thread(target=server.serve_forever, daemon=True).start()
if not os.path.exists("cursor"):
    keep(call("/v1/results")["cursor"])  # from before the first order
threading.Thread(target=follow, args=[open("cursor").read()], daemon=True).start()
for first in range(0, COUNT, 100):
    orders = [{"id": f"order-{number}", "audience": {"users": [f"user-{number % 100}"]}, "message": {"title": "Shipped"}}
              for number in range(first, min(first + 100, COUNT))]
    items = publish(first, orders)
    while any(item["status"] in (503, 504) for item in items):
        time.sleep(1)
        items = publish(first, orders)  # the same batch under the same key: what was written is not sent twice
    if refused := [item for item in items if item["status"] != 202]:
        raise SystemExit(f"not published: {refused[:3]}")
while min(len(found) for found in heard.values()) < COUNT:
    time.sleep(0.5)
