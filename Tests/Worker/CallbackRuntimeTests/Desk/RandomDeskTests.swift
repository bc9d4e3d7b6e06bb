import Basics
import Kafka
import ResultFeed
import TestSupport
import Testing
import Webhooks

@testable import CallbackRuntime

/// A desk under random events: nothing is lost, no limit is broken, and results of a request keep their order.
@Suite struct RandomDeskTests {
    /// A run of random events, with what must hold after each.
    private struct Run {
        struct Place: Hashable {
            let partition: Int32
            let offset: Int64
        }

        var world: DeskWorld
        var random: SeededRandom
        /// What was taken, or became a dead letter that is written.
        var done: Set<Place> = []
        var saved: [Int32: Int64] = [:]
        var letters: [UntakenResult] = []
        var isHealthy = false

        init(_ seed: Int) throws {
            random = SeededRandom(seed)
            var receiver = try sampleReceiver()
            receiver.inFlight = 1 + random.below(20)
            receiver.rate = random.below(3) == 0 ? Double(1 + random.below(500)) : nil
            receiver.giveUpAfter = Int64(1 + random.below(600)) * 1_000
            world = DeskWorld(receiver, seed: UInt64(seed))
            for partition in Int32(0)..<3 {
                let end = Int64(random.below(2_000))
                for offset in 0..<end where random.below(4) == 0 {
                    world.wanted[partition, default: [:]][offset] = try sample(
                        offset, in: partition, request: "q\(partition)-\(random.below(100))")
                }
                world.ends[partition] = end
                saved[partition] = 0
                world.give(partition)
            }
        }

        mutating func step() {
            switch random.below(12) {
            case 0: world.pass()
            case 1: world.now += Int64(random.below(3_600)) * 1_000_000_000
            case 2...3: world.read()
            case 4...5: start()
            case 6...8: for _ in 0..<random.below(8) { end() }
            case 9: write()
            case 10: save()
            default: disturb()
            }
            check()
        }

        mutating func start() {
            let inFlight = Set(world.calls.values.map(\.record.requestID))
            let started = world.start().map(\.record.requestID)
            #expect(Set(started).count == started.count && inFlight.isDisjoint(with: started), "two results of a request at once")
        }

        mutating func end() {
            guard let number = world.calls.keys.sorted().randomElement(using: &random), let call = world.calls[number] else {
                return
            }
            let status =
                isHealthy ? 200 : [200, 200, 200, 204, 302, 400, 404, 410, 429, 500, 503].randomElement(using: &random) ?? 200
            let verdict = world.end(number, status: status, retryAfter: random.below(2) == 0 ? nil : Int64(random.below(100_000)))
            if verdict == .taken { finish(call.record) }
        }

        mutating func write() {
            letters += world.desk.takeUntaken()
            for letter in letters where isHealthy || random.below(2) == 0 {
                // One that is another's by now may be written too, but is done with by whoever calls it again.
                if world.desk.records[letter.number] != nil { finish(letter.record) }
                world.desk.noteWritten(letter.number)
            }
            letters.removeAll { world.desk.records[$0.number] == nil }
        }

        mutating func save() {
            for (place, offset) in world.desk.takeOffsets() { saved[place.partition] = offset }
        }

        /// Pauses, resumes, or takes a partition away and gives it again from where it was saved.
        mutating func disturb() {
            world.desk.set(random.below(4) == 0 ? .paused : nil)
            guard random.below(3) == 0 else { return }
            let partition = Int32(random.below(3))
            world.desk.leave([DeskWorld.place(partition)])
            if random.below(2) == 0 { save() }
            let calls = world.desk.calls(of: [DeskWorld.place(partition)])
            world.desk.drop([DeskWorld.place(partition)])
            for call in calls {
                world.calls[call] = nil
                world.desk.takeBack(call, now: world.now)
            }
            world.give(partition, from: saved[partition] ?? 0)
        }

        /// Notes that a result is done with, before which all earlier ones of its request were.
        mutating func finish(_ record: FeedRecord) {
            let earlier = world.wanted[record.partition, default: [:]].values.filter {
                $0.requestID == record.requestID && $0.offset < record.offset
            }
            #expect(earlier.allSatisfy { done.contains(Place(partition: $0.partition, offset: $0.offset)) })
            done.insert(Place(partition: record.partition, offset: record.offset))
        }

        func check() {
            #expect(world.desk.inFlight == world.calls.count && world.desk.inFlight <= world.desk.receiver.inFlight)
            #expect(world.desk.records.count <= 2 * world.desk.receiver.inFlight + ReceiverDesk.mostRetries)
            #expect(world.desk.records.retryCount >= 0 && world.desk.records.byteCount >= 0)
            for (partition, offset) in saved {
                let isDone = world.wanted[partition, default: [:]].keys.allSatisfy { wanted in
                    wanted >= offset || done.contains(Place(partition: partition, offset: wanted))
                }
                #expect(isDone, "a result before the saved offset was lost")
            }
        }
    }

    @Test(arguments: 0..<16) func nothingIsLostWhateverHappens(_ seed: Int) throws {
        var run = try Run(seed)
        for _ in 0..<400 { run.step() }
        run.isHealthy = true
        run.world.desk.set(nil)
        let ends = run.world.ends
        for _ in 0..<20_000 where run.saved != ends {
            run.world.read()
            run.start()
            while !run.world.calls.isEmpty { run.end() }
            run.write()
            run.save()
            run.world.pass()
        }
        run.check()
        #expect(run.saved == ends)
        #expect(run.world.desk.records.count == 0 && run.world.desk.records.byteCount == 0)
    }
}
