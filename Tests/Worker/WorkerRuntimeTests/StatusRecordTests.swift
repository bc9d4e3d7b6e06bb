import Basics
import Delivery
import Foundation
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

@Suite struct StatusRecordTests {
    /// The size of a worker: how many loops it has, how many hubs and partitions each, and how long names and troubles are.
    struct Size: Sendable, CustomTestStringConvertible {
        var loops = 1
        var hubs = 1
        var partitions = 4
        var name = 8
        var trouble = 0
        /// The results in each bucket of times.
        var results: Int64 = 0

        var testDescription: String { "\(loops) loops, \(hubs) hubs, \(partitions) partitions, names of \(name), \(trouble)" }
    }

    private static let sizes = [
        Size(), Size(partitions: 0), Size(hubs: 0), Size(partitions: 5000), Size(hubs: 700, partitions: 700), Size(loops: 64),
        Size(loops: 64, hubs: 20, partitions: 300), Size(name: 249), Size(loops: 3, name: 128), Size(name: 10_000),
        Size(loops: 5, hubs: 5, partitions: 50, trouble: 3000), Size(results: 1 << 53), Size(loops: 64, results: 1 << 53),
        Size(loops: 5, hubs: 5, partitions: 50, trouble: 3000, results: 1 << 53),
    ]

    private static func status(_ number: Int, size: Size) -> LoopStatus {
        func name(_ kind: String, number: Int) -> String { kind + String(repeating: "é\"", count: size.name / 2) + "\(number)" }
        let trouble = size.trouble > 0 ? String(repeating: "\u{1}", count: size.trouble) : nil
        let partitions = (0..<size.partitions).map { partition in
            LoopStatus.Partition(
                topic: name("t", number: 0), partition: Int32(partition), position: 7, committed: 5, inWork: 1,
                oldest: partition % 3 == 0
                    ? .init(
                        offset: 5, publishedAt: Timestamp(milliseconds: Int64(1_000_000 - partition)), attempt: 1,
                        waitsFor: "hub",
                        nextDue: nil) : nil,
                left: partition == size.partitions - 1 ? .leaderAway : nil, reading: nil)
        }
        let hubs = (0..<size.hubs).map { hub in
            LoopStatus.Hub(
                name: name("h", number: hub), region: nil, isRetired: false, problem: trouble,
                circuit: hub == 3 ? "open" : "closed",
                circuitReason: trouble, circuitChange: nil, limit: 64, inFlight: 1, callCount: 5, waitingForTurn: 2,
                waitingForTimer: 3,
                ratePerSecond: nil, throttledMilliseconds: 0, throttledUntil: nil)
        }
        var latency = LatencyHistogram()
        for bound in LatencyHistogram.bounds { latency.add(size.results, upTo: bound) }
        return LoopStatus(
            worker: name("w", number: number), mode: "running", at: Timestamp(milliseconds: 2_000_000), hubs: hubs,
            finishedPerSecond: 1.5,
            finished: [.init(state: .sent, count: 10), .init(state: .failed, count: 1)], callCount: 12, latency: latency,
            lastRebalance: nil,
            lastCommit: nil, partitions: partitions, problem: trouble)
    }

    private static func read(
        _ bytes: [UInt8]
    ) throws -> (loops: [[String: Any]], omitted: [String: Any], times: [String: Int]) {
        let page = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        return (
            try #require(page["loops"] as? [[String: Any]]), page["omitted"] as? [String: Any] ?? [:],
            try #require(page["total_ms"] as? [String: Int])
        )
    }

