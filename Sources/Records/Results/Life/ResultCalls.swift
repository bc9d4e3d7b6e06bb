import Publishing
import PushModel
import Replay
import ResultQuery

/// The calls of one result, and those that it repeats as a replay.
struct ResultCalls {
    private struct Attempt {
        var call: Int64
        var hasLeft: Bool
        var isUnanswered: Bool
    }

    /// The statuses that servers before a hub give when its answer does not come.
    static let statusesWithoutAnswer: Set<Int64> = [499, 520, 522, 524]

    let id: String
    let state: String
    /// The record of the request.
    private(set) var place: RecordPlace?
    /// True if devices were, or may have been, reached.
    let reaches: Bool
    private let doubted: Set<Int64>
    private let hasCalls: Bool
    private let isAmbiguous: Bool
    private let attempts: [Attempt]
    /// Of a replay, the calls that it repeats. Nil for all.
    private(set) var repeated: Set<Int64>?
    /// Of a replay, the request that it replays.
    private(set) var parent: String?
    /// The calls that the hub did not accept. Nil if they are not told one by one.
    private(set) var open: Set<Int64>?

    init?(_ result: ResultRecord) {
        var document = JSONDocument()
        guard document.readResult(result.json.span) else { return nil }
        let root = document.root
        id = document.text("result_id", of: root) ?? ""
        state = result.state
        isAmbiguous = result.outcome == Outcome.ambiguous.rawValue
        let targets = document.member("targets", of: root)
        reaches = ["accepted", "ambiguous"].contains { (name: StaticString) in
            targets.flatMap { document.integer(name, of: $0) } ?? 0 > 0
        }
        var (callCount, doubted, open) = (0, Set<Int64>(), Set<Int64>())
        if let sends = document.member("sends", of: root) {
            document.forEachElement(of: sends) { send in
                let (outcome, index) = (
                    document.text("outcome", of: send), document.integer("index", of: send) ?? Int64(callCount)
                )
                callCount += 1
                if outcome == Outcome.ambiguous.rawValue { doubted.insert(index) }
                if outcome != Outcome.success.rawValue { open.insert(index) }
            }
        }
        hasCalls = callCount > 0
        // A result has the first calls one by one.
        let planned = targets.flatMap { document.integer("planned", of: $0) } ?? 0
        self.open = hasCalls && callCount >= planned ? open : nil
        self.doubted = doubted
        var attempts: [Attempt] = []
        if let list = document.member("attempts", of: root) {
            document.forEachElement(of: list) { attempt in
                let status = document.integer("http_status", of: attempt) ?? 0
                attempts.append(
                    Attempt(
                        call: document.integer("send", of: attempt) ?? -1,
                        hasLeft: document.member("bytes_sent", of: attempt).map { document.kind(of: $0) == .true } ?? false,
                        isUnanswered: document.text("result", of: attempt) != "ok"
                            && (status < 300 || Self.statusesWithoutAnswer.contains(status))))
            }
        }
        self.attempts = attempts
        place = RecordPlace(document, originOf: root)
        guard let replay = document.member("replay", of: root) else { return }
        parent = document.text("parent_request_id", of: replay)
        guard let sends = document.member("sends", of: replay) else { return }
        var calls: Set<Int64> = []
        document.forEachElement(of: sends) { if let index = document.integer(at: $0) { calls.insert(index) } }
        repeated = calls
    }

    /// True if an attempt had no answer, and its call was made again.
    var hasLostAnswer: Bool {
        var lost: Set<Int64> = []
        for attempt in attempts where attempt.hasLeft {
            if lost.contains(attempt.call) { return true }
            if attempt.isUnanswered { lost.insert(attempt.call) }
        }
        return false
    }

    /// True if a replay repeated a call that may have arrived.
    func isInDoubt(after replay: ResultCalls) -> Bool {
        guard replay.reaches else { return false }
        guard hasCalls else { return isAmbiguous }
        return replay.repeated.map { !doubted.isDisjoint(with: $0) } ?? !doubted.isEmpty
    }
}
