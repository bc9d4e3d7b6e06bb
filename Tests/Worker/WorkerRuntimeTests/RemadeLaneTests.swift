import Delivery
import HubEmulator
import Kafka
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Delay lanes that are deleted and made again while a worker runs.
@Suite(.needsKafka, .serialized, .tags(.waits, .threads))
struct RemadeLaneTests {
    /// Without any lane a request waits in memory, and others go on. It goes to a lane that is made again, with fewer or more partitions.
    @Test(arguments: [1, 8])
    func lanesThatAreAllDeletedHoldUpNoOtherAndAreUsedWhenTheyAreMadeAgain(partitions: Int) throws {
        let bench = try Bench(.real, partitions: 4)
        let worker = try bench.startWorker()
        try Self.deleteLanes(of: bench, thenMakeOneWith: partitions)
        try worker.stop()
        #expect(bench.tags.count == 11)
        #expect(try Deletion.areAllSent(bench))
    }

    @Test(.takesLong, arguments: [1, 8])
    func theNextWorkerReadsALaneThatWasMadeAgain(partitions: Int) throws {
        let bench = try Bench(.real, partitions: 4)
        let first = try bench.startWorker()
        try Self.deleteLanes(of: bench, thenMakeOneWith: partitions)
        try first.stop()
        let second = try bench.startWorker()
        #expect(bench.passTime(by: .milliseconds(100)) { bench.tags.contains("waits") }, "\(bench.logLines.all.suffix(20))")
        try bench.results(12)
        try second.stop()
        #expect(try bench.resultsByRequest().count == 12)
        #expect(try Deletion.areAllSent(bench))
        #expect(bench.tags.count == 12, "nothing is sent twice")
    }

    /// Deletes all lanes under a worker, gives it one request that waits and ten that do not, and makes a lane again, which the first goes to.
    private static func deleteLanes(of bench: Bench, thenMakeOneWith partitions: Int) throws {
        try bench.publish(Deletion.request("before"))
        try bench.results(1)
        try Deletion.delete(bench.topics.delays, bench)
        try bench.publish(Deletion.request("waits", Deletion.wait(120_000, bench)))
        try bench.publish(all: (0..<10).map { Deletion.request("other\($0)") })
        try bench.results(11)
        try bench.create(bench.topics.delays[1], partitions: partitions)
        #expect(try bench.read(bench.topics.delays[1], count: 1).count == 1)
    }
}

/// What tests of deleted topics have in common.
enum Deletion {
    static func request(_ name: String, _ fields: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(fields)}"#
    }

    /// What lets a request wait so many milliseconds from now on.
    static func wait(_ milliseconds: Int64, _ bench: Bench) -> String {
        var text = ByteWriter()
        text.append(Timestamp(milliseconds: bench.clock.millisecondsSince1970 + milliseconds))
        return #","not_before":"\#(text.text)""#
    }

    /// Deletes topics, and waits until a broker knows it: a controller confirms it before, and a request may still go to one of them.
    static func delete(_ topics: [String], _ bench: Bench) throws {
        let admin = try TopicAdmin(bench.kafka)
        let failed = try admin.deleteTopics(topics, timeout: farDeadline)
        try #require(failed.isEmpty, "\(failed)")
        let areGone = try eventually {
            try admin.describe(topics: topics, timeout: farDeadline).topics.allSatisfy { $0 == .missing }
        }
        try #require(areGone)
    }

    static func areAllSent(_ bench: Bench) throws -> Bool {
        try bench.resultsByRequest().values.allSatisfy { $0["state"] == "sent" }
    }
}