    @Test(arguments: sizes)
    func aRecordIsSmallAndValidAndCountsWhatItLeavesOut(size: Size) throws {
        let statuses = (0..<size.loops).map { Self.status($0, size: size) }
        let bytes = StatusRecord(statuses, version: "1.2.3", hub: "hub").json
        #expect(bytes.count <= 4096)
        let (loops, omitted, times) = try Self.read(bytes)
        #expect(!loops.isEmpty || size.name > 1000 || size.trouble > 0)
        #expect(times.count == (size.results > 0 ? 56 : 0) && times.values.allSatisfy { $0 == Int(size.results) * size.loops })
        #expect(loops.count + (omitted["loops"] as? Int ?? 0) == size.loops)
        func total(_ counts: [Int?]) -> Int { counts.reduce(0) { $0 + ($1 ?? 0) } }
        #expect(total(loops.map { $0["calls"] as? Int }) + (omitted["calls"] as? Int ?? 0) == 12 * size.loops)
        let sent = (loops + [omitted]).map { ($0["finished"] as? [String: Int])?["sent"] }
        #expect(total(sent) == 10 * size.loops)
        for loop in loops {
            let (hubs, partitions) = (loop["hubs"] as? [Any], loop["partitions"] as? [Any])
            #expect(total([hubs?.count, loop["hubs_omitted"] as? Int]) == size.hubs)
            #expect(total([partitions?.count, loop["partitions_omitted"] as? Int]) == size.partitions)
        }
    }

    /// What has waited less than the rest, or has nothing to do, is no trouble, however much of it has no room.
    @Test func onlyWhatIsInTroubleAndHasNoRoomIsCountedAsTrouble() throws {
        func omitted(_ change: (inout LoopStatus) -> Void, loops: Int = 1) throws -> (ofLoop: Int?, ofOthers: Int?, named: Int) {
            var status = Self.status(0, size: Size(hubs: 3, partitions: 400))
            for place in status.partitions.indices { status.partitions[place].left = nil }
            change(&status)
            let record = StatusRecord(Array(repeating: status, count: loops), version: "1", hub: "h").json
            let (read, others, _) = try Self.read(record)
            let partitions = try #require(read.first?["partitions"] as? [[String: Any]])
            return (
                read.first?["troubles_omitted"] as? Int, others["troubles_omitted"] as? Int,
                partitions.count { $0["waits_for_leader"] != nil }
            )
        }
        #expect(try omitted { _ in } == (nil, nil, 0))
        let few = try omitted { for place in 0..<10 { $0.partitions[place].left = .leaderAway } }
        #expect(few == (nil, nil, 10))
        let all = try omitted { for place in 0..<400 { $0.partitions[place].left = .leaderAway } }
        #expect(all.named > 5 && all.named + (all.ofLoop ?? 0) == 400)
        #expect(try omitted({ $0.problem = "it is stuck" }, loops: 64).ofOthers ?? 0 > 30)
        #expect(try omitted({ _ in }, loops: 64).ofOthers == nil)
    }

