import Console
import Foundation
import HubEmulator

/// Lets the hub fail for a while, and repairs the failures with one replay.
struct DemoOutage {
    private static let count = 300
    private static let prefix = "seat-"
    private static let plan = "outage.ndjson"

    /// The final counts.
    struct Ending {
        var failed = 0
        var waited = 0
        var repaired = 0
    }

    let stage: DemoStage
    let text: DemoText

    func play() throws -> Ending {
        try text.heading("4  The hub is out for a second, on purpose, and a replay repairs what failed")
        var ending = Ending()
        stage.hub.arm([try Fault(parsing: "outage=900ms,status=503")])
        try stage.publish(Self.requests)
        try text.step("published", meaning: "\(Self.count) requests that may try only once; the hub answers 503, on purpose")
        for _ in 0..<Self.count {
            let state = try state(ofNext: Self.prefix)
            if state == "sent" { ending.waited += 1 } else { ending.failed += 1 }
        }
        stage.hub.arm([])
        try text.step(
            "result", meaning: "\(ending.failed) failed; then the circuit opened, and \(ending.waited) waited and were sent")
        guard ending.failed > 0 else { return ending }
        ending.repaired = try repair()
        try text.step("", meaning: "")
        try text.step("result", meaning: "\(ending.repaired) of \(ending.failed) repaired; none of the others was sent again")
        try text.say(
            "The embedded broker only pretends to do the replay's transactions. On a real Kafka a replay that is killed, or "
                + "run twice, requests nothing twice.")
        return ending
    }

    private static var requests: [String] {
        (1...count).map { number in
            #"{"schema_version":1,"id":"\#(prefix)\#(number)","source":"/demo","audience":{"users":["dan"]},"#
                + #""platforms":["apple"],"message":{"title":"Seat \#(number)","body":"It is yours"},"options":{"max_attempts":1}}"#
        }
    }

    /// Runs the commands as an operator would. Returns the number of requests that were sent again with success.
    private func repair() throws -> Int {
        let path = NSTemporaryDirectory() + "/pushfan-demo-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let console = DemoConsole(environment: stage.environment, text: text)
        try console.run(["failed"])
        // They are ambiguous: the worker that was killed before may have begun them.
        try console.run(
            ["replay", "plan", "state:failed", "--include-ambiguous", "--reason", "hub outage", "--file", path], path: path,
            shownAs: Self.plan, lines: 5)
        let (job, count) = try Self.header(of: path)
        try console.run(["replay", "run", path], path: path, shownAs: Self.plan)
        var repaired = 0
        for _ in 0..<count where try state(ofNext: job) == "sent" { repaired += 1 }
        return repaired
    }

    /// The job's id and the number of its requests, which the plan's first line has.
    private static func header(of path: String) throws -> (job: String, count: Int) {
        let line = try Data(contentsOf: URL(fileURLWithPath: path)).prefix { $0 != UInt8(ascii: "\n") }
        let header = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] ?? [:]
        guard let job = header["job_id"] as? String,
            let count = (header["counts"] as? [String: Any])?["requests"] as? Int
        else { throw CommandFailure(.failed, "the plan has no job") }
        return (job, count)
    }

    /// The state in the next result of a request whose id begins with `prefix`.
    private func state(ofNext prefix: String) throws -> String {
        var state = ""
        try DemoPatience.wait(for: "a result of \(prefix)") {
            guard let next = stage.nextResult(), next.id.hasPrefix(prefix) else { return "none has come" }
            let result = try JSONSerialization.jsonObject(with: Data(next.value)) as? [String: Any]
            state = result?["state"] as? String ?? ""
            return nil
        }
        return state
    }
}
