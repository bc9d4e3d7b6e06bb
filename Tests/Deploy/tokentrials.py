"""Users who sign in by the tokens of an issuer: good ones, hostile ones, keys that change, and an issuer that is away."""

import base64
import hashlib
import hmac
import json
import time

from claims import FAR, check, until
from devicestage import AUDIENCE, ISSUER, API, KeyServer, SigningKey, encoded
from programs import Program
from web import ask

SEEN = "f" * 64
STRANGE_KEYS = {"an address of keys in the head", "an address of a certificate", "a kid with a path"}
REFUSED_PATHS = "/v1/requests", "/v1/results", "/v1/status", "/v1/users/dora/installations"


def bearer(base, token):
    return API(base, f"Bearer {token}")


def statuses(base, token, name="doras-phone"):
    """What a token gets at both doors."""
    caller = bearer(base, token)
    return caller.get(name).status, caller.ask("/api/register?handle=" + SEEN, b"", "POST").status


def by_secret(secret):
    return lambda data: hmac.digest(secret, data, hashlib.sha256)


def tampered(token, **claims):
    head, body, signature = token.split(".")
    said = json.loads(base64.urlsafe_b64decode(body + "=="))
    return f"{head}.{encoded(said | claims)}.{signature}"


def hostile(rsa, curve, stranger, attacker):
    """Tokens that are none, by what is wrong with them."""
    now, good = int(time.time()), rsa.token()
    head, body, signature = good.split(".")
    found = {f"alg {word}": rsa.token({"alg": word}, sign=lambda _: b"") for word in ("none", "None", "NONE", "nOnE", "")}
    found["no signature"] = f"{head}.{body}."
    found["two parts"] = f"{head}.{body}"
    found["no alg"] = rsa.token({"alg": None})
    for name, secret in {"PEM": rsa.public, "modulus": rsa.modulus, "JWK": json.dumps(rsa.jwk).encode(), "nothing": b""}.items():
        found[f"HS256 by the public key's {name}"] = rsa.token({"alg": "HS256"}, sign=by_secret(secret))
    found["RS256 said of ES256"] = rsa.token({"alg": "ES256"})
    found["ES256 said of RS256"] = curve.token({"alg": "RS256"})
    found["the kid of the other key"] = rsa.token({"kid": curve.kid})
    found["RS512"] = rsa.token({"alg": "RS512"})
    found["a stranger's key under a known kid"] = stranger.token({"kid": rsa.kid})
    found["a key in the head"] = stranger.token({"jwk": stranger.jwk, "kid": None})
    found["an address of keys in the head"] = stranger.token({"jku": attacker.address, "kid": "theirs"})
    found["an address of a certificate"] = stranger.token({"x5u": attacker.address, "kid": "theirs"})
    found["a kid with a path"] = stranger.token({"kid": "../../../../dev/null"})
    found["crit"] = rsa.token({"crit": ["exp"]})
    found["b64 false"] = rsa.token({"b64": False, "crit": ["b64"]})
    for name, claims in {
        "another issuer": {"iss": "https://evil.example/"}, "no issuer": {"iss": None}, "the issuer in capitals": {"iss": ISSUER.upper()},
        "an issuer that begins so": {"iss": ISSUER + "x"}, "another audience": {"aud": "shop"}, "no audience": {"aud": None}, "other audiences": {"aud": ["shop", "x"]},
        "an end that is over": {"exp": now - 120}, "no end": {"exp": None}, "an end as text": {"exp": str(now + 600)}, "a negative end": {"exp": -1},
        "true as its end": {"exp": True}, "a beginning to come": {"nbf": now + 600}, "made in the future": {"iat": now + 600}, "no user": {"sub": None},
        "an empty user": {"sub": ""}, "a user that is a number": {"sub": 7}, "a user with NUL": {"sub": "do\0ra"}, "a list of users": {"sub": ["dora"]},
    }.items():
        found[name] = rsa.token(**claims)
    found["an end beyond numbers"] = f'{head}.{encoded(json.dumps({"iss": ISSUER, "aud": AUDIENCE, "sub": "dora"})[:-1] + ", " + chr(34) + "exp" + chr(34) + ": 1e400}")}.{signature}'
    found["another user under its signature"] = tampered(good, sub="alice")
    found["a later end under its signature"] = tampered(good, exp=now + 10_000)
    found["a signature of DER"] = curve.token(sign=lambda data: curve.sign(data, keeps_form=True))
    found["a signature of zeros"] = curve.token(sign=lambda _: bytes(64))
    found["a signature that is cut"] = curve.token(sign=lambda data: curve.sign(data)[:63])
    found["a signature of RSA that is cut"] = rsa.token(sign=lambda data: rsa.sign(data)[:-1])
    found["a signature with more behind it"] = rsa.token(sign=lambda data: rsa.sign(data) + b"x")
    found["no Base64"] = f"{head}.{body}.{signature[:-2]}!!"
    found["padding"] = f"{head}==.{body}.{signature}"
    found["no JSON"] = f"{encoded(b'nonsense')}.{encoded(b'nonsense')}.{signature}"
    found["deep JSON"] = f"{encoded(b'[' * 3000)}.{body}.{signature}"
    found["no UTF-8"] = f"{encoded(bytes(range(128, 256)))}.{body}.{signature}"
    found["dots"] = "." * 5000
    found["a token within a token"] = rsa.token({"cty": "JWT"}, sub=good)
    return found