    @Test func whatIsStuckAndWhatHasWaitedLongestIsKept() throws {
        let size = Size(hubs: 9, partitions: 600)
        let loop = try #require(
            try Self.read(StatusRecord([Self.status(0, size: size)], version: "1", hub: "h").json).loops.first)
        let hubs = try #require(loop["hubs"] as? [[String: Any]])
        #expect(hubs.contains { $0["circuit"] as? String == "open" })
        let partitions = try #require(loop["partitions"] as? [[String: Any]]).compactMap { $0["partition"] as? Int }
        #expect(partitions.contains(599), "it waits for a leader")
        // Each third has an oldest request, and the later ones older ones.
        #expect(partitions.suffix(3) == [594, 597, 599] && partitions.allSatisfy { $0 == 599 || $0 % 3 == 0 })
    }

    /// Those without a request come last, in their order, and fill what room there is.
    @Test func partitionsWithoutARequestAreNamedAsLongAsThereIsRoom() throws {
        var status = Self.status(0, size: Size(partitions: 0))
        status.partitions = (0..<5000).map { LoopStatus.Partition(topic: "t", partition: Int32($0 % 10), inWork: 0) }
        let bytes = StatusRecord([status], version: "1", hub: "h").json
        #expect(bytes.count > 4096 - 128)
        let loop = try #require(try Self.read(bytes).loops.first)
        let partitions = try #require(loop["partitions"] as? [[String: Any]]).compactMap { $0["partition"] as? Int }
        #expect(partitions == partitions.indices.map { $0 % 10 } && partitions.count > 50)
    }

    /// A reader of this version finds each of them, and one of an earlier version all the others.
    @Test func whatLimitsIsInTheReport() throws {
        var status = Self.status(0, size: Size(hubs: 8, partitions: 600))
        status.hubs[6].limitedBy = CallLimit(.order, rate: 7500, order: "l-12345678")
        status.kafkaProblem = "brokers failed"
        status.headOfLine = .init(topic: "t", partition: 3, key: LongestKey(offset: 4711, waiting: 30, of: 40))
        let loop = try #require(try Self.read(StatusRecord([status], version: "1", hub: "h").json).loops.first)
        let hub = try #require((loop["hubs"] as? [[String: Any]])?.first { $0["limited_by"] != nil }, "one that limits is kept")
        #expect(hub["limited_by"] as? String == "limit" && hub["limited_to"] as? Double == 7.5)
        #expect(hub["limited_by_order"] as? String == "l-12345678" && loop["kafka_trouble"] as? String == "brokers failed")
        let head = try #require(loop["head_of_line"] as? [String: Any])
        #expect(head["topic"] as? String == "t" && head["partition"] as? Int == 3 && head["offset"] as? Int == 4711)
        #expect(head["waiting"] as? Int == 30 && head["of"] as? Int == 40)
    }

    /// By that member a worker says that it obeys orders.
    @Test func aRecordHasOrdersEvenWhereNoneStands() throws {
        let status = Self.status(0, size: Size())
        for bytes in [StatusRecord([status], version: "1", hub: "h").json, Self.page([status])] {
            #expect(String(decoding: bytes, as: UTF8.self).contains(#","orders":[],"loops":["#))
        }
    }

    /// An order that some loop has not read yet is not obeyed by the worker.
    @Test func theOrdersThatAllLoopsObeyAreOneList() {
        var statuses = (0..<2).map { Self.status($0, size: Size()) }
        statuses[0].orders = [
            .init(id: "h-aaaaaa", kind: "hold", waiting: 5), .init(id: "l-bbbbbb", kind: "limit", waiting: 2, rate: 40, calls: 3),
            .init(id: "h-cccccc", kind: "hold", waiting: 9),
        ]
        statuses[1].orders = [
            .init(id: "h-cccccc", kind: "hold", waiting: 0), .init(id: "l-bbbbbb", kind: "limit", waiting: 4, rate: 40),
        ]
        let text = String(decoding: StatusRecord(statuses, version: "1", hub: "h").json, as: UTF8.self)
        #expect(
            text.contains(
                #","orders":[{"id":"l-bbbbbb","kind":"limit","waiting":6,"rate":40,"calls":3},"#
                    + #"{"id":"h-cccccc","kind":"hold","waiting":9}],"loops":"#)
        )
        #expect(!text.contains("orders_omitted"))
    }

    @Test(arguments: [18, 64]) func ordersWithoutRoomAreCounted(length: Int) throws {
        var status = Self.status(0, size: Size(loops: 1, results: 1 << 53))
        status.orders = (100..<200).map {
            .init(id: "h-" + String(repeating: "x", count: length - 5) + "\($0)", kind: "hold", waiting: $0)
        }
        status.omittedOrders = 7
        let bytes = StatusRecord([status], version: "1", hub: "h").json
        #expect(bytes.count <= 4096)
        let page = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let orders = try #require(page["orders"] as? [[String: Any]])
        #expect((8..<20).contains(orders.count) && orders.first?["waiting"] as? Int == 100)
        #expect(orders.count + (page["orders_omitted"] as? Int ?? 0) == 107)
        #expect((page["loops"] as? [Any])?.count == 1)
        let whole = try #require(try JSONSerialization.jsonObject(with: Data(Self.page([status]))) as? [String: Any])
        #expect((whole["orders"] as? [Any])?.count == 100 && whole["orders_omitted"] as? Int == 7)
    }

    private static func page(_ statuses: [LoopStatus]) -> [UInt8] {
        let board = StatusBoard()
        for status in statuses { board.post(status) }
        return board.json(version: "1", hub: "h")
    }

    @Test func aLoopThatIsInTroubleHasItsPlaceBeforeOthers() throws {
        var statuses = (0..<64).map { Self.status($0, size: Size(partitions: 0)) }
        statuses[63].problem = "it is stuck"
        let loops = try Self.read(StatusRecord(statuses, version: "1", hub: "h").json).loops
        #expect(loops.last?["trouble"] as? String == "it is stuck")
    }

    @Test func eachStateIsCountedByItself() {
        let tally = LoopTally()
        for (number, state) in ResultState.allCases.enumerated() {
            for _ in 0...number { tally.noteResult(state, milliseconds: Int64(number)) }
        }
        #expect(tally.finished.map(\.state) == ResultState.allCases)
        #expect(tally.finished.map(\.count) == ResultState.allCases.indices.map { Int64($0 + 1) })
        #expect(tally.latency.total == 55 && tally.latency.buckets.first?.count == 3)
    }

    @Test func aFailureIsLoggedOnceUntilItChangesOrEnds() {
        var failure = ReportFailure()
        let (missing, other) = (KafkaError.unknownTopic("t"), KafkaError.invalidArgument("no"))
        for (error, isNew) in [(missing, true), (missing, false), (other, true), (other, false), (missing, true)] {
            let isTold = failure.note(error)
            #expect(isTold == isNew)
        }
        failure.noteSuccess()
        let isToldAgain = failure.note(missing)
        #expect(isToldAgain)
    }
}

