import Basics
import Delivery
import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The loop's own small structures.
@Suite
struct FlightTests {
    @Test func callsHaveTheirTurnInTheOrderOfTheirArrival() {
        var generator = Seeded(state: 11)
        var queue = FIFO<WaitingCall>()
        var added = 0
        var removed = 0
        for _ in 0..<5000 {
            if Int.random(in: 0..<5, using: &generator) > 1 {
                queue.append(WaitingCall(flight: added, call: 0, generation: UInt32(added)))
                added += 1
            } else if let next = queue.popFirst() {
                #expect(next.flight == removed && next.generation == UInt32(removed))
                removed += 1
            }
            #expect(queue.count == added - removed)
        }
        #expect(added > 256, "the queue has grown")
        queue.removeAll { $0.flight % 3 != 0 || $0.generation % 2 != 0 }
        #expect(queue.map(\.flight) == (removed..<added).filter { $0 % 6 == 0 })
    }

    @Test func anAnswerToWhatAFlightCarriedBeforeIsNotTakenForItsNextRequest() {
        var pool = FlightPool()
        let flight = pool.take()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        func begin() { flight.begin(epoch: 1, slot: 0, origin: origin, now: origin.timestamp, monotonic: 0) }
        begin()
        flight.work.calls = [.init(), .init()]
        _ = flight.work.calls[1].enter(.inFlight)
        let id = ExchangeID(flight, call: 1)
        #expect(id.belongs(to: flight))
        #expect(id.flight == flight.index && id.call == 1)
        pool.release(flight)
        #expect(!id.belongs(to: flight))
        #expect(pool.take() === flight)
        begin()
        flight.work.calls = [.init()]
        _ = flight.work.calls[0].enter(.inFlight)
        #expect(!id.belongs(to: flight))
        // Even after so many requests that the 15 bits of the generation come round to the same ones.
        flight.generation = flight.generation &- 2 &+ 0x8000
        #expect(!id.belongs(to: flight))
    }

    @Test func thePoolHasRoomUntilAsManyRequestsAreInWorkAsMayBe() {
        var pool = FlightPool()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        for _ in 1..<FlightPool.maximumCount {
            pool.take().begin(epoch: 1, slot: 0, origin: origin, now: origin.timestamp, monotonic: 0)
        }
        #expect(pool.hasRoom)
        let last = pool.take()
        last.begin(epoch: 1, slot: 0, origin: origin, now: origin.timestamp, monotonic: 0)
        #expect(!pool.hasRoom)
        pool.release(last)
        #expect(pool.hasRoom)
    }

    @Test func thePoolCountsWhatItsFlightsHoldAndLargeOnesGiveItBack() {
        var pool = FlightPool()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let flights = (0..<10).map { _ in pool.take() }
        for (index, flight) in flights.enumerated() {
            flight.begin(epoch: 0, slot: 0, origin: origin, now: Timestamp(milliseconds: 0), monotonic: 0)
            flight.place.valueByteCount = index * 100_000
            pool.account(for: flight)
            // What is read again is not counted twice.
            pool.account(for: flight)
        }
        #expect(pool.byteCount == 10 * Flight.emptyByteCount + 2 * 4_500_000)
        for flight in flights { pool.release(flight) }
        #expect(pool.byteCount == 0)
        #expect(pool.activeCount == 0)
        #expect(pool.spareByteCount == Flight.emptyByteCount, "the small one is kept")
        #expect(flights.filter { $0 === pool.flights[$0.index] }.map(\.index) == [0])
    }

    /// A request of half a megabyte has a quarter of a million values, and each takes 20 bytes.
    @Test func thePoolCountsTheValuesThatARequestWasReadInto() throws {
        var pool = FlightPool()
        let flight = pool.take()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        flight.begin(epoch: 0, slot: 0, origin: origin, now: Timestamp(milliseconds: 0), monotonic: 0)
        let text = Array(("{\"x\":[0" + String(repeating: ",0", count: 250_000) + "]}").utf8)
        try flight.request.document.read(text.span)
        flight.place.valueByteCount = text.count
        pool.account(for: flight)
        #expect(pool.byteCount >= 2 * text.count + 250_000 * 20)
        pool.release(flight)
        #expect(pool.byteCount == 0)
        #expect(pool.spareByteCount == 0 && pool.take() !== flight, "a large list of values is not kept")
    }

