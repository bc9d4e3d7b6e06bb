import Foundation
import HTTPServing
import TestSupport
import Testing

@testable import HubEmulator
@testable import HubServer

/// What pushfan sends, as its golden files have it, sent twice: a person sees it once.
struct CollapseTests {
    /// A call of a golden file: `## title`, the request, a blank line, header lines, a blank line, body, `(N bytes, …)`.
    private struct GoldenCall {
        let title: String
        var headers: HTTPFields = [:]
        var body = ""

        /// The calls of `Tests/Pure/PayloadsTests/Golden/{name}.txt`.
        static func all(of name: String) throws -> [GoldenCall] {
            let file = Repository.root.appendingPathComponent("Tests/Pure/PayloadsTests/Golden/\(name).txt")
            let text = try String(contentsOf: file, encoding: .utf8)
            return text.components(separatedBy: "\n\n\n").filter { !$0.isEmpty }.compactMap(GoldenCall.init)
        }

        private init?(_ section: String) {
            let parts = section.split(separator: "\n\n", maxSplits: 2).map(String.init)
            guard parts.count == 3, parts[0].hasPrefix("## "), let end = parts[2].range(of: "\n(", options: .backwards) else {
                return nil
            }
            title = String(parts[0].dropFirst(3).prefix { $0 != "\n" })
            for line in parts[1].split(separator: "\n") {
                let field = line.split(separator: ":", maxSplits: 1)
                guard field.count == 2 else { return nil }
                headers.append(String(field[0]), value: field[1].trimmingBlanks)
            }
            body = String(parts[2][..<end.lowerBound])
        }
    }

    private func device(after calls: [GoldenCall], _ format: String, _ platform: String) throws -> DeviceReport {
        let hub = try TestHub()
        try hub.register("d", platform)
        for call in calls { #expect(try hub.send(format, to: nil, call.body, call.headers).status == 201) }
        return try #require(hub.hub.devices().first)
    }

    @Test(arguments: [("apple", "apns"), ("fcmv1", "fcmV1"), ("gcm", "gcm"), ("windows", "wns")])
    func twoEqualCallsRingTwiceAndShowOneNotification(_ format: String, _ platform: String) throws {
        let shown = ["title and body", "title only", "every field", "collapse key", "an identity from id and source"]
        let calls = try GoldenCall.all(of: format).filter { shown.contains($0.title) }
        #expect(calls.count == shown.count)
        for call in calls {
            let device = try device(after: [call, call], format, platform)
            #expect(device.rungCount == 2 && device.visible.map(\.callID) == [2], "\(call.title)")
        }
    }

    @Test(arguments: [
        ("apple", "apns", "apple: an object, verbatim"), ("windows", "wns", "windows: a toast gets an identity of its own"),
    ])
    func verbatimPayloadsThatAreShownCollapseAsWell(_ format: String, _ platform: String, _ title: String) throws {
        let call = try #require(try GoldenCall.all(of: "native").first { $0.title == title })
        #expect(try device(after: [call, call], format, platform).visible.count == 1)
    }

    @Test(arguments: [("apple", "apns"), ("fcmv1", "fcmV1"), ("gcm", "gcm"), ("windows", "wns")])
    func callsOfTwoRequestsShowTwoNotifications(_ format: String, _ platform: String) throws {
        let calls = try GoldenCall.all(of: format).filter { ["title only", "an identity from id and source"].contains($0.title) }
        let device = try device(after: calls + calls, format, platform)
        #expect(device.rungCount == 4 && device.visible.map(\.callID) == [3, 4])
    }

    @Test func templatesCollapseByWhatTheyAreFilledInWith() throws {
        let hub = try TestHub()
        let body = #"{\"message\":{\"android\":{\"notification\":{\"tag\":\"$(id)\"}}}}"#
        let installations = [
            #"{"installationId":"a","platform":"fcmV1","pushChannel":"a","templates":{"t":{"body":"\#(body)"}}}"#,
            #"""
            {"installationId":"b","platform":"apns","pushChannel":"BB","templates":{"t":{"body":"{\"aps\":{}}",
            "headers":{"apns-collapse-id":"$(id)"}}}}
            """#,
            #"{"installationId":"c","platform":"gcm","pushChannel":"c","templates":{"t":{"body":"{\"data\":{}}"}}}"#,
        ]
        for (id, text) in zip(["a", "b", "c"], installations) {
            #expect(try hub.call("PUT", "installations/\(id)", [:], text).status == 200)
        }
        for id in ["1", "1", "2"] { try hub.send("template", to: nil, #"{"id":"\#(id)"}"#) }
        #expect(hub.hub.devices().map { $0.visible.map(\.callID) } == [[5, 6], [5, 6], [4, 5, 6]])
        let text = hub.hub.handle(HTTPServerRequest(method: "GET", target: "/devices?handle=a")).text
        #expect(text.contains(#""rung_count":3,"#) && text.contains(#""visible_count":2,"visible":["#))
    }
}