def test_good(at, base, rsa, curve, town):
    for number, key in enumerate((rsa, curve)):
        name = f"doras-{key.algorithm}"
        answer = bearer(base, key.token()).put(name, platform="apns", handle=f"{0xDA + number:064x}", tags=["World"])
        check(f"a token by {key.algorithm} registers its user's device", answer.status == 200 and answer.json["user"] == "dora"
              and town.installation(name)["userId"] == "dora", answer)
    dora = bearer(base, rsa.token())
    name = dora.ask(f"/api/register?handle={SEEN}", b"", "POST")
    answer = dora.ask(f"/api/register/{name.json}", {"Platform": "apns", "Handle": SEEN}, "PUT")
    check("a token signs in on /api", name.status == 200 and answer.status == 200, name, answer)
    answer = dora.get("doras-RS256")
    check("handles are hidden without their scope", answer.status == 200 and "handle" not in answer.json, answer)
    answer = bearer(base, rsa.token(scope="register register:handles unheard-of")).get("doras-RS256")
    check("and shown with it, whatever other words there are", answer.status == 200 and answer.json.get("handle"), answer)
    check("scopes may be a list", statuses(base, rsa.token(scope=["register"]), "doras-RS256")[0] == 200)
    for scope in "publish", "", "Register", "register:handles":
        answer = bearer(base, rsa.token(scope=scope)).get("doras-RS256")
        check(f"the scopes {scope!r} allow no devices", answer.status == 403 and answer.json["code"] == "forbidden_scope", answer)
    answer = bearer(base, rsa.token(scope="register")).ask("/api/notifications", '"Hi"', Content_Type="application/json")
    check("nor those of devices a send", answer.status == 403 and answer.json["code"] == "forbidden_scope", answer)
    other = bearer(base, rsa.token(sub="emil"))
    check("another user's device is 404", other.get("doras-RS256").status == 404)
    check("one of the audiences is enough", statuses(base, rsa.token(aud=["x", AUDIENCE]), "doras-RS256")[0] == 200)
    check("clocks may differ by a little", statuses(base, rsa.token(exp=int(time.time()) - 30), "doras-RS256")[0] == 200)
    strange = bearer(base, rsa.token(sub="auth0|Jürgen Ö/1"))
    answer = strange.put("strange", platform="apns", handle="e" * 64)
    check("a user may have any name", answer.status == 200 and strange.get("strange").status == 200 and dora.get("strange").status == 404, answer)
    for path in REFUSED_PATHS:
        answer = dora.ask(path, *([{"audience": {"users": ["a"]}, "message": {"title": "t"}}] if path == "/v1/requests" else []))
        check(f"a token is no key for {path}", answer.status in (401, 403), answer)
    check("a key is no token for /api", at.ask("/api/register?handle=" + SEEN, b"", "POST").status == 401)
    check("passwords are taken beside tokens", town.user(base, "alice").ask(f"/api/register?handle={SEEN}", b"", "POST").status == 200)