    @Test func theTimersOfAPoolAreOfCallsThatWaitStill() {
        var pool = FlightPool()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let flights = (0..<2).map { _ in pool.take() }
        for (index, flight) in flights.enumerated() {
            flight.begin(epoch: 1, slot: index, origin: origin, now: origin.timestamp, monotonic: 0)
            flight.work.calls = [.init(), .init()]
            for call in 0..<2 {
                _ = flight.work.calls[call].enter(.waiting)
                pool.setTimer(of: flight, call: call, at: MonotonicTime(nanoseconds: Int64(10 + 20 * call + index)))
            }
        }
        #expect(pool.nextTimer == 10 && pool.firstDue(of: pool.work(in: 1)) == [flights[0].index: 10, flights[1].index: 11])
        #expect(pool.nextDue(9) == nil)
        _ = flights[0].work.calls[0].enter(.ready)
        #expect(pool.nextDue(30).map { $0.flight === flights[1] && $0.call == 0 } == true, "one has its turn by now")
        pool.release(flights[0])
        #expect(pool.nextDue(31).map { $0.flight === flights[1] && $0.call == 1 } == true, "one was given up")
        #expect(pool.nextDue(.never) == nil && pool.nextTimer == nil)
    }

    @Test func aPoolKeepsTheSmallBuffersOfCallsForTheNextOnes() {
        var pool = FlightPool()
        for size in [16_384, 16_385, 300, 200] { pool.keepBuffer([UInt8](repeating: 1, count: size), most: 2) }
        var sizes = (0..<3).map { _ in pool.takeBuffer().room.count }
        #expect(sizes == [300, 16_384, 2048], "no large one, and no third")
        pool.keepBuffer([UInt8](repeating: 1, count: 300), most: 2)
        pool.dropSpare()
        sizes = [pool.takeBuffer().room.count]
        #expect(sizes == [2048], "after a burst all are given back")
    }

    @Test func theLibrarysQueuesShareOneBudget() {
        let topics = Topics()
        let usual = PartitionCounts(topics) { _ in nil }
        #expect(usual == PartitionCounts(topics) { _ in 12 })
        #expect(usual.requests == 48 && usual.others == 97)
        let grown = PartitionCounts(topics) { $0 == topics.requests ? 24 : 12 }
        #expect(grown.requests == 3 * 12 + 24 && grown.others == 5 * 12 + 3 * 24 + 1)
        let budget = MemoryBudget(256 << 20)
        for counts in [usual, grown] {
            let (requests, others) = (budget.requestQueues(of: counts), budget.otherQueues(of: counts))
            let sum =
                counts.requests * (requests.queueByteCount + requests.fetchByteCount)
                + counts.others * (others.queueByteCount + others.fetchByteCount)
            #expect(sum <= budget.total / 8 * 3)
        }
    }

    @Test func thePoolCountsByHubAndNotWhatWaitsInADelayLane() {
        var pool = FlightPool()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let flights = (0..<3).map { _ in pool.take() }
        for (index, flight) in flights.enumerated() {
            flight.begin(epoch: 0, slot: 0, origin: origin, now: Timestamp(milliseconds: 0), monotonic: 0)
            flight.route.port = index
            flight.place.valueByteCount = 1000
            pool.account(for: flight)
        }
        let size = Flight.emptyByteCount + 2000
        #expect(pool.byteCounts == [size, size, size] && pool.byteCount == 3 * size)
        // It goes to another hub now.
        flights[0].route.port = 2
        pool.moved(flights[0])
        #expect(pool.byteCounts == [0, size, 2 * size] && pool.byteCount == 3 * size)
        // It waits, and its hub changes meanwhile.
        for _ in 0..<2 { pool.discount(flights[1]) }
        flights[1].route.port = 3
        pool.moved(flights[1])
        #expect(pool.byteCounts == [0, 0, 2 * size, 0] && pool.byteCount == 2 * size)
        for _ in 0..<2 { pool.count(flights[1]) }
        #expect(pool.byteCounts == [0, 0, 2 * size, size] && pool.byteCount == 3 * size)
        pool.discount(flights[0])
        for flight in flights { pool.release(flight) }
        #expect(pool.byteCounts == [0, 0, 0, 0] && pool.byteCount == 0)
    }

    @Test(arguments: [0, 1 << 20, 32 << 20, 256 << 20, 64 << 30])
    func thePartsOfABudgetAreNoMoreThanAll(total: Int) {
        let budget = MemoryBudget(total)
        for partitions in [1, 2, 16] {
            let sum =
                budget.flights + 2 * budget.outcomes + Lane.allCases.count * budget.buffered + budget.wholes
                + budget.spareFlights + partitions * budget.keys(of: partitions)
            #expect(sum <= max(budget.total, partitions << 20 + budget.total / 8 * 7))
        }
        #expect(budget.flights >= 6 << 20 && budget.outcomes >= 1 << 20)
        // Beside what hubs share there is room for the largest request.
        for count in [2, 10] {
            let shares = budget.hubs(count)
            #expect(budget.flights - shares.common - count * shares.guaranteed >= 3 << 19)
        }
    }

