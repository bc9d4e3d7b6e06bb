import json, time, urllib.error, urllib.request

import pytest


def notify(gateway, key, order, user):
    """Stands for your service. It repeats what may be repeated, under the same key."""
    body = {"audience": {"users": [user]}, "message": {"title": f"Order {order} shipped"}}
    call = urllib.request.Request(f"{gateway}/v1/requests", json.dumps(body).encode(), {
        "Authorization": f"Bearer {key}", "Content-Type": "application/json", "Idempotency-Key": f"order-{order}"})
    for _ in range(10):
        wait = 0.1
        try:
            with urllib.request.urlopen(call, timeout=2) as answer:
                return json.load(answer)["id"]
        except urllib.error.HTTPError as problem:
            if problem.code not in (409, 429, 502, 503, 504):
                raise
            wait = float(problem.headers.get("Retry-After") or wait)
        except OSError:  # a lost connection, or no answer in time
            pass
        time.sleep(wait)
    raise RuntimeError(f"order {order} is not published")


@pytest.mark.parametrize("number, fault", list(enumerate([
    "", "status=503,count=2", "status=429,retry-after=1,count=1", "status=504,count=1", "delay=3s,count=1", "reset=after,count=1"])))
def test_a_customer_hears_once_whatever_the_gateway_answers(sandbox, number, fault):
    sandbox.register("alice-phone", "alice", "a1b2c3d4" * 8)
    sandbox.ask("PUT", sandbox.gateway_faults, [fault])
    request = notify(sandbox.gateway, sandbox.key, number, "alice")
    assert sandbox.result(request) == "sent"
    assert sandbox.rings("alice", f"Order {number} shipped") == 1
