import Foundation
import Synchronization

/// A key whose owner means harm, and a stranger without one: everything that costs a gateway much, all at once, until it is ended.
final class HostileKey: Sendable {
    /// Connections that follow one request with a wait, streams of its events, and answers that a stranger does not read.
    private static let waits = 700
    private static let streams = 510
    private static let unread = 1_000

    /// The last byte of its address.
    private static let host: UInt8 = 2

    private let port: UInt16
    private let head: [String]
    private let isEnding = Atomic(false)
    private let running = Atomic(0)
    /// Answers of each kind of harm by status; 0 for none.
    private let answers = Mutex<[String: [Int: Int]]>([:])

    init(_ gateway: GatewayProcess, key: String) {
        port = gateway.port
        head = ["Authorization: Bearer \(key)", "Content-Type: application/json"]
    }

    /// Begins everything. To be called once.
    ///
    /// - Throws: Its own request was not taken.
    func begin() throws {
        let far =
            "{\"audience\":{\"users\":[\"far\"]},\"message\":{\"title\":\"far\"},\"ordering_key\":\"k\",\"not_before\":\"2099-01-01T00:00:00Z\"}"
        guard let path = ask("/v1/requests", far)?.field("location") else {
            throw SuiteError.failed("the hostile key's own request was not taken")
        }
        // One that ends as expired, for the plans.
        _ = ask("/v1/requests", far.dropLast() + ",\"ttl_seconds\":60}", ["Prefer: wait=10"])
        let parts = path.split(separator: "?", maxSplits: 1)
        let query = parts.count > 1 ? "?" + parts[1] : ""
        hold("waits", count: Self.waits / 2, "\(parts[0])\(query)\(query.isEmpty ? "?" : "&")wait=30", reads: true)
        hold("waits without a place", count: Self.waits / 2, "\(parts[0])?wait=30", reads: true)
        hold("streams", count: Self.streams, "\(parts[0])/events\(query)", reads: true)
        hold("unread answers", count: Self.unread, "/v1/openapi.json", reads: false)
        repeatedly("ordered behind a far one", pause: .milliseconds(200)) { [self] number in
            let body = far.replacing(",\"not_before\":\"2099-01-01T00:00:00Z\"", with: "")
            return ask("/v1/requests", body)
        }
        // Six lists of 48 tags, which are 48 to the power of 6 products.
        let expression = (0..<6).map { list in "(" + (10..<58).map { "t\(list)\($0)" }.joined(separator: "||") + ")" }.joined(
            separator: "&&")
        let request = "{\"audience\":{\"tag_expression\":\"\(expression)\"},\"message\":{\"title\":\"x\"}}"
        let batch = "{\"requests\":[" + Array(repeating: request, count: 12).joined(separator: ",") + "]}"
        for _ in 0..<2 {
            repeatedly("refused batches", pause: .zero) { [self] number in
                ask("/v1/requests:batch", batch, ["Idempotency-Key: hostile-\(number)"])
            }
            let filter = (0..<400).map { "-error:*a*b*c*d*\($0)" }.joined(separator: " ")
            repeatedly("long filters", pause: .zero) { [self] _ in
                ask("/v1/requests:search", "{\"filter\":\"\(filter)\",\"limit\":5}")
            }
        }
        let name = Array(repeating: "a", count: 30_000).joined(separator: ".")
        repeatedly("deep edits", pause: .milliseconds(500)) { [self] _ in
            let body = "{\"filter\":\"state:expired\",\"reason\":\"x\",\"set\":[\"labels.\(name)=1\"]}"
            return ask("/v1/replays", body)
        }
    }

    private func ask(_ path: String, _ body: some StringProtocol, _ more: [String] = []) -> HTTPProbe.Answer? {
        HTTPProbe.ask("POST", port: port, path, headers: head + more, body: String(body), within: .seconds(60), from: Self.host)
    }

    /// Ends everything, and waits until all connections are closed.
    func end() {
        isEnding.store(true, ordering: .sequentiallyConsistent)
        try? Clock.wait(for: "the hostile key to end", within: .seconds(90)) {
            running.load(ordering: .sequentiallyConsistent) == 0
        }
    }

    /// How each kind of harm was answered, for the notes.
    var summary: [String] {
        answers.withLock { $0 }.sorted { $0.key < $1.key }.map { kind, counts in
            "\(kind): " + counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        }
    }

    private var goesOn: Bool { !isEnding.load(ordering: .sequentiallyConsistent) }

    private func note(_ kind: String, _ status: Int) { answers.withLock { $0[kind, default: [:]][status, default: 0] += 1 } }

    /// Keeps so many connections with one call each, and makes those again that were answered.
    private func hold(_ kind: String, count: Int, _ path: String, reads: Bool) {
        let call = HTTPProbe.call("GET", port: port, path, headers: reads ? head : [])
        start { [self] in
            var open: [Socket] = []
            while goesOn {
                while open.count < count, goesOn, let socket = try? Socket.connected(port: port, from: Self.host) {
                    socket.setTimeout(.seconds(1))
                    if socket.write(call) { note(kind, 0) }
                    open.append(socket)
                }
                for _ in 0..<20 where goesOn { Clock.pause(.milliseconds(200)) }
                if reads {
                    // Those that ended are closed, and the rest stay.
                    open.removeAll { socket in
                        guard socket.hasEnded else { return false }
                        socket.close()
                        return true
                    }
                }
            }
            for socket in open { socket.close() }
        }
    }

    /// Makes a call again and again.
    private func repeatedly(_ kind: String, pause: Duration, _ call: @escaping @Sendable (Int) -> HTTPProbe.Answer?) {
        start { [self] in
            var number = 0
            while goesOn {
                note(kind, call(number)?.status ?? 0)
                number += 1
                Clock.pause(max(pause, .milliseconds(1)))
            }
        }
    }

    private func start(_ work: @escaping @Sendable () -> Void) {
        running.add(1, ordering: .sequentiallyConsistent)
        let thread = Thread { [self] in
            work()
            running.subtract(1, ordering: .sequentiallyConsistent)
        }
        thread.name = "faults-hostile"
        thread.stackSize = 1 << 19
        thread.start()
    }
}
