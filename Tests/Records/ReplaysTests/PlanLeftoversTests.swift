import Foundation
import PushModel
import Replay
import ResultQuery
import TestSupport
import Testing

@testable import JobSupport
@testable import Replays

/// The requests that a plan and its runs have left, without a terminal and without Kafka.
@Suite struct PlanLeftoversTests {
    /// A plan of three requests, of which a fourth was left out.
    private static func plan() throws -> ReplayPlanReader {
        let header = ReplayPlanHeader(
            jobID: "job", createdAt: Timestamp(milliseconds: 1_795_262_400_000), filter: "", actor: "ann")
        func place(_ offset: Int64) -> RecordPlace { RecordPlace(topic: "t", partition: 0, offset: offset) }
        let items = (0..<3).map { number in
            ReplayItem(number: number, requestID: "r\(number)", place: place(Int64(number)), sends: .all).json
        }
        let left = ReplayLeft(reason: .gone, requestID: "r3", place: place(3), sends: .all).json
        let path = NSTemporaryDirectory() + "left-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(([header.json] + items + [left]).joined(separator: [UInt8(ascii: "\n")])).write(to: URL(filePath: path))
        return try ReplayPlanReader(path)
    }

    private static func words(_ job: JobLog.Job?) throws -> [String] {
        var leftovers = Leftovers(of: try plan(), job: job)
        var words: [String] = []
        while let row = try leftovers.next() { words.append("\(row.requestID) \(row.word)") }
        return words
    }

    @Test func aPlanThatWasNotRunHasAllItsRequestsOpen() throws {
        #expect(try Self.words(nil) == ["r0 open", "r1 open", "r2 open", "r3 gone"])
    }

    @Test func whatARunHasPassedOverIsLeftAndWhatItHasDoneIsNot() throws {
        var job = JobLog.Job(record: JobRecord(jobID: "job", state: .interrupted))
        job.next = 2
        job.skipped = [0: .expired]
        #expect(try Self.words(job) == ["r0 expired", "r2 open", "r3 gone"])
        job.next = 3
        #expect(try Self.words(job) == ["r0 expired", "r3 gone"])
    }

    /// Cursors come from callers, who may write any number.
    @Test(arguments: [Int64.max, .max - 1, 1 << 31, 1 << 20, -1, .min]) func aPlaceThatThePlanDoesNotHaveIsNoCursor(
        place: Int64
    ) throws {
        var leftovers = Leftovers(of: try Self.plan(), job: nil)
        let failure = #expect(throws: JobFailure.self) { try leftovers.skip(to: place) }
        guard case .cursor? = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
    }

    @Test(arguments: 1...4) func pagesOfAnySizeHaveEachRequestOnce(size: Int) throws {
        var (words, place): ([String], Int64?) = ([], nil)
        repeat {
            var leftovers = Leftovers(of: try Self.plan(), job: nil)
            if let place { try leftovers.skip(to: place) }
            place = nil
            var count = 0
            while let row = try leftovers.next() {
                guard count < size else {
                    place = leftovers.lineStart
                    break
                }
                words.append(row.requestID)
                count += 1
            }
        } while place != nil
        #expect(words == ["r0", "r1", "r2", "r3"])
    }

    @Test(arguments: [1, 7, 300]) func aPlaceWithinALineIsNoCursor(place: Int64) throws {
        var leftovers = Leftovers(of: try Self.plan(), job: nil)
        try leftovers.skip(to: place)
        #expect { while try leftovers.next() != nil {} } throws: { if case JobFailure.cursor = $0 { true } else { false } }
    }

    @Test(arguments: [
        ("hub:shop", true, true), ("state:expired", false, true), ("kind:final", true, false),
        ("state:sent kind:outcome", false, false),
    ])
    func aFilterIsNarrowedOnlyInWhatItDoesNotName(_ text: String, addsState: Bool, addsKind: Bool) throws {
        let filter = try ResultFilter(text, now: 1_795_262_400_000)
        let narrowed = PlanMaker.narrowed(filter).description
        #expect(narrowed.contains("state:failed") == addsState)
        #expect(narrowed.contains("kind:final,outcome") == addsKind)
    }
}
