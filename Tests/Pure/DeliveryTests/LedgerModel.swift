import Delivery
import TestSupport

/// A partition, a worker that reads it with a ledger, and what must hold of them whatever happens: kept with sets, without a
/// window, a ring or a bitmap.
struct LedgerModel {
    /// One thing that happens; the number chooses where or how much.
    struct Step: ShrinkableStep, CustomStringConvertible {
        enum Kind: CaseIterable {
            /// Records are written behind the last one.
            case append
            /// Offsets without records: markers, aborted or compacted records.
            case gap
            /// A record is deleted before or after it was read.
            case delete
            /// Records are read.
            case receive
            /// A record in work gets its outcome.
            case finish
            /// An outcome is reported for any offset.
            case finishAnything
            /// The consumer says that it has read everything.
            case reachEnd
            /// Outcomes and position become durable.
            case commit
            /// The transaction aborts; nothing becomes durable, and the worker goes on.
            case abort
            /// The worker dies; another begins where the last commit says.
            case crash
            /// The commit is made, and the worker dies before it hears of it.
            case commitAndCrash
        }
        var kind: Kind
        var value: Int
        var description: String { "\(kind) \(value)" }
        var simpler: [Step] { [0, 1, 2, 3, 5].filter { $0 < value }.map { Step(kind: kind, value: $0) } }
    }

    /// A fault put into the worker on purpose, to see that the checks find it.
    enum Sabotage: CaseIterable {
        case none, forgetsTheMap, finishesEarly, dropsTheParked
    }

    private let sabotage: Sabotage
    private var window: Int
    private var ledger: OffsetLedger
    // The partition: records that were not committed yet, in order; `cursor` is the index of the next to read.
    private var log: [Int64] = []
    private var end: Int64 = 0
    private var cursor = 0
    // The worker.
    private var inWork: [Int64] = []
    private var outbox: [Int64] = []
    private var parked: Int64?
    // What is durable.
    private var committed = LedgerCommit(offset: 0, metadata: "")
    private var published: Set<Int64> = []

    init(window: Int, _ sabotage: Sabotage = .none) {
        self.window = window
        self.sabotage = sabotage
        ledger = OffsetLedger(start: 0, window: window)
    }

    /// Plays `steps`, then lets the worker finish everything.
    ///
    /// - Returns: What is wrong, or nil.
    static func fault(of steps: [Step], window: Int, _ sabotage: Sabotage = .none) -> String? {
        var model = LedgerModel(window: window, sabotage)
        for step in steps {
            if let fault = model.take(step) ?? model.faultOfState() { return fault }
        }
        return model.finishAll()
    }

    private mutating func take(_ step: Step) -> String? {
        switch step.kind {
        case .append:
            for _ in 0...step.value % 12 {
                log.append(end)
                end += 1
            }
        case .gap: end += Self.width(step.value)
        case .delete:
            guard !log.isEmpty else { return nil }
            let index = step.value % log.count
            log.remove(at: index)
            if index < cursor { cursor -= 1 }
        case .receive:
            for _ in 0...(step.value % 4 == 0 ? step.value % 20 : 0) {
                if let fault = receive() { return fault }
            }
        case .finish: if !inWork.isEmpty { finish(step.value % inWork.count) }
        case .finishAnything:
            let offset = end - Int64(step.value % 40_000)
            if !inWork.contains(offset) { ledger.finished(offset) }
        case .reachEnd: if cursor == log.count && parked == nil { ledger.reachedEnd(end) }
        case .commit: return commit()
        case .abort: _ = ledger.commit()
        case .crash: return restart(step.value)
        case .commitAndCrash: return commit() ?? restart(step.value)
        }
        return nil
    }

    private static func width(_ value: Int) -> Int64 {
        let wide: [Int64] = [60, 64, 200, 16_383, 16_384, 20_000, 1_000_000]
        return value % 50 < wide.count ? wide[value % 50] : Int64(1 + value % 3)
    }