/// The embedded broker has the topic.
@Suite(.tags(.threads)) struct StatusReporterTests {
    private static func reporter(_ bench: Bench, of board: StatusBoard) throws -> StatusReporter {
        let log = Log(format: .json, level: .debug, now: { 0 }, sink: bench.logLines.sink)
        return StatusReporter(try bench.workerConfiguration(), board: board, log: log)
    }

    private static func post(_ board: StatusBoard) {
        board.post(
            LoopStatus(
                worker: "w1", mode: "running", at: Timestamp(milliseconds: 1), hubs: [], finishedPerSecond: 0, lastRebalance: nil,
                lastCommit: nil, partitions: [], problem: nil))
    }

    @Test func aWorkerReportsItselfAndIsGoneWhenItLeaves() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        let reporter = try Self.reporter(bench, of: bench.status)
        reporter.start()
        try bench.publish(#"{"id":"a","audience":{"categories":["x"]},"platforms":["fcmv1"],"message":{"title":"T"}}"#)
        try bench.results(1)
        #expect(eventually { bench.status.statuses.first?.finished.first?.count == 1 })
        let first = try #require(try bench.read(bench.topics.status, count: 1).first)
        let key = Array("\(bench.name)-w1".utf8)
        #expect(first.key == key)
        let page = try #require(try JSONSerialization.jsonObject(with: Data(first.value ?? [])) as? [String: Any])
        #expect((page["loops"] as? [[String: Any]])?.first?["worker"] as? String == "\(bench.name)-w1")
        try worker.stop()
        reporter.stop()
        let last = try #require(try bench.readAll(bench.topics.status).last)
        #expect(last.key == key && last.value == nil)
    }

    @Test func whoHasNothingToSayWritesNothing() throws {
        let bench = try Bench(.embedded, partitions: 1)
        let reporter = try Self.reporter(bench, of: StatusBoard())
        reporter.start()
        reporter.stop()
        #expect(try bench.readAll(bench.topics.status).isEmpty)
    }

    @Test func aMissingTopicIsToldOnceAndEndsNothing() throws {
        let bench = try Bench(.embedded, partitions: 1)
        let cluster = try #require(bench.cluster)
        cluster.setTopic(bench.topics.status, isMissing: true)
        let board = StatusBoard()
        Self.post(board)
        let reporter = try Self.reporter(bench, of: board)
        reporter.start()
        #expect(eventually { bench.logLines.all.contains { $0.contains("does not report itself") } })
        reporter.stop()
        #expect(bench.logLines.all.count { $0.contains("does not report itself") } == 1)
    }
}
