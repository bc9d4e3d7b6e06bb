import PushModel
import Testing

@testable import WorkerRuntime

/// The loop's own small structures.
@Suite
struct FlightTests {
    @Test(arguments: [1, 2, 3]) func waitsEndInTheOrderOfTheirMoments(_ seed: UInt64) {
        var generator = Seeded(state: seed)
        var heap = TimerHeap()
        var expected: [Int64] = []
        for _ in 0..<2000 {
            if Bool.random(using: &generator) || expected.isEmpty {
                let due = Int64.random(in: 0..<500, using: &generator)
                heap.add(.init(due: due, call: CallID(flight: 0, call: 0), generation: 0))
                expected.append(due)
                expected.sort()
            } else {
                let now = Int64.random(in: 0..<500, using: &generator)
                let due = heap.removeDue(now)?.due
                #expect(due == expected.first.flatMap { $0 <= now ? $0 : nil })
                if due != nil { expected.removeFirst() }
            }
            #expect(heap.nextDue == expected.first && heap.count == expected.count)
        }
    }

    @Test func callsHaveTheirTurnInTheOrderOfTheirArrival() {
        var generator = Seeded(state: 11)
        var queue = CallQueue()
        var added = 0
        var removed = 0
        for _ in 0..<5000 {
            if Int.random(in: 0..<5, using: &generator) > 1 {
                queue.append(CallID(flight: added, call: 0), generation: UInt32(added))
                added += 1
            } else if let next = queue.removeFirst() {
                #expect(next.call.flight == removed && next.generation == UInt32(removed))
                removed += 1
            }
            #expect(queue.count == added - removed)
        }
        #expect(added > 256, "the queue has grown")
    }

    @Test func anAnswerToWhatAFlightCarriedBeforeIsNotTakenForItsNextRequest() {
        var pool = FlightPool()
        let flight = pool.take()
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        func begin() { flight.begin(epoch: 1, slot: 0, origin: origin, now: origin.timestamp, monotonic: 0) }
        begin()
        flight.calls = [.init(), .init()]
        flight.calls[1].phase = .inFlight
        let id = ExchangeID(flight, call: 1)
        #expect(id.belongs(to: flight))
        #expect(id.flight == flight.index && id.call == 1)
        pool.release(flight)
        #expect(!id.belongs(to: flight))
        #expect(pool.take() === flight)
        begin()
        flight.calls = [.init()]
        flight.calls[0].phase = .inFlight
        #expect(!id.belongs(to: flight))
        // Even after so many requests that the 15 bits of the generation come round to the same ones.
        flight.generation = flight.generation &- 2 &+ 0x8000
        #expect(!id.belongs(to: flight))
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
                record.copyHeader(Array("theirs".utf8).span, Array("1".utf8).span)
                record.beginOwnHeaders()
                record.addHeader("ours", "2")
            }
        }
        batch.cutLargeDeadLetters()
        #expect(batch.records.map { $0.value?.count } == [480_000, 10, nil])
        let names = batch.records.map { record in
            batch.headers[record.headers].map { String(decoding: batch.bytes.bytes[$0.name], as: UTF8.self) }
        }
        #expect(names == [[], ["theirs", "ours"], ["ours", "pushfan-dlq-cut-bytes"]])
    }
}
