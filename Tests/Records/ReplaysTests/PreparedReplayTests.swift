import Delivery
import FanOut
import Foundation
import Kafka
import PushModel
import Replay
import ReplayStage
import Testing

@testable import JobSupport
@testable import Replays

/// What is known of a plan before it is run.
@Suite struct PreparedReplayTests {
    /// A broker, and a plan of two requests of which the second stands in a partition that is no more.
    private static func stage(publishedAt time: Int64? = nil) throws -> ReplayBroker {
        let broker = try ReplayBroker()
        try broker.write("{}", to: broker.topics.requests)
        var header = ReplayBroker.header()
        header.reason = "planned"
        header.tenant = "acme"
        header.counts.requests = 2
        let items = [Int32(0), 7].enumerated().map { number, partition in
            let place = RecordPlace(topic: broker.topics.requests, partition: partition, offset: 0)
            let published = time.map { Timestamp(milliseconds: $0) }
            return ReplayItem(number: number, requestID: "r\(number)", place: place, publishedAt: published, sends: .all).json
        }
        try Data(([header.json] + items).joined(separator: [UInt8(ascii: "\n")])).write(to: URL(filePath: broker.path))
        return broker
    }

    private static func write(_ state: JobRecord.State, digest: String, to broker: ReplayBroker) throws {
        var record = JobRecord(jobID: "job", state: state)
        record.planDigest = digest
        var batch = JobBatch(jobID: "job", first: 0)
        batch.addReplayed(.all, of: Original(at: RecordPlace(topic: "t", partition: 0, offset: 0)))
        batch.addSkipped(1, .expired)
        for json in [batch.json, record.json] {
            try broker.write(String(decoding: json, as: UTF8.self), to: broker.topics.replays)
        }
    }

    @Test func aPlanThatWasNeverRunHasNoJobAndKnowsWhatIsGone() throws {
        let broker = try Self.stage()
        let replay = try PreparedReplay(path: broker.path, reason: nil, actor: nil, broker.context())
        #expect(replay.job == nil && !replay.isFinished && replay.gone.samples.map(\.requestID) == ["r1"])
        #expect(replay.header.reason == "planned" && replay.header.actor == "ann")
    }

    /// A plan of before has no times, and one record tells the log from another.
    @Test(
        arguments: [
            (nil, ["r1"]), (ReplayBroker.now, ["r1"]), (ReplayBroker.now - 1, ["r0", "r1"]),
        ] as [(Int64?, [String])])
    func aTopicThatWasMadeAgainIsNamedBeforeTheRun(publishedAt: Int64?, gone: [String]) throws {
        let broker = try Self.stage(publishedAt: publishedAt)
        let replay = try PreparedReplay(path: broker.path, reason: nil, actor: nil, broker.context())
        #expect(replay.gone.samples.map(\.requestID) == gone)
        #expect(replay.gone.remade.map(\.partition) == (gone.count == 2 ? [0] : []))
    }

    @Test func aRunnerHasTheReasonTheActorAndTheTenant() throws {
        let broker = try Self.stage()
        let replay = try PreparedReplay(path: broker.path, reason: "outage", actor: "key-1", broker.context())
        let claim = replay.runner(broker.context(), FanOutPlanner.Configuration(), rate: 5).claim
        #expect(claim.reason == "outage" && claim.actor == "key-1" && claim.tenant == "acme" && claim.rate == 5)
        #expect(claim.planDigest == replay.digest && claim.requests == 2)
        var document = JSONDocument()
        try document.read(claim.json.span)
        #expect(JobRecord(document)?.tenant == "acme")
    }

    @Test func aFinishedJobHasNothingMissingAndItsLeftovers() throws {
        let broker = try Self.stage()
        try Self.write(.done, digest: try ReplayPlanReader.digest(broker.path), to: broker)
        let replay = try PreparedReplay(path: broker.path, reason: nil, actor: nil, broker.context())
        #expect(replay.isFinished && replay.gone.count == 0)
        var leftovers = try replay.leftovers()
        #expect(try leftovers.next()?.word == "expired")
        #expect(try leftovers.next() == nil)
    }

    @Test func whatARunHasDealtWithIsNotMissed() throws {
        let broker = try Self.stage()
        try Self.write(.interrupted, digest: "", to: broker)
        let replay = try PreparedReplay(path: broker.path, reason: nil, actor: nil, broker.context())
        #expect(!replay.isFinished && replay.job?.next == 2 && replay.gone.count == 0)
    }

    @Test func aFinishedJobOfAnotherPlanIsRefused() throws {
        let broker = try Self.stage()
        try Self.write(.done, digest: "other", to: broker)
        let context = broker.context()
        do {
            _ = try PreparedReplay(path: broker.path, reason: nil, actor: nil, context)
            Issue.record("it was taken")
        } catch {
            guard case .room(let failure as ReplayFailure) = error, case .otherPlan("job") = failure else { throw error }
        }
    }

    @Test func statesOfJobsAreReadWithoutWhatTheyHaveRepeated() throws {
        let broker = try Self.stage()
        try Self.write(.done, digest: "", to: broker)
        let (all, states) = (try broker.context().jobLog(), try broker.context().jobStates())
        for log in [all, states] {
            let job = try #require(log.jobs["job"])
            #expect(job.skippedCounts == [.expired: 1] && job.next == 2 && job.skipped.isEmpty && log.end == 2)
        }
        #expect(all.history.places.count == 1 && states.history.places.isEmpty)
        #expect(try broker.context().job("job")?.skipped == [1: .expired])
        #expect(try broker.context().job("another") == nil)
    }
}
