import Publishing
import PushModel
import ResultQuery

/// The reasons for which devices may have rung twice, by the results of a request and of its replays.
struct Doubts {
    private let life: RequestLife
    private let final: ResultRecord

    /// The doubts about the result that counts.
    init(_ life: RequestLife, final: ResultRecord) { (self.life, self.final) = (life, final) }

    /// The doubts, the gravest first.
    var all: [RequestStory.Doubt] {
        guard let own = Sending(final) else { return [] }
        var doubts: [RequestStory.Doubt] = own.hasLostAnswer ? [.lostAnswer] : []
        let sent = life.own.filter { $0.kind == "final" }.compactMap(Sending.init).filter(\.reaches)
        let kinds = Set(sent.map(\.id)).count
        if kinds > 1 { doubts.append(.sentTwice(kinds)) }
        if life.replays.compactMap(Sending.init).contains(where: own.isInDoubt) { doubts.append(.repeatedDoubt) }
        if sent.count > kinds { doubts.append(.secondResult) }
        return doubts
    }
}

/// The calls of one result, as far as doubts are about them.
private struct Sending {
    private struct Attempt {
        var call: Int64
        var hasLeft: Bool
        var isUnanswered: Bool
    }

    /// The statuses that servers before a hub give when its answer does not come.
    private static let statusesWithoutAnswer: Set<Int64> = [499, 520, 522, 524]

    let id: String
    /// True if devices were, or may have been, reached.
    let reaches: Bool
    private let doubted: Set<Int64>
    private let hasCalls: Bool
    private let isAmbiguous: Bool
    private let attempts: [Attempt]
    /// Of a replay, the calls that it repeats. Nil for all.
    private var repeated: Set<Int64>?

    init?(_ result: ResultRecord) {
        var document = JSONDocument()
        guard document.readResult(result.json.span) else { return nil }
        let root = document.root
        id = document.text("result_id", of: root) ?? ""
        isAmbiguous = result.outcome == Outcome.ambiguous.rawValue
        let targets = document.member("targets", of: root)
        reaches = ["accepted", "ambiguous"].contains { (name: StaticString) in
            targets.flatMap { document.integer(name, of: $0) } ?? 0 > 0
        }
        var (callCount, doubted) = (0, Set<Int64>())
        if let sends = document.member("sends", of: root) {
            document.forEachElement(of: sends) { send in
                callCount += 1
                if document.text("outcome", of: send) == Outcome.ambiguous.rawValue,
                    let index = document.integer("index", of: send)
                {
                    doubted.insert(index)
                }
            }
        }
        hasCalls = callCount > 0
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
        if let replay = document.member("replay", of: root), let sends = document.member("sends", of: replay) {
            var calls: Set<Int64> = []
            document.forEachElement(of: sends) { if let index = document.integer(at: $0) { calls.insert(index) } }
            repeated = calls
        }
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
    func isInDoubt(after replay: Sending) -> Bool {
        guard replay.reaches else { return false }
        guard hasCalls else { return isAmbiguous }
        return replay.repeated.map { !doubted.isDisjoint(with: $0) } ?? !doubted.isEmpty
    }
}
