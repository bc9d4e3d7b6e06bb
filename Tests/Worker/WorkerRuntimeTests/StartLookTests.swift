import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Partitions whose records say where they begin, and do not come at once.
@Suite(.serialized, .tags(.waits, .threads))
struct StartLookTests {
    private static func request(_ name: String, _ fields: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(fields)}"#
    }

    private static func readings(_ bench: Bench, of topic: String) -> [LoopStatus.Reading] {
        bench.status.statuses.flatMap(\.partitions).filter { $0.topic == topic }.compactMap(\.reading)
    }

    private static func groupReason(_ worker: RunningWorker) -> String {
        worker.report(.ready).checks.first { $0.name == "group" }?.reason ?? ""
    }

    /// Puts the group behind the third record of a partition, whose last one it remembers as it is, or as it is not there any more.
    private static func stand(_ bench: Bench, in partition: Int32, isLost: Bool) throws {
        let all = try bench.readAll(bench.topics.requests)
        let records = all.filter { $0.partition == partition }
        let (first, last) = (try #require(records.first), try #require(records.last))
        let value = Array("lost".utf8)
        let lost = RecordMark(offset: last.offset, time: last.mark.time, key: nil, value: value.span)
        var finished = FinishedOffsets()
        finished.marks = ReadMarks(first.mark)
        finished.marks?.read(isLost ? lost : last.mark)
        let consumer = try Consumer(bench.kafka, groupID: bench.name, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(2)) }
        let id = TopicPartition(topic: bench.topics.requests, partition: partition)
        let commit = OffsetCommit(id, offset: last.offset + 1, metadata: finished.encoded())
        #expect(eventually { (try? consumer.group.commit([commit])) != nil })
    }

    /// Nobody answers whether the last record that was read is there, for longer than an assignment waits. Then it is there, or it is not.
    @Test(arguments: [false, true])
    func aPartitionWhoseLastRecordNobodyShowsWaitsForItAndTheOthersGoOn(isLost: Bool) throws {
        let bench = try Bench(.embedded, partitions: 2)
        let cluster = try #require(bench.cluster)
        let away = TopicPartition(topic: bench.topics.requests, partition: 0)
        for partition in [0, 1] as [Int32] {
            try bench.publish(all: (0..<3).map { Self.request("old\(partition)-\($0)") }, partition: partition)
            try Self.stand(bench, in: partition, isLost: isLost && partition == 0)
        }
        try bench.publish(all: [Self.request("waits")], partition: 0)
        cluster.setLeader(of: away, to: nil)
        let worker = try bench.startWorker()
        #expect(eventually { Self.groupReason(worker).contains("where \(away) begins depends on records") })
        #expect(eventually { Self.readings(bench, of: away.topic).map(\.total) == [1] })
        try bench.publish(all: [Self.request("other")], partition: 1)
        try bench.results(1)
        #expect(Self.groupReason(worker).contains("0 of 1 records read"))
        cluster.setLeader(of: away, to: 1)
        if isLost {
            #expect(eventually { Self.groupReason(worker).contains("group start --at finished --replace \(away.topic):0") })
        } else {
            try bench.results(2)
            #expect(eventually { worker.report(.ready).passes })
        }
        #expect(eventually { Self.readings(bench, of: away.topic).isEmpty })
        try worker.stop()
        #expect(Set(try bench.resultsByRequest().keys) == (isLost ? ["other"] : ["other", "waits"]))
        #expect(bench.hub.calls().count == (isLost ? 1 : 2))
    }

    /// Writes requests of another group that wait into a delay lane, each in a batch of its own; behind them perhaps one of the group.
    private static func fillLane(_ bench: Bench, count: Int, endsWithOurs: Bool) throws {
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [bench.topics.delays[0]], timeout: farDeadline).first)
        let (name, value) = (Array("pushfan-group".utf8), Array(Self.request("foreign").utf8))
        for number in 0..<count + (endsWithOurs ? 1 : 0) {
            let group = Array((number < count ? "another-group" : bench.name).utf8)
            var headers = HeaderList()
            headers.append(name: name.span, value: group.span)
            try producer.produce(to: topic, partition: 0, key: nil, value: value.span, headers: headers)
            try producer.flush(timeout: farDeadline)
        }
    }

    /// The embedded broker answers a fetch with one batch, and here each of its answers takes 200 ms: to read the lane takes far longer than
    /// an assignment waits for it.
    @Test(arguments: [false, true])
    func aDelayLaneThatIsLongToReadHoldsUpNothingAndIsReadToItsEnd(endsWithOurs: Bool) throws {
        let bench = try Bench(.embedded, partitions: 1)
        let cluster = try #require(bench.cluster)
        let lane = bench.topics.delays[0]
        try Self.fillLane(bench, count: 200, endsWithOurs: endsWithOurs)
        cluster.setBroker(1, roundTripTime: .milliseconds(200))
        let worker = try bench.startWorker { $0.start = .safe }
        #expect(eventually { Self.readings(bench, of: lane).contains { $0.count > 0 && $0.total >= 200 } })
        #expect(eventually { worker.report(.ready).passes }, "requests are sent")
        try bench.publish(all: [Self.request("now")])
        try bench.results(1)
        cluster.setBroker(1, roundTripTime: .zero)
        #expect(eventually { bench.status.statuses.flatMap(\.partitions).allSatisfy { $0.reading == nil } })
        if endsWithOurs {
            #expect(eventually { Self.groupReason(worker).contains("\(lane)[0] (201), where the group") })
        } else {
            // The lane is read: what waits in it goes on.
            var moment = ByteWriter()
            moment.append(Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 20_000))
            try bench.publish(all: [Self.request("late", #","not_before":"\#(moment.text)""#)])
            #expect(bench.passTime(by: .milliseconds(100)) { bench.hub.calls().count == 2 })
            #expect(worker.report(.ready).passes)
        }
        try worker.stop()
        #expect(bench.hub.calls().count == (endsWithOurs ? 1 : 2))
    }
}
