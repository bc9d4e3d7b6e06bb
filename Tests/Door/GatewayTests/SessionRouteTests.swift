@testable import Page
@testable import OperatorAPI
@testable import GatewayAPI
import DoorStage
import HTTPServing
import Keys
import TestSupport
import Testing

/// People sign in to the page, and its cookie stands in place of their key.
@Suite(.tags(.threads)) struct SessionRouteTests {
    /// The key of an operator.
    private static func operatorKey() throws -> NewKey { try newKey { $0.scopes = [.read, .replay, .publish] } }

    @Test func aRightKeyBeginsASessionThatShowsItself() throws {
        let key = try newKey {
            $0.scopes = [.read, .publish]
            $0.tenant = "acme"
            $0.source = "/shop"
        }
        let stage = try PageStage([key])
        let begun = try stage.askAsPage("POST", "/ui/session", body: #"{"key":"\#(key.text)"}"#)
        let json = """
            {"key":"\(key.key.id)","source":"/shop","tenant":"acme","scopes":["publish","read"],\
            "expires_at":"1970-01-01T08:25:00.000Z","version":"0.1.0"}

            """
        #expect(begun.status == 200 && begun.text == json)
        let cookie = try #require(field("Set-Cookie", of: begun.head))
        #expect(cookie.wholeMatch(of: /pushfan-[0-9]+=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict/) != nil)
        stage.services.clock.advance(seconds: 1000)
        let shown = try stage.askAsPage("GET", "/ui/session", cookie: String(cookie.prefix { $0 != ";" }))
        #expect(shown.status == 200 && shown.text.hasPrefix(#"{"key":"\#(key.key.id)","source":"/shop","tenant":"acme""#))
        for head in [begun.head, shown.head] {
            #expect(field("Cache-Control", of: head) == "no-store" && field("X-Frame-Options", of: head) == "DENY")
        }
    }

    @Test func withoutATenantItIsNullAndTheKeysEndIsTheSessions() throws {
        let key = try newKey { $0.expiresAt = 1600 }
        let stage = try PageStage([key])
        let begun = try stage.askAsPage("POST", "/ui/session", body: #"{"key":"\#(key.text)"}"#)
        #expect(begun.text.contains(#""tenant":null,"#) && begun.text.contains(#""expires_at":"1970-01-01T00:26:40.000Z""#))
    }

    @Test func anEndOfTheKeyThatIsSetLaterIsTheSessions() throws {
        let key = try newKey { $0.expiresAt = 1600 }
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        var file = KeysFile()
        try file.add(key.key)
        try stage.keys.put(
            Array(String(decoding: file.bytes, as: UTF8.self).replacing("expires=1600", with: "expires=1700").utf8))
        stage.services.clock.advance(seconds: 2)
        let shown = try stage.askAsPage("GET", "/ui/session", cookie: cookie)
        #expect(shown.text.contains(#""expires_at":"1970-01-01T00:28:20.000Z""#))
    }

    @Test func aFileThatIsEmptiedOrCutForAMomentEndsNoSession() throws {
        let (other, key) = (try newKey(), try Self.operatorKey())
        let stage = try PageStage([other, key])
        let cookie = try stage.signIn(key)
        var file = KeysFile()
        for new in [other, key] { try file.add(new.key) }
        let bytes = file.bytes
        for part in [[], Array(bytes.prefix(bytes.count / 2)), Array(bytes.prefix { $0 != 10 }) + [10], bytes] {
            try stage.keys.put(part)
            stage.services.clock.advance(seconds: 4)
            #expect(try stage.askAsPage("GET", "/v1/status", cookie: cookie).status == 200)
        }
    }

    @Test func behindATrustedProxyWithTLSTheCookieIsSecure() throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key], proxies: ["127.0.0.1"])
        let fields = ["X-Forwarded-Proto: https", "Origin: https://h"]
        let begun = try stage.askAsPage("POST", "/ui/session", fields: fields, body: #"{"key":"\#(key.text)"}"#)
        let cookie = try #require(field("Set-Cookie", of: begun.head))
        #expect(cookie.hasPrefix("__Host-pushfan=") && cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict; Secure"))
        let pair = String(cookie.prefix { $0 != ";" })
        #expect(try stage.askAsPage("GET", "/ui/session", cookie: pair, fields: fields).status == 200)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: pair).status == 401, "in clear text it is another cookie")
    }

    @Test(arguments: [
        (#"{"key":"pf_00000000_\#(String(repeating: "a", count: 43))"}"#, 401), (#"{"key":"x"}"#, 401), (#"{"key":""}"#, 401),
        ("{}", 422), (#"{"key":1}"#, 422), (#"{"kez":"x"}"#, 422), (#"{"key":"x","key":"x"}"#, 422), ("[]", 422), ("{", 400),
        (#"{"key":"\#(String(repeating: "a", count: 1024))"}"#, 413),
    ])
    func whatIsNoRightKeyBeginsNothing(body: String, status: Int) throws {
        let stage = try PageStage([Self.operatorKey()])
        let answer = try stage.askAsPage("POST", "/ui/session", body: body)
        #expect(answer.status == status && !answer.head.contains("Set-Cookie"))
        #expect(field("X-Frame-Options", of: answer.head) == "DENY")
    }

    @Test func tooManyWrongKeysWaitAndARightOneDoesNot() throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        var statuses: [Int] = []
        for _ in 0..<6 {
            let answer = try stage.askAsPage("POST", "/ui/session", body: #"{"key":"\#(newKey().text)"}"#)
            statuses.append(answer.status)
            if answer.status == 429 { #expect(field("Retry-After", of: answer.head) == "1") }
        }
        #expect(statuses == [401, 401, 401, 401, 429, 429])
        _ = try stage.signIn(key)
    }

    static let routes: [(method: String, path: String, body: String)] = [
        ("GET", "/v1/requests", ""), ("GET", "/v1/status", ""), ("POST", "/v1/replays", "{}"), ("POST", "/v1/requests", "{}"),
        ("POST", "/v1/requests:search", "{}"), ("POST", "/v1/failures:search", "{}"),
        ("POST", "/v1/requests:explain", "{}"), ("GET", "/v1/requests/a", ""), ("POST", "/v1/requests/a:cancel", "{}"),
    ]

    @Test(arguments: routes) func theCookieStandsInPlaceOfTheKey(method: String, path: String, body: String) throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        let answer = try stage.askAsPage(method, path, cookie: cookie, body: body)
        #expect(answer.status == 200 && answer.text == key.key.id)
        #expect(try stage.askAsPage(method, path, body: body).status == 401)
        let other = cookie.prefix { $0 != "=" } + "=" + String(repeating: "0", count: 64)
        #expect(try stage.askAsPage(method, path, cookie: String(other), body: body).status == 401)
    }

    @Test(arguments: routes) func aCallFromAnotherSiteIsRefused(method: String, path: String, body: String) throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        for fields in [["Sec-Fetch-Site: same-site"], ["Sec-Fetch-Site: cross-site", "Origin: http://h"]] {
            let answer = try stage.askAsPage(method, path, cookie: cookie, fields: fields, body: body)
            #expect(answer.status == 403 && answer.text.contains(#""code":"cross_site""#))
        }
        let bare = try stage.askAsPage(method, path, cookie: cookie, fields: [], body: body).status
        #expect(bare == (method == "GET" ? 200 : 403))
        #expect(try stage.askAsPage(method, path, cookie: cookie, fields: ["Origin: http://h"], body: body).status == 200)
        let withKey = ["Sec-Fetch-Site: cross-site", "Authorization: Bearer \(key.text)"]
        #expect(
            try stage.askAsPage(method, path, cookie: cookie, fields: withKey, body: body).status == 200, "a key is no cookie")
    }

    @Test(arguments: [("POST", 403), ("DELETE", 403), ("GET", 200)]) func theSessionItselfIsForThePageAlone(
        method: String, bare: Int
    ) throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        let body = method == "POST" ? #"{"key":"\#(key.text)"}"# : ""
        #expect(try stage.askAsPage(method, "/ui/session", cookie: cookie, fields: [], body: body).status == bare)
        let foreign = try stage.askAsPage(
            method, "/ui/session", cookie: cookie, fields: ["Sec-Fetch-Site: cross-site"], body: body)
        #expect(foreign.status == 403 && foreign.text.contains(#""code":"cross_site""#) && !foreign.head.contains("Set-Cookie"))
        #expect(try stage.askAsPage("GET", "/ui/session", cookie: cookie).status == 200)
    }

    @Test func scopesCountForTheCookieToo() throws {
        let key = try newKey { $0.scopes = [.read] }
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: cookie).status == 200)
        let refused = try stage.askAsPage("POST", "/v1/replays", cookie: cookie, body: "{}")
        #expect(refused.status == 403 && refused.text.contains(#""code":"forbidden_scope""#))
    }

    @Test func theCallsOfASessionCountAsItsKeys() throws {
        let key = try newKey {
            $0.scopes = [.read]
            $0.rate = 1
        }
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: cookie).status == 200)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: cookie).status == 429)
        stage.services.clock.advance(seconds: 1)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: cookie).status == 200)
    }

    @Test func whoSignsOutIsOut() throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        let (cookie, other) = (try stage.signIn(key), try stage.signIn(key))
        let ended = try stage.askAsPage("DELETE", "/ui/session", cookie: cookie)
        #expect(
            ended.status == 204
                && field("Set-Cookie", of: ended.head)
                    == "\(cookie.prefix { $0 != "=" })=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
        )
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: cookie).status == 401)
        #expect(try stage.askAsPage("GET", "/ui/session", cookie: cookie).status == 204)
        for path in ["/ui/session", "/v1/status"] { #expect(try stage.askAsPage("GET", path, cookie: other).status == 200) }
        #expect(try stage.askAsPage("DELETE", "/ui/session").status == 204)
    }

    @Test func signingInAgainEndsTheSessionBefore() throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        let again = try stage.askAsPage("POST", "/ui/session", cookie: cookie, body: #"{"key":"\#(key.text)"}"#)
        #expect(again.status == 200)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: cookie).status == 401)
    }

    @Test func aSessionEndsByItsClocks() throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        let (used, idle) = (try stage.signIn(key), try stage.signIn(key))
        for _ in 0..<2 {
            stage.services.clock.advance(seconds: 1000)
            #expect(try stage.askAsPage("GET", "/v1/status", cookie: used).status == 200)
        }
        let over = try stage.askAsPage("GET", "/v1/status", cookie: idle)
        #expect(over.status == 401 && over.text.contains("sign in again"))
        stage.services.clock.advance(seconds: 28_800)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: used).status == 401)
    }

    @Test func aRevokedKeyEndsItsSessionsAndOtherScopesTakeEffect() throws {
        let (one, two) = (try Self.operatorKey(), try Self.operatorKey())
        let stage = try PageStage([one, two])
        let (first, second) = (try stage.signIn(one), try stage.signIn(two))
        var file = KeysFile()
        for key in [one, two] { try file.add(key.key) }
        _ = file.revoke(one.key.id, at: 1400)
        let text = String(decoding: file.bytes, as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.contains("id=\(two.key.id) ") })
        try stage.keys.put(Array(text.replacing(line, with: line.replacing("publish,read,replay", with: "read")).utf8))
        stage.services.clock.advance(seconds: 2)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: first).status == 401)
        #expect(try stage.askAsPage("GET", "/v1/status", cookie: second).status == 200)
        #expect(try stage.askAsPage("POST", "/v1/replays", cookie: second, body: "{}").status == 403)
        #expect(try stage.askAsPage("GET", "/ui/session", cookie: second).text.contains(#""scopes":["read"]"#))
    }

    /// Revoked, with other rights, signed out, or idle for too long.
    @Test(arguments: 0..<4) func aStreamEndsWithItsSession(way: Int) throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        let (secret, facts) = try stage.sessions.begin(key.text, from: nil)
        let sink = ManualSink()
        let stream = HeldSink(sink) { [sessions = stage.sessions] in sessions.isOpen(secret, for: facts.publisher) }
        #expect(stream.write(Array("a".utf8)))
        stage.services.clock.advance(seconds: 1790)
        #expect(stream.write(Array("b".utf8)))
        stage.services.clock.advance(seconds: 15)
        #expect(stream.write(Array("c".utf8)), "an open stream is a use")
        switch way {
        case 0:
            try stage.keys.put([APIKey]())
            stage.services.clock.advance(seconds: 2)
            #expect(stream.write(Array("c".utf8)), "a file without a key may be one that is not whole yet")
            stage.services.clock.advance(seconds: 10)
        case 1:
            var file = KeysFile()
            try file.add(key.key)
            try stage.keys.put(Array(String(decoding: file.bytes, as: UTF8.self).replacing("publish,read,", with: "").utf8))
        case 2: stage.sessions.end(secret)
        default: stage.services.clock.advance(seconds: 1800)
        }
        stage.services.clock.advance(seconds: 2)
        let last = String(decoding: EventFrames.problem(.rightsOver), as: UTF8.self)
        #expect(!stream.write(Array("d".utf8)) && sink.isEnded && sink.text == (way == 0 ? "abcc" : "abc") + last)
    }

    @Test func theStreamOfACallWithACookieEndsWithItsSessionAndThatOfAKeyDoesNot() throws {
        let key = try Self.operatorKey()
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        let clients = try [["Cookie: \(cookie)", "Sec-Fetch-Site: same-origin"], ["Authorization: Bearer \(key.text)"]].map {
            let client = try RawClient(port: stage.port)
            client.send(request("GET", "/v1/status/events", $0))
            #expect(client.answer().status == 200 && client.chunk() == EventFrames.beginning)
            return client
        }
        #expect(eventually { stage.streams.count == 2 })
        stage.streams.send("fleet", id: "1", data: Array("{1}".utf8), to: EventStreams.fleet)
        for client in clients { #expect(client.chunk() == EventFrames.event("fleet", id: "1", data: Array("{1}".utf8))) }
        #expect(try stage.askAsPage("DELETE", "/ui/session", cookie: cookie).status == 204)
        stage.streams.send("fleet", id: "2", data: Array("{2}".utf8), to: EventStreams.fleet)
        #expect(clients[0].chunks() == (EventFrames.problem(.rightsOver), true) && stage.streams.count == 1)
        #expect(clients[1].chunk() == EventFrames.event("fleet", id: "2", data: Array("{2}".utf8)))
    }

    @Test func noSecretReachesLogsMetricsOrDescriptions() throws {
        let (key, wrong) = (try Self.operatorKey(), try newKey())
        let stage = try PageStage([key])
        let cookie = try stage.signIn(key)
        var answers = try [
            stage.askAsPage("GET", "/ui/session", cookie: cookie).text, stage.askAsPage("GET", "/v1/status", cookie: cookie).text,
            stage.askAsPage("POST", "/ui/session", body: #"{"key":"\#(wrong.text)"}"#).text,
            stage.askAsPage("POST", "/ui/session", body: #"{"key":"\#(wrong.text)"#).text,
            stage.askAsPage("POST", "/v1/replays", cookie: cookie, fields: []).text,
        ]
        try stage.keys.put([APIKey]())
        stage.services.clock.advance(seconds: 2)
        answers.append(try stage.askAsPage("GET", "/v1/status", cookie: cookie).text)
        dump(stage.sessions, to: &answers[0])
        for text in answers + [stage.services.log.text, stage.services.metrics] {
            for secret in [cookie.suffix(64), key.text.suffix(43), wrong.text.suffix(43)] { #expect(!text.contains(secret)) }
        }
    }

    @Test func thePageOffTheCookieIsNothing() throws {
        let gateway = try TestGateway(demo: true)
        let cookie = "Cookie: pushfan-80=" + String(repeating: "0", count: 64)
        let answer = try gateway.ask(request("GET", "/v1/status", [cookie, "Sec-Fetch-Site: cross-site"]))
        #expect(answer.status == 401 && String(decoding: answer.body, as: UTF8.self).contains("No key was sent"))
        #expect(try gateway.ask(request("GET", "/ui/session", [cookie])).status == 404)
    }
}
