#!/usr/bin/env python3
"""A service that publishes orders, and hears what became of each: by the feed, and by callbacks. It may be killed and started again at any time:
it keeps what it has heard in the file `heard`, and then the place of the feed behind that in the file `cursor`. The client is
Deploy/clients/python/pushfan.py, which is to be beside it or on PYTHONPATH.

    GATEWAY=http://127.0.0.1:8080 PUBLISH_KEY=… SECRET=whsec_… PORT=9000 orders.py COUNT
"""
import base64, hashlib, hmac, http.server, json, os, sys, threading, time
from pushfan import Pushfan

COUNT, SECRET = int(sys.argv[1]), base64.b64decode(os.environ["SECRET"].removeprefix("whsec_"))
client = Pushfan(os.environ["GATEWAY"], os.environ["PUBLISH_KEY"], patience=float("inf"))
heard = {"feed": set(), "callback": set()}  # orders: a result may come again
journal = open("heard", "a+")
journal.seek(0)
for line in journal:
    way, order = line.split()
    heard[way].add(order)


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
    for results, cursor in client.results(cursor, limit=500):
        for result in results:
            note("feed", result)
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
    keep(next(client.results())[1])  # from before the first order
threading.Thread(target=follow, args=[open("cursor").read()], daemon=True).start()
for first in range(0, COUNT, 100):
    orders = [{"id": f"order-{number}", "audience": {"users": [f"user-{number % 100}"]}, "message": {"title": "Shipped"}}
              for number in range(first, min(first + 100, COUNT))]
    items = client.publish_batch(orders, f"orders-{first}")
    if refused := [item for item in items if item["status"] != 202]:
        raise SystemExit(f"not published: {refused[:3]}")
while min(len(found) for found in heard.values()) < COUNT:
    time.sleep(0.5)
