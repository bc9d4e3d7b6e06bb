import TestSupport
import Testing

@testable import Gateway

/// The feed of results over HTTP, with results in Kafka.
@Suite(.tags(.waits, .threads), .serialized) struct FeedRouteTests {
    private static let sent = #""kind":"final","state":"sent","source":"/shop","tenant":"shop""#

    private func begin(_ gateway: ServedGateway, _ path: String, _ fields: [String] = []) throws -> RawClient {
        let client = try RawClient(port: gateway.port)
        client.send(request("GET", path, ["Authorization: Bearer \(ServedGateway.newKey)"] + fields))
        return client
    }

    private func ask(_ gateway: ServedGateway, _ path: String) throws -> (status: Int, cursor: String, text: String) {
        let answer = try begin(gateway, path).answer()
        let field = answer.head.split(separator: "\r\n").first { $0.hasPrefix("Pushfan-Cursor: ") }
        return (answer.status, String(field?.dropFirst(16) ?? ""), String(decoding: answer.body, as: UTF8.self))
    }

    /// The place of now, once the topic can be read.
    private func cursor(_ gateway: ServedGateway) throws -> String {
        var cursor = ""
        #expect(
            try eventually {
                cursor = try ask(gateway, "/v1/results").cursor
                return !cursor.isEmpty
            })
        return cursor
    }

    @Test func aPublisherHearsOfItsResultsFromACursorOn() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let first = try cursor(gateway)
        let waiting = try begin(gateway, "/v1/results?after=\(first)&wait=30")
        try worker.write(#""kind":"final","state":"sent","source":"/other","tenant":"shop""#, of: "strange")
        try worker.write(Self.sent, of: "r-1")
        let text = String(decoding: waiting.answer().body, as: UTF8.self)
        #expect(text.contains(#""request_id":"r-1""#) && !text.contains("strange"), "\(text)")
        let again = try ask(gateway, "/v1/results?after=\(first)")
        #expect(again.status == 200 && again.text.contains("r-1") && !again.text.contains("strange"))
        let next = try ask(gateway, "/v1/results?after=\(again.cursor)")
        #expect(next.status == 200 && next.text.hasPrefix(#"{"results":[],"#), "\(next.text)")
        let all = try ask(gateway, "/v1/results?since=first&kinds=final")
        #expect(all.text.contains("r-1") && !all.text.contains("strange"))
    }

    @Test func aStreamIsResumedBehindItsLastIDAndEndsAtTheStop() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        let first = try cursor(gateway)
        for id in ["r-1", "r-2"] { try worker.write(Self.sent, of: id) }
        let client = try begin(gateway, "/v1/results/events", ["Last-Event-ID: \(first)"])
        #expect(client.answer().status == 200)
        var text = ""
        while !text.contains("r-1") || !text.contains("r-2"), let chunk = client.chunk() {
            text += String(decoding: chunk, as: UTF8.self)
        }
        #expect(text.hasPrefix("retry: 2000\n\nevent: cursor\nid: \(first)\ndata: {}\n\n"), "\(text)")
        gateway.service.stop(within: .zero)
        #expect(client.chunks().isComplete)
    }
}