    @Test func aBatchThatIsCutKeepsItsResultsAndSmallDeadLetters() {
        var batch = OutcomeBatch()
        batch.add(.results, of: .init(slot: 0, offset: 0)) { record in
            record.setKey { $0.append("key") }
            record.setValue { for _ in 0..<40_000 { $0.append("large result") } }
        }
        for repeats in [1, 40_000] {
            batch.add(.deadLetters, of: .init(slot: 0, offset: 0)) { record in
                record.setValue { for _ in 0..<repeats { $0.append("0123456789") } }
                record.copyHeader(Array("theirs".utf8).span, value: Array("1".utf8).span)
                record.beginOwnHeaders()
                record.addHeader("ours") { $0.append("2") }
            }
        }
        #expect(batch.cutLargeDeadLetters() == 1)
        #expect(batch.cutLargeDeadLetters() == 0)
        #expect(batch.records.map { $0.value?.count } == [480_000, 10, nil])
        let names = batch.records.map { record in batch.headers[record.headers].map { batch.text($0.name, of: record) } }
        #expect(names == [[], ["theirs", "ours"], ["ours", "pushfan-dlq-cut-bytes"]])
    }

    @Test func textThatRecordsShareStandsInABatchOnceAndStaysWithCopies() {
        let shared = Array("nameownvalue".utf8)
        let fixed = OutcomeBatch.Header(name: 0..<4, value: 7..<12)
        func add(to batch: inout OutcomeBatch, offset: Int64) {
            batch.add(.results, of: .init(slot: 0, offset: offset)) { record in
                record.setKey { $0.append(decimal: offset) }
                let start = record.share(shared.span)
                record.addHeader(fixed, from: start)
                record.addHeader(.init(name: 4..<7, value: nil), from: start) { $0.append(decimal: 10 + offset) }
                record.addHeader(.init(name: 4..<7, value: nil), from: start, value: record.key)
            }
        }
        func headers(of batch: OutcomeBatch) -> [[String]] { batch.records.map { batch.headerTexts(of: $0) } }
        let expected = [["name=value", "own=10", "own=0"], ["name=value", "own=11", "own=1"]]
        var batch = OutcomeBatch()
        for _ in 0..<2 {
            for offset in 0..<2 { add(to: &batch, offset: Int64(offset)) }
            #expect(headers(of: batch) == expected)
            #expect(batch.byteCount == shared.count + 2 * 3)
            var copy = OutcomeBatch()
            copy.append(contentsOf: batch)
            #expect(headers(of: copy) == expected)
            batch.removeAll()
        }
    }

    /// More than one piece holds: each with the text that its records share, and a large record in the middle.
    @Test func aLargeBatchHasEachRecordInOnePieceAndGivesItsRoomBack() {
        let shared = Array("name".utf8)
        func key(_ offset: Int64) -> String { "key\(offset)" }
        func add(to batch: inout OutcomeBatch, offset: Int64) {
            batch.add(.results, of: .init(slot: 0, offset: offset)) { record in
                record.setKey { $0.append(key(offset)) }
                record.setValue { for _ in 0..<(offset == 2000 ? 200_000 : 50) { $0.append("0123456789") } }
                let start = record.share(shared.span)
                record.addHeader(.init(name: 0..<4, value: nil), from: start, value: record.key)
            }
        }
        func isWhole(_ batch: OutcomeBatch, without left: Int64? = nil) -> Bool {
            batch.records.allSatisfy { record in
                let offset = record.origin.offset
                return record.origin.offset != left && batch.text(record.key, of: record) == key(offset)
                    && batch.headerTexts(of: record) == ["name=\(key(offset))"]
                    && batch.byteCount(of: record) == 2 * key(offset).utf8.count + 4 + (offset == 2000 ? 2_000_000 : 500)
            }
        }
        var batch = OutcomeBatch()
        for _ in 0..<2 {
            for offset in 0..<4000 { add(to: &batch, offset: Int64(offset)) }
            #expect(batch.records.count == 4000 && isWhole(batch))
            #expect(batch.byteCount > 4_000_000 && batch.byteCount < 4_100_000)
            var rest = batch
            let taken = rest.remove([7])
            #expect(taken.records.map(\.origin.offset) == [7] && isWhole(taken) && isWhole(rest, without: 7))
            #expect(rest.records.count == 3999)
            batch.removeAll()
            #expect(batch.isEmpty && batch.byteCount == 0)
        }
    }
}