def test_hostile(base, rsa, curve, stranger):
    with KeyServer(stranger) as attacker:
        for claim, token in hostile(rsa, curve, stranger, attacker).items():
            found = statuses(base, token, "doras-RS256")
            # A key that is not known may have been made a moment ago.
            allowed = (401, 503) if claim in STRANGE_KEYS else (401,)
            check(f"a token with {claim} is refused", set(found) <= set(allowed), found)
        check("an address in a token is not called", attacker.count == 0, attacker.count)
    for size in 20_000, 1 << 20:
        found = bearer(base, rsa.token(more="x" * size)).get("doras-RS256").status
        check(f"a token of {size} bytes is refused", found in (0, 400, 401, 431), found)
    answer = bearer(base, rsa.token(exp=1)).get("doras-RS256")
    challenges = answer.headers.get_all("WWW-Authenticate") or []
    check("a challenge says that the token is none", any("Bearer" in one and "invalid_token" in one for one in challenges), challenges)
    answer = ask(f"{base}/v1/installations/doras-RS256")
    challenges = answer.headers.get_all("WWW-Authenticate") or []
    check("without one both ways are named", answer.status == 401 and any("Basic" in one for one in challenges)
          and any("Bearer" in one for one in challenges), challenges)
    check("good tokens are taken all the while", statuses(base, rsa.token(), "doras-RS256")[0] == 200)


def test_rotation(stage, base, folder, server, rsa, curve):
    new = SigningKey(folder, "new-1")
    server.answer = (rsa, curve, new)
    status = until(lambda: statuses(base, new.token(), "doras-RS256")[0] == 200, limit=60, pause=0.5)
    check("a new key counts with its first token", status)
    # A token that is newer than the last reading of the keys is not refused for a while, and so this one is old.
    kept = rsa.token(iat=int(time.time()) - 300)
    check("so do the old ones", statuses(base, kept, "doras-RS256")[0] == 200)
    server.answer = (curve, new)
    check("one that is not listed any more stops to count, for tokens that were seen, too",
          until(lambda: statuses(base, kept, "doras-RS256")[0] == 401, limit=60, pause=0.5))
    check("the others go on", statuses(base, new.token(), "doras-RS256")[0] == 200 and statuses(base, curve.token(), "doras-RS256")[0] == 200)
    before = server.count
    for number in range(50):
        statuses(base, new.token({"kid": f"unknown-{number}"}), "doras-RS256")
    check("unknown keys do not make the gateway ask each time", server.count - before <= 10, server.count - before)
    return new


def test_away(stage, base, folder, server, new):
    def held(call):
        call.close_connection = True
        call.server.ended.wait(FAR)
    answers = {
        "a page": b"<html>welcome</html>", "no list": b'{"keys":7}', "two megabytes": b" " * (2 << 20), "no JSON": b"\xff\xfe",
        "500": {"status": 500}, "a redirect": {"status": 302, "Location": "http://127.0.0.1:1/keys"}, "silence": held,
    }
    for claim, answer in answers.items():
        before, server.answer = server.count, answer
        until(lambda before=before: server.count > before or statuses(base, new.token({"kid": "unheard"}), "-") and False, limit=60, pause=0.5)
        found = statuses(base, new.token(), "doras-RS256")[0]
        check(f"an issuer that answers {claim} takes no key away", found == 200 and server.count > before, found)
    ready = f"http://127.0.0.1:{stage.ports['tokens']}/readyz"
    known = new.token(iat=int(time.time()) - 300)
    for claim, answer in {
        "no keys": b'{"keys":[]}',
        "keys that are none": b'{"keys":[{"kty":"RSA","kid":"new-1","n":"AQAB","e":"AQAB"},{"kty":"oct","kid":"new-1","k":"AA"}]}',
    }.items():
        server.answer = answer
        check(f"an issuer that answers {claim} takes all away, and /readyz stays ready and says so",
              until(lambda: statuses(base, known, "doras-RS256")[0] == 401, limit=60, pause=0.5)
              and until(lambda: (said := ask(ready)).status == 200 and "degraded tokens" in said.text, limit=60, pause=0.5), ask(ready))
        server.answer = (new,)
        check(f"and after {claim} they count again", until(lambda: statuses(base, known, "doras-RS256")[0] == 200, limit=60, pause=0.5))
    port = server.server_address[1]
    server.__exit__()
    check("an issuer that is away is told by /readyz, which stays ready",
          until(lambda: (said := ask(ready)).status == 200 and "tokens" in said.text and said.text, limit=60, pause=0.5), ask(ready))
    check("known keys go on", statuses(base, new.token(), "doras-RS256")[0] == 200)
    stage.kill("tokens")
    with_away = stage.ports["tokens api"]
    started = start_unready(stage, new.token())
    check("a gateway that never had a key refuses tokens for now", started == 503, started)
    with KeyServer(new, port=port):
        check("and takes them once the issuer is there",
              until(lambda: statuses(f"http://127.0.0.1:{with_away}", new.token(), "doras-RS256")[0] == 200, limit=120, pause=0.5))


