import TestSupport
import Testing

/// What a worker's probes answer, by a process.
@Suite(.needsKafka) struct ProbeTests {
    private static func ask(_ method: String, _ path: String, at port: Int) throws -> (status: Int, head: String, body: [UInt8]) {
        let client = try RawClient(port: port)
        client.send(request(method, path))
        let (status, head, body) = client.answer(toHEAD: method == "HEAD")
        return (status, head, body + client.rest())
    }

    @Test func headIsAnsweredAsGetWithoutTheBody() throws {
        let stage = try RealStage()
        defer { stage.stop() }
        let port = try stage.startProbedWorker().probes
        for (path, status) in [
            ("/livez", 200), ("/readyz", 200), ("/startupz", 200), ("/metrics", 200), ("/status", 200), ("/nothing", 404),
        ] {
            let (get, head) = (try Self.ask("GET", path, at: port), try Self.ask("HEAD", path, at: port))
            #expect(get.status == status && head.status == status, "\(path)")
            #expect(!get.body.isEmpty && head.body.isEmpty, "\(path)")
            #expect(field("Content-Type", of: get.head) == field("Content-Type", of: head.head))
            let other = try Self.ask("POST", path, at: port)
            #expect(other.status == 405 && field("Allow", of: other.head) == "GET, HEAD")
            for answer in [get, head, other] { #expect(field("X-Content-Type-Options", of: answer.head) == "nosniff") }
        }
    }
}
