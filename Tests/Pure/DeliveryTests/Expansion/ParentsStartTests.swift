import Delivery
import PushModel
import TestSupport
import Testing

/// Where large requests go on when records and results say which of them are finished.
struct ParentsStartTests {
    private enum Record {
        case parent(String), part(String, Int), deleted(String)
    }

    /// Takes records of requests of two parts, one at each offset, and then results.
    private static func outcome(_ records: [Record], high: Int64? = nil, results: [String] = []) -> ParentsStart.Outcome {
        var start = ParentsStart(low: 0, high: high ?? Int64(records.count))
        for (number, record) in records.enumerated() {
            let offset = Int64(number)
            switch record {
            case .parent(let name): _ = start.opened(ParentKey(name), chunks: 2, at: offset)
            case .part(let name, let chunk): _ = start.notePart(ParentKey(name), chunk: chunk, at: offset)
            case .deleted(let name): start.deleted(ParentKey(name), at: offset)
            }
        }
        for name in results { start.finish(ParentKey(name)) }
        return start.outcome()
    }

    private static func whole(_ name: String) -> [Record] { [.parent(name), .part(name, 0), .part(name, 1)] }

    private static func digest(_ name: String) -> String { String(ParentKey(name).digest, radix: 16) }

    /// The outcome as text: the position and its metadata, and how many lie before, are finished behind, are repeated, and wait.
    private static func text(_ outcome: ParentsStart.Outcome) -> String {
        let counts = [outcome.passedCount, outcome.aheadCount, outcome.repeatedCount, outcome.waitingCount].map { "\($0)" }
        return "\(outcome.commit.offset) [\(outcome.commit.metadata)] " + counts.joined(separator: " ")
    }

    @Test func nothingWaitsInAnEmptyPartition() {
        #expect(Self.text(Self.outcome([])) == "0 [0] 0 0 0 0")
    }

    @Test func whatHasItsResultOrIsDeletedLiesBefore() {
        let records = Self.whole("a") + Self.whole("b") + [.deleted("b")]
        #expect(Self.text(Self.outcome(records, results: ["a"])) == "7 [7] 2 0 0 0")
        #expect(Self.text(Self.outcome(records, results: ["a", "b", "foreign"])) == "7 [7] 2 0 0 0")
    }

    @Test func whatHasEndedWithoutAResultIsNamed() {
        let records = Self.whole("a") + Self.whole("b") + Self.whole("c")
        #expect(Self.text(Self.outcome(records, results: ["a", "c"])) == "3 [9 \(Self.digest("b"))] 1 1 0 1")
    }

    @Test func whatHasPartsToGoStaysOpen() {
        let records = Self.whole("a") + [.parent("b"), .part("b", 1)] + Self.whole("c")
        #expect(Self.text(Self.outcome(records, results: ["a", "c"])) == "3 [8] 1 1 0 1")
    }

    @Test func whatIsWrittenMeanwhileIsNotTaken() {
        let records = Self.whole("a") + Self.whole("b") + [.deleted("a")]
        #expect(Self.text(Self.outcome(records, high: 3)) == "0 [3 \(Self.digest("a"))] 0 0 0 1")
    }

    /// A position names a hundred requests; from the next one on it is unknown what is finished, but for what was deleted.
    @Test func whatAPositionCannotNameIsCounted() {
        let records = (0..<102).flatMap { Self.whole("n\($0)") } + Self.whole("told") + Self.whole("gone") + [.deleted("gone")]
        let outcome = Self.outcome(records, results: ["told"])
        #expect(
            outcome.commit.offset == 0 && outcome.commit.metadata.hasPrefix("302 ") && outcome.commit.metadata.hasSuffix(",u313"))
        #expect(outcome.commit.metadata.split(separator: ",").count == 101)
        #expect(outcome.waitingCount == 102 && outcome.repeatedCount == 1 && outcome.aheadCount == 1 && outcome.passedCount == 0)
    }

    /// Whoever begins there writes what is missing, and nothing else.
    @Test func theNextOwnerFinishesWhatHasNoResult() {
        let records = Self.whole("a") + Self.whole("b") + [.parent("c"), .part("c", 0)] + Self.whole("d")
        let position = Self.outcome(records, results: ["a", "d"]).commit
        var parents = OpenParents(start: position.offset, metadata: position.metadata)
        var finished: [ParentKey] = []
        for (number, record) in (records + [.part("c", 1)]).enumerated() where Int64(number) >= position.offset {
            let offset = Int64(number)
            switch record {
            case .parent(let name): parents.opened(ParentKey(name), record: [], chunks: 2, at: offset, timestamp: 0)
            case .part(let name, let chunk):
                let tally = PartTally(chunk: chunk, state: .sent, outcome: .success)
                if let end = parents.notePart(ParentKey(name), tally: tally, at: offset) { finished.append(end.key) }
            case .deleted(let name): parents.deleted(ParentKey(name), at: offset)
            }
        }
        #expect(finished == [ParentKey("b"), ParentKey("c")] && parents.takeUnfinished() == nil)
    }
}
