import GatewayAPI
import HubEmulator
import Keys
import PublishAPI
import TestSupport
import Testing

@testable import Gateway

/// `/v1/installations` over HTTP, at the emulated hub.
@Suite(.tags(.threads)) struct DeviceRouteTests {
    private static let backEnd = bearer("backend0")

    /// The text of a template, in JSON.
    private static let text = #""{\"message\":{\"data\":{\"m\":\"$(m)\"}}}""#

    private static func bearer(_ id: String) -> String {
        "Authorization: Bearer pf_\(id)_CANARYkey0123456789abcdefghijklmnopqrstuvwx"
    }

    /// A key for all devices, one that sees their handles, one of a tenant, and one for something else.
    private static let checkKey: KeyCheck = { authorization, _ in
        func publisher(_ scopes: Set<Scope>, tenant: String? = nil) -> Publisher {
            Publisher(keyID: "k", tenant: tenant, source: "/s", scopes: scopes)
        }
        let parts = (authorization ?? "").split(separator: "_")
        return switch parts.count == 3 ? parts[1] : "" {
        case "backend0": .signedIn(publisher([.register]))
        case "handes00": .signedIn(publisher([.register, .handles]))
        case "tenant00": .signedIn(publisher([.register], tenant: "shop"))
        case "sender00": .signedIn(publisher([.publish]))
        default: .refused
        }
    }

    private func gateway() throws -> ServedGateway { try ServedGateway(hasKafka: false, checkKey: Self.checkKey) }

    private func ask(
        _ gateway: ServedGateway, _ method: String, _ path: String, _ field: String = backEnd, more: [String] = [],
        body: String = ""
    ) throws -> (status: Int, head: String, text: String) {
        let client = try RawClient(port: gateway.port)
        let type = body.hasPrefix("[") ? "application/json-patch+json" : "application/json"
        let fields = [field] + more + (body.isEmpty ? [] : ["Content-Type: \(type)"])
        client.send(request(method, "/v1/installations/\(path)", fields, body: body))
        let answer = client.answer()
        return (answer.status, answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    @Test func aDeviceLivesFromItsFirstCallToItsLast() throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        let device =
            #"{"platform":"fcmv1","handle":"h1","user":"carol","tags":["World"],"#
            + #""templates":{"t":{"body":\#(Self.text)}}}"#
        let put = try ask(gateway, "PUT", "a", body: device)
        #expect(put.status == 200 && put.text.contains(#""user":"carol""#) && !put.text.contains("h1"))
        let shown = try ask(gateway, "GET", "a", Self.bearer("handes00"))
        #expect(shown.status == 200 && shown.text.contains(#""handle":"h1""#) && shown.text.contains(#""tags":["World"]"#))
        let tag = try #require(shown.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("etag: ") }?.dropFirst(6))
        let same = try ask(gateway, "GET", "a", Self.bearer("handes00"), more: ["If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.text.isEmpty)
        #expect(try ask(gateway, "PUT", "a/tags/News").status == 204)
        #expect(try ask(gateway, "DELETE", "a/tags/World").status == 204)
        #expect(gateway.hub.devices(tag: "News").map(\.handle) == ["h1"] && gateway.hub.devices(tag: "World").isEmpty)
        let patch = try ask(gateway, "PATCH", "a", body: #"[{"op":"replace","path":"/handle","value":"h2"}]"#)
        #expect(patch.status == 200 && gateway.handles(of: "carol") == ["h2"])
        let moved = try ask(gateway, "PUT", "b", body: #"{"platform":"fcm","handle":"h2","user":"dave"}"#)
        #expect(moved.text.contains(#""moved_from":[{"id":"a","user":"carol"}]"#))
        #expect(try ask(gateway, "GET", "a").status == 404 && gateway.handles(of: "carol").isEmpty)
        for _ in 0..<2 { #expect(try ask(gateway, "DELETE", "b").status == 204) }
        #expect(gateway.handles(of: "dave").isEmpty)
    }

    @Test func aUserHasDevicesOfItsOwnAlone() throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        let (carol, dave) = (basic("carol", "carol"), basic("dave", "dave"))
        let device = #"{"platform":"fcm","handle":"h1"}"#
        #expect(try ask(gateway, "PUT", "a", carol, body: device).text.contains(#""handle":"h1""#))
        for (method, path, body) in [
            ("GET", "a", ""), ("DELETE", "a", ""), ("PUT", "a/tags/t", ""), ("DELETE", "a/tags/t", ""),
            ("PUT", "a", #"{"platform":"fcm","handle":"h2"}"#), ("PATCH", "a", #"[{"op":"remove","path":"/tags"}]"#),
        ] {
            #expect(try ask(gateway, method, path, dave, body: body).status == 404)
        }
        let taken = try ask(gateway, "PUT", "b", dave, body: device)
        #expect(taken.text.contains(#""moved_from":[{"id":"a"}]"#) && gateway.handles(of: "dave") == ["h1"])
        #expect(try ask(gateway, "GET", "a", carol).status == 404)
    }

    @Test(
        arguments: [
            ("sender00", "a", 403), ("tenant00", "a", 403),
            ("absent00", "a", 401), ("backend0", "a?hub=none", 404),
            ("backend0", "a?x=1", 400), ("backend0", "a%20b", 400),
            ("backend0", String(repeating: "x", count: 4096), 400), ("backend0", "%00", 400),
            ("backend0", "none", 404),
        ])
    func whatIsNotAllowedIsRefused(_ key: String, path: String, status: Int) throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        let answer = try ask(gateway, "GET", path, Self.bearer(key))
        #expect(answer.status == status && answer.text.contains(#""code":"#), "\(answer)")
    }

    @Test func aHubThatThrottlesIsToldWithItsTime() throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        gateway.hub.arm([try Fault(parsing: "status=429,retry-after=7")])
        let answer = try ask(gateway, "GET", "a")
        #expect(answer.status == 429 && answer.text.contains("hub_throttled") && answer.head.contains("Retry-After: 7"))
    }

    @Test func whatAnAppRegistersIsShownToABackEnd() throws {
        let gateway = try gateway()
        defer { gateway.stop() }
        let body = #"{"Platform":"fcm","Handle":"h1","Templates":{"t":{"body":\#(Self.text)}}}"#
        #expect(try gateway.ask("PUT", "/api/register/a", as: "carol", body: body).status == 200)
        let shown = try ask(gateway, "GET", "a")
        #expect(
            shown.status == 200 && shown.text.contains(#""templates":{"t":{"body":\#(Self.text),"tags":[]}}"#),
            "\(shown)")
    }
}
