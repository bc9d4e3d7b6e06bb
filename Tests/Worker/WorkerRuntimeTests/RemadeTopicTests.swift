import Delivery
import HubEmulator
import Kafka
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Topics that are deleted and made again while a worker runs, so that other records have the places of those that it knows.
@Suite(.needsKafka, .serialized, .tags(.waits, .threads))
struct RemadeTopicTests {
    private static func requests(_ names: Range<Int>) -> [String] { names.map { Deletion.request("n\($0)") } }

    /// Deletes a topic under a worker, waits until the worker says so, and makes it again.
    private static func remake(_ topic: String, _ bench: Bench) throws {
        try Deletion.delete([topic], bench)
        // The worker says so, or the group has taken the partition away.
        let words = ["may not be those that were read", "partitions were taken away", "partitions are taken away"]
        #expect(eventually { bench.logLines.all.contains { line in words.contains { line.contains($0) } } })
        try bench.create(topic)
        // A producer may have heard that the topic is missing.
        #expect(eventually { (try? bench.publish(all: requests(99..<100))) != nil })
    }

    /// The new topic is soon longer than the old one was.
    @Test(arguments: [3, 12])
    func eachRequestOfATopicThatIsMadeAgainIsSentOnce(before: Int) throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(all: Self.requests(0..<before))
        try bench.results(before)
        try Self.remake(bench.topics.requests, bench)
        try bench.publish(all: Self.requests(100..<160))
        try bench.results(before + 61)
        try worker.stop()
        #expect(try Deletion.areAllSent(bench))
        #expect(bench.tags.count == before + 61, "nothing is sent twice")
        #expect(try bench.committed()?.offset == 61)
    }

    /// The first request is in flight, so that the group's position is 0.
    @Test func eachRequestIsSentWhereTheFirstOneOfTheOldTopicIsInFlight() throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        bench.gate.close()
        try bench.publish(all: Self.requests(0..<1))
        #expect(eventually { bench.status.statuses.contains { $0.partitions.contains { $0.inWork == 1 } } })
        try Self.remake(bench.topics.requests, bench)
        try bench.publish(all: Self.requests(100..<110))
        bench.gate.open()
        #expect(eventually { Set(bench.tags).isSuperset(of: (100..<110).map { "n\($0)" }) })
        #expect(try eventually { Set(try bench.resultsByRequest().keys).isSuperset(of: (100..<110).map { "n\($0)" }) })
        try worker.stop()
        #expect(try bench.committed()?.offset == 11)
    }

    private static func waiting(_ names: Range<Int>, _ bench: Bench, isOrdered: Bool) -> [String] {
        names.map { Deletion.request("n\($0)", (isOrdered ? #","ordering_key":"k\#($0)""# : "") + Deletion.wait(20_000, bench)) }
    }

    /// What waits in a delay lane, or for its key's turn, where six waited and were sent before the topic was made again.
    @Test(arguments: [false, true])
    func whatWaitsInATopicThatIsMadeAgainIsSentOnce(isOrdered: Bool) throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        func send(_ names: Range<Int>, of all: Int) throws {
            try bench.publish(all: Self.waiting(names, bench, isOrdered: isOrdered))
            #expect(eventually { bench.metric("pushfan_delayed_total") >= Double(all - 1) })
            #expect(bench.passTime(by: .milliseconds(100)) { bench.metric("pushfan_requests_finished_total") >= Double(all) })
            try bench.results(all)
        }
        try send(0..<6, of: 6)
        try Self.remake(isOrdered ? bench.topics.held : bench.topics.delays[0], bench)
        try bench.results(7)
        try send(100..<130, of: 37)
        try worker.stop()
        #expect(try Deletion.areAllSent(bench))
        #expect(bench.tags.count == 37, "nothing is sent twice")
    }

    private static func large(_ id: String) -> String {
        let names = (0..<300).map { "\"\(id)-u\($0)\"" }.joined(separator: ",")
        return #"{"id":"\#(id)","audience":{"users":[\#(names)]},"message":{"title":"T"}}"#
    }

    /// Parts, and what is kept of their wholes, in topics that are made again between two large requests.
    @Test(arguments: [false, true])
    func largeRequestsHaveTheirResultsWhereATopicOfTheirsIsMadeAgain(isOfParents: Bool) throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(all: [Self.large("a"), Self.large("b")])
        try bench.results(8)
        try Self.remake(isOfParents ? bench.topics.parents : bench.topics.requestsOwn, bench)
        try bench.publish(all: ["c", "d", "e"].map(Self.large))
        try bench.results(21)
        try worker.stop()
        #expect(try Deletion.areAllSent(bench))
        #expect(Set(try bench.resultsByRequest().keys).isSuperset(of: ["a", "b", "c", "d", "e"]))
        // Each part of five requests goes to three platforms, and one request to one.
        #expect(bench.tags.count == 226, "nothing is sent twice")
    }
}
