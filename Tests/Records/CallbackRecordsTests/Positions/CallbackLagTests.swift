import JobSupport
import Kafka
import TestSupport
import Testing

@testable import CallbackRecords

@Suite(.tags(.threads)) struct CallbackLagTests {
    @Test func eachReceiverIsMeasuredByItsOwnPosition() throws {
        let broker = try CallbackBroker()
        try broker.writeResults(3, partition: 0, at: CallbackBroker.now - 9000)
        try broker.writeResults(5, partition: 1, at: CallbackBroker.now - 4000)
        try broker.write(CallbackBroker.result("1"), to: broker.topics.replays, key: "shop")
        let keeper = GroupPositionKeeper(broker.kafka, topics: broker.topics, transactionalID: nil, timeout: farDeadline)
        try keeper.save("level", at: [partition(0): 3, partition(1): 5, partition(0, of: broker.topics.replays): 1])
        try keeper.save("late", at: [partition(0): 1, partition(1): 5])
        try keeper.save("later", at: [partition(0): 3, partition(1): 1])
        let found = try CallbackLag(broker.topics, by: broker.context).standings(of: ["level", "late", "later", "new"])
        #expect(found.map(\.receiver) == ["level", "late", "later", "new"])
        #expect(found.map(\.hasBegun) == [true, true, true, false])
        #expect(found.map(\.behind) == [0, 2, 4, 0])
        #expect(found.map(\.replaysBehind) == [0, 1, 1, 1])
        #expect(found.map(\.margin) == [nil, 1, 1, nil])
        #expect(found.map(\.lost) == [0, 0, 0, 0])
        // A busy machine may not get to the ages in time.
        for (standing, oldest) in zip(found, [nil, CallbackBroker.now - 9000, CallbackBroker.now - 4000, nil]) {
            #expect(standing.oldest == nil || standing.oldest == oldest)
        }
    }

    @Test func withoutResultsNothingIsSaid() throws {
        let broker = try CallbackBroker()
        broker.cluster.setTopic(broker.topics.results, isMissing: true)
        #expect(throws: JobFailure.self) { try CallbackLag(broker.topics, by: broker.context).standings(of: ["shop"]) }
    }
}

@Suite struct CallbackStandingTests {
    private static let day: Int64 = 86_400_000

    @Test(arguments: [
        (position: Int64(0), low: Int64(0), high: Int64(0), behind: Int64(0), lost: Int64(0), margin: Int64?.none),
        (position: 5, low: 2, high: 9, behind: 4, lost: 0, margin: 3),
        (position: 5, low: 5, high: 9, behind: 4, lost: 0, margin: 0),
        (position: 1, low: 5, high: 9, behind: 4, lost: 4, margin: 0),
        (position: 12, low: 5, high: 9, behind: 0, lost: 0, margin: nil),
        (position: -7, low: 5, high: 9, behind: 4, lost: 5, margin: 0),
        (position: 1, low: 9, high: 9, behind: 0, lost: 8, margin: nil),
    ])
    func aPartitionCountsFromWhatIsLeft(
        position: Int64, low: Int64, high: Int64, behind: Int64, lost: Int64, margin: Int64?
    ) {
        var standing = CallbackStanding("shop")
        standing.add(position: position, low: low, high: high)
        #expect(standing.hasBegun && standing.behind == behind && standing.lost == lost && standing.margin == margin)
    }

    @Test func endlessNumbersStopNothing() {
        var standing = CallbackStanding("shop")
        for _ in 0..<3 {
            standing.add(position: 0, low: .max, high: .max)
            standing.add(position: 0, low: 0, high: .max)
            standing.addReplays(position: nil, low: 0, high: .max)
        }
        standing.note(waitingSince: .min)
        standing.measure(kept: day, now: .max)
        #expect(standing.behind == .max && standing.lost == .max && standing.replaysBehind == .max && standing.left == 0)
    }

    private var day: Int64 { Self.day }

    @Test(arguments: [
        (age: Int64(0), isShort: false, isUrgent: false), (age: 10, isShort: false, isUrgent: false),
        (age: 11, isShort: true, isUrgent: false), (age: 13, isShort: true, isUrgent: false),
        (age: 14, isShort: true, isUrgent: true), (age: 20, isShort: true, isUrgent: true),
    ])
    func whatRetentionIsAboutToOvertakeIsTold(age: Int64, isShort: Bool, isUrgent: Bool) {
        var standing = CallbackStanding("shop")
        standing.add(position: 0, low: 0, high: 1)
        standing.note(waitingSince: 100 * day - age * day)
        standing.measure(kept: 14 * day, now: 100 * day)
        #expect(standing.isShort == isShort && standing.isUrgent == isUrgent)
    }

    @Test func whereNothingWaitsNothingIsOvertaken() {
        var standing = CallbackStanding("shop")
        standing.add(position: 3, low: 0, high: 3)
        standing.measure(kept: day, now: 100 * day)
        #expect(standing.left == day && !standing.isShort)
        standing.measure(kept: nil, now: 0)
        #expect(!standing.isShort && !standing.isUrgent)
    }
}