def start_unready(stage, token):
    """Starts the gateway again while it cannot become ready. Returns what a token gets once it listens."""
    port = stage.ports["tokens api"]
    stage.running["tokens"] = Program(
        stage.program, "gateway", "--gateway.listen", f"127.0.0.1:{port}", "--keys-file", stage.folder / "keys", log=stage.folder / "tokens.log",
        folder=stage.folder, environment=stage.environment | {"PUSHFAN_LISTEN": f"127.0.0.1:{stage.ports['tokens']}", "PUSHFAN_WORKER_ID": "tokens"})
    return until(lambda: ask(f"http://127.0.0.1:{port}/v1/installations/x", Authorization=f"Bearer {token}").status or not stage.running["tokens"].runs)


def test_file(town, folder, rsa, curve):
    """Keys from a file that changes."""
    stage, file = town.stage, folder / "keys.json"

    def write(*keys):
        new = folder / "keys.json.new"
        new.write_text(json.dumps({"keys": [key.jwk for key in keys]}))
        new.rename(file)
    write(rsa)
    town.settings["gateway"]["jwt"] = {"issuer": ISSUER, "audience": AUDIENCE, "keys_file": str(file), "scopes_claim": "scope", "refresh": "10s"}
    town.write()
    base = stage.start_gateway("file")
    check("keys may be in a file", statuses(base, rsa.token(), "doras-RS256")[0] == 200)
    made = int(time.time()) - 300
    check("one that it does not have is none", until(lambda: statuses(base, curve.token(iat=made), "doras-RS256")[0] == 401, limit=60, pause=0.5))
    write(curve)
    check("a change of the file counts", until(lambda: statuses(base, curve.token(), "doras-RS256")[0] == 200, limit=60, pause=0.5)
          and until(lambda: statuses(base, rsa.token(iat=made), "doras-RS256")[0] == 401, limit=60, pause=0.5))
    file.write_text("half a fi")
    check("a file that is half written takes no key away", statuses(base, curve.token(), "doras-RS256")[0] == 200)


def test(town):
    stage, folder = town.stage, town.stage.folder
    rsa, curve, stranger = SigningKey(folder, "rsa-1"), SigningKey(folder, "curve-1", "ES256"), SigningKey(folder, "stranger")
    server = KeyServer(rsa, curve)
    jwt = {"issuer": ISSUER, "audience": AUDIENCE, "keys_url": server.address, "scopes_claim": "scope", "refresh": "10s"}
    town.settings["gateway"]["jwt"] = jwt
    town.write()
    base = stage.start_gateway("tokens")
    at = town.key(base, "--scope", "register")
    test_good(at, base, rsa, curve, town)
    test_hostile(base, rsa, curve, stranger)
    new = test_rotation(stage, base, folder, server, rsa, curve)
    test_away(stage, base, folder, server, new)
    test_file(town, folder, rsa, curve)
    token = new.token()
    statuses(base, token)
    check("no token is told", token.rpartition(".")[2] not in stage.said and "eyJ" not in stage.said)