    private mutating func receive() -> String? {
        guard let offset = parked ?? (ledger.hasRoom && cursor < log.count ? log[cursor] : nil) else { return nil }
        if parked == nil { cursor += 1 }
        parked = nil
        switch ledger.received(offset) {
        case .process:
            if published.contains(offset) { return "\(offset) is worked on again" }
            inWork.append(offset)
            if sabotage == .finishesEarly { ledger.finished(offset) }
        case .alreadyFinished:
            if !published.contains(offset) { return "\(offset) was dropped without an outcome" }
        case .beyondWindow:
            if inWork.isEmpty { return "\(offset) waits for nothing" }
            if sabotage != .dropsTheParked { parked = offset }
        }
        return nil
    }

    private mutating func finish(_ index: Int) {
        let offset = inWork.remove(at: index)
        ledger.finished(offset)
        outbox.append(offset)
    }

    private mutating func commit() -> String? {
        let commit = ledger.commit()
        if commit.metadata.utf8.count > 2735 { return "the metadata has \(commit.metadata.utf8.count) characters" }
        for offset in outbox where !published.insert(offset).inserted { return "\(offset) has two outcomes" }
        outbox.removeAll()
        for offset in inWork where offset < commit.offset { return "\(commit.offset) is committed while \(offset) is in work" }
        while let first = log.first, first < commit.offset {
            if !published.contains(first) { return "\(commit.offset) is committed and \(first) has no outcome" }
            log.removeFirst()
            cursor -= 1
        }
        if commit.offset < committed.offset { return "the committed position went back from \(committed.offset)" }
        if commit.offset > end { return "\(commit.offset) is committed beyond the end" }
        committed = commit
        if sabotage == .forgetsTheMap { committed.metadata = "" }
        return nil
    }

    private mutating func restart(_ value: Int) -> String? {
        guard let finished = try? FinishedOffsets(decoding: committed.metadata) else { return "the metadata cannot be read" }
        if value % 4 == 0 { window = [16, 17, 100, 16_384][value / 4 % 4] }
        ledger = OffsetLedger(start: committed.offset, finished: finished, window: window)
        inWork.removeAll()
        outbox.removeAll()
        parked = nil
        cursor = log.firstIndex { $0 >= committed.offset } ?? log.count
        return ledger.commit() == committed ? nil : "\(committed) is restored as \(ledger.commit())"
    }

    private func faultOfState() -> String? {
        if sabotage == .finishesEarly { return nil }
        if ledger.unfinishedCount != inWork.count { return "\(ledger.unfinishedCount) are counted, \(inWork.count) are in work" }
        if ledger.lowWaterMark > ledger.position { return "the mark is beyond the position" }
        if !ledger.hasRoom && inWork.isEmpty { return "there is no room and nothing in work" }
        return nil
    }

    /// Reads, finishes and commits until nothing is left; then every record has its outcome.
    private mutating func finishAll() -> String? {
        while cursor < log.count || parked != nil || !inWork.isEmpty {
            let before = (cursor, parked, inWork.count)
            if let fault = receive() { return fault }
            if !inWork.isEmpty && before == (cursor, parked, inWork.count) { finish(inWork.count / 2) }
            if before == (cursor, parked, inWork.count) { return "nothing moves, with \(log.count - cursor) left to read" }
        }
        if let fault = commit() ?? faultOfState() { return fault }
        if let first = log.first(where: { !published.contains($0) }) { return "\(first) never got an outcome" }
        return nil
    }
}

extension LedgerModel {
    /// A random history.
    static func steps(_ count: Int, using random: inout SeededRandom) -> [Step] {
        // Some histories read faster than they finish, some crash often, some are full of gaps.
        let weights: [(Step.Kind, Int)] = [
            (.append, 8), (.gap, [0, 1, 6][random.below(3)]), (.delete, random.below(3)), (.receive, 30),
            (.finish, [10, 30, 60][random.below(3)]), (.finishAnything, 1), (.reachEnd, 1), (.commit, [1, 8][random.below(2)]),
            (.abort, 1), (.crash, random.below(3)), (.commitAndCrash, 1),
        ]
        let kinds = weights.flatMap { Array(repeating: $0.0, count: $0.1) }
        return (0..<count).map { _ in Step(kind: kinds[random.below(kinds.count)], value: random.below(1 << 20)) }
    }
}
