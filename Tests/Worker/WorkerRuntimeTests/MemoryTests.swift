import Basics
import Delivery
import Payloads
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The keepers of a loop's memory: what each counts is what it keeps, and nothing once all has ended.
struct MemoryTests {
    private static let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))

    private static func begin(_ flight: Flight, byteCount: Int) {
        flight.begin(epoch: 1, slot: 0, origin: origin, now: origin.timestamp, monotonic: 0)
        flight.place.valueByteCount = byteCount
    }

    /// What was rendered before a wait counted for nothing.
    @Test func payloadsCountAsTheyAreRendered() {
        var pool = FlightPool()
        let flight = pool.take()
        Self.begin(flight, byteCount: 700)
        pool.account(for: flight)
        let asRead = pool.byteCount
        for _ in 0..<4 {
            flight.work.payloads.append(.init())
            for _ in 0..<700 { flight.work.payloads[flight.work.payloads.count - 1].body.append("&amp;") }
        }
        pool.accountForCalls(of: flight)
        #expect(pool.byteCount >= asRead + 4 * 3500)
        let rendered = pool.byteCount
        for _ in 0..<100 { flight.noteFailure(ofCall: Self.addCall(to: flight), detail: String(repeating: "x", count: 250)) }
        pool.accountForCalls(of: flight)
        #expect(pool.byteCount >= rendered + 100 * 250)
        pool.release(flight)
        #expect(pool.byteCount == 0 && pool.spareByteCount == 0, "so much is not kept")
    }

    private static func addCall(to flight: Flight) -> Int {
        flight.report.calls.append(.init(platform: .apple))
        return flight.report.calls.count - 1
    }

    /// Each header takes 40 bytes beside its text, however short that is.
    @Test func aRecordsHeadersCountWithTheirPlaces() {
        var envelope = RecordEnvelope()
        for _ in 0..<1000 { envelope.addHeader(Array("a".utf8).span, value: nil) }
        #expect(envelope.byteCount == 1000 && envelope.roomByteCount >= 33_000)
    }

    @Test func aBurstOfFlightsIsGivenBack() {
        var pool = FlightPool(mostSpareByteCount: 100_000)
        let flights = (0..<5000).map { _ in pool.take() }
        for flight in flights {
            Self.begin(flight, byteCount: 1000)
            pool.account(for: flight)
        }
        for flight in flights { pool.release(flight) }
        #expect(pool.byteCount == 0 && pool.activeCount == 0)
        #expect(pool.spareByteCount > 90_000 && pool.spareByteCount <= 100_000)
        #expect(Set(pool.flights.map(ObjectIdentifier.init)).count <= 1 + 100_000 / Flight.emptyByteCount)
        pool.dropSpare()
        #expect(pool.spareByteCount == 0 && Set(pool.flights.map(ObjectIdentifier.init)).count == 1)
        #expect(pool.flights.allSatisfy { !$0.isActive })
    }

    @Test(arguments: [1, 2, 3]) func whatThePoolCountsIsWhatItsFlightsHoldAndNoNameComesAgain(_ seed: Int) {
        var random = SeededRandom(seed)
        var pool = FlightPool(mostSpareByteCount: 60_000)
        var active: [(flight: Flight, isCounted: Bool)] = []
        var names: Set<UInt64> = []
        for _ in 0..<20_000 {
            switch random.below(10) {
            case 0..<4 where active.count < 200:
                let flight = pool.take()
                Self.begin(flight, byteCount: random.below(20_000))
                flight.route.port = random.below(3)
                pool.account(for: flight)
                active.append((flight, true))
                #expect(pool.flights[flight.index] === flight)
                #expect(names.insert(UInt64(flight.index) << 32 | UInt64(flight.generation)).inserted)
            case 4..<8 where !active.isEmpty: pool.release(active.remove(at: random.below(active.count)).flight)
            case 8 where !active.isEmpty:
                let index = random.below(active.count)
                if active[index].isCounted { pool.discount(active[index].flight) } else { pool.count(active[index].flight) }
                active[index].isCounted.toggle()
            case 9 where random.below(50) == 0: pool.dropSpare()
            default: break
            }
            let held = active.reduce(0) { $0 + ($1.isCounted ? $1.flight.size.held : 0) }
            guard pool.byteCount == held, pool.byteCounts.reduce(0, +) == held, pool.activeCount == active.count,
                (0...60_000).contains(pool.spareByteCount)
            else {
                Issue.record("\(pool.byteCount) counted, \(held) held")
                return
            }
        }
        for (flight, _) in active { pool.release(flight) }
        pool.dropSpare()
        #expect(pool.byteCount == 0 && pool.activeCount == 0 && pool.spareByteCount == 0)
    }

    /// An entry of a call that was given up with its flight is not taken for one of the flight that has its number now.
    @Test func aFlightThatWasGivenBackGoesOnWithItsGeneration() {
        var pool = FlightPool(mostSpareByteCount: 0)
        let first = pool.take()
        Self.begin(first, byteCount: 10)
        first.work.calls = [.init()]
        let entry = WaitingCall(flight: first.index, call: 0, generation: first.generation)
        #expect(pool.flight(of: entry, in: .ready) === first)
        pool.release(first)
        #expect(pool.flight(of: entry, in: .ready) == nil)
        let second = pool.take()
        #expect(second !== first && second.index == first.index)
        Self.begin(second, byteCount: 10)
        second.work.calls = [.init()]
        #expect(pool.flight(of: entry, in: .ready) == nil)
    }

    /// A second is of so much work, and memory is given back in it or not.
    @Test(
        arguments: [
            ([0, 0, 0], []), ([15 << 20, 0, 0], []), ([16 << 20, 0, 0], [1]), ([8 << 20, 8 << 20, 2 << 20, 1 << 20, 0], [3]),
            // Work that goes on is not disturbed, and after a rest it takes as much again.
            ([20 << 20, 20 << 20, 20 << 20], []), ([20 << 20, 0, 15 << 20, 0], [1]),
            ([20 << 20, 0, 20 << 20] + Array(repeating: 0, count: 40), [1, 31]),
        ] as [([Int], [Int])])
    func memoryIsGivenBackAtRestAfterWorkAndSeldom(work: [Int], seconds: [Int]) {
        var (rest, served, found) = (MemoryRest(), 0, [Int]())
        for (second, byteCount) in work.enumerated() {
            served += byteCount
            let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
            if rest.isDue(served: served, now: now) { found.append(second) }
        }
        #expect(found == seconds)
    }

    @Test func partitionsOfParentsCountWhatIsOpenInThem() throws {
        let planned = AssignmentPlan(
            [.init(.parents), .init(.parents)], window: 64, heldWindow: 64, reach: nil
        ).partitions
        var parents = ParentPartitions(planned[...], at: 3)
        for (slot, number) in [(3, 1), (4, 2), (4, 3)] {
            parents[slot].opened(ParentKey("t:0:\(number)"), record: [1], chunks: 1, at: Int64(number), timestamp: 0)
        }
        #expect(parents.byteCount == parents[3].byteCount + parents[4].byteCount && parents[3].byteCount > 0)
        parents[3].deleted(ParentKey("t:0:1"), at: 9)
        #expect(parents.byteCount == parents[4].byteCount)
        parents.begin(4, planned: try #require(planned.first))
        #expect(parents.byteCount == 0)
    }
}
