import Foundation
import Synchronization

/// Back ends that publish, wait, repeat, list, follow and look, each with a key, a tenant and an address of its own, and how long each call
/// took.
final class Bystanders: Sendable {
    /// A kind of call.
    enum Kind: String, CaseIterable, Sendable {
        case publish, wait, again, list, follow, home
    }

    /// What one call came to.
    struct Call: Sendable {
        let kind: Kind
        let milliseconds: Double
        /// What was wrong with the answer; nil for a right one.
        let fault: String?
    }

    private let port: UInt16
    /// The API keys, one for each back end.
    private let keys: [String]
    private let calls = Mutex<[Call]>([])
    private let running = Atomic(0)

    init(_ gateway: GatewayProcess, keys: [String]) {
        port = gateway.port
        self.keys = keys
    }

    /// Makes so many rounds of all kinds of calls, all back ends beside each other.
    ///
    /// - Returns: All calls.
    /// - Throws: `SuiteError.late` when the rounds do not end in time.
    func measure(rounds: Int, name: String) throws -> [Call] {
        calls.withLock { $0 = [] }
        running.store(keys.count, ordering: .sequentiallyConsistent)
        for (index, key) in keys.enumerated() {
            let thread = Thread { [self] in
                for round in 0..<rounds {
                    makeRound(key, id: "\(name)-\(index)-\(round)", from: UInt8(10 + index))
                    Clock.pause(.milliseconds(200))
                }
                running.subtract(1, ordering: .sequentiallyConsistent)
            }
            thread.name = "faults-bystander"
            thread.stackSize = 1 << 19
            thread.start()
        }
        try Clock.wait(for: "the other back ends", within: .seconds(300)) { running.load(ordering: .sequentiallyConsistent) == 0 }
        return calls.withLock { $0 }
    }

    /// Publishes and waits, repeats that, publishes and follows, lists, and looks at the first page.
    private func makeRound(_ key: String, id: String, from host: UInt8) {
        let body = "{\"audience\":{\"users\":[\"\(id)\"]},\"platforms\":[\"apple\"],\"message\":{\"title\":\"\(id)\"}}"
        let waited = make(.wait, host, "POST", "/v1/requests", key, ["Prefer: wait=10", "Idempotency-Key: \(id)"], body) {
            answer in
            answer.status == 200 && answer.body.contains("\"sent\"")
        }
        _ = make(.again, host, "POST", "/v1/requests", key, ["Prefer: wait=10", "Idempotency-Key: \(id)"], body) { answer in
            (answer.status == 200 || answer.status == 202) && answer.identifier == waited?.identifier
        }
        let published = make(.publish, host, "POST", "/v1/requests", key, [], body) { $0.status == 202 }
        if let location = published?.field("location") {
            let parts = location.split(separator: "?", maxSplits: 1)
            let path = parts[0] + "/events" + (parts.count > 1 ? "?" + parts[1] : "")
            _ = make(.follow, host, "GET", String(path), key) { $0.status == 200 && $0.body.contains("\"sent\"") }
        }
        _ = make(.list, host, "GET", "/v1/requests?limit=5", key) { $0.status == 200 && $0.body.contains("\"items\"") }
        _ = make(.home, host, "GET", "/", key) { $0.status == 200 }
    }

    /// Makes a call and takes it down.
    private func make(
        _ kind: Kind, _ host: UInt8, _ method: String, _ path: String, _ key: String, _ headers: [String] = [],
        _ body: String = "",
        isRight: (HTTPProbe.Answer) -> Bool
    ) -> HTTPProbe.Answer? {
        let begin = ContinuousClock.now
        let head = ["Authorization: Bearer \(key)"] + (body.isEmpty ? [] : ["Content-Type: application/json"]) + headers
        let answer = HTTPProbe.ask(method, port: port, path, headers: head, body: body, within: .seconds(60), from: host)
        let taken = begin.duration(to: .now) / .milliseconds(1)
        let text = answer.map { "\($0.status) \($0.body.prefix(200))" } ?? "no answer"
        let fault = answer.map(isRight) == true ? nil : "\(kind.rawValue): \(text)"
        calls.withLock { $0.append(Call(kind: kind, milliseconds: taken, fault: fault)) }
        return answer
    }
}

extension HTTPProbe.Answer {
    /// The `id` that a publication's answer names.
    fileprivate var identifier: Substring? {
        guard let begin = body.firstRange(of: "\"id\":\"")?.upperBound else { return nil }
        return body[begin...].prefix { $0 != "\"" }
    }
}

extension [Bystanders.Call] {
    /// The calls of one kind.
    func ofKind(_ kind: Bystanders.Kind) -> [Bystanders.Call] { filter { $0.kind == kind } }

    /// The time within which so many of 100 calls were answered, milliseconds.
    func time(of share: Int) -> Double {
        let times = map(\.milliseconds).sorted()
        return times.isEmpty ? 0 : times[Swift.min(times.count - 1, times.count * share / 100)]
    }
}
