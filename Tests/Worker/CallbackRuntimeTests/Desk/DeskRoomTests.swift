import Basics
import Kafka
import ResultFeed
import Testing
import Webhooks

@testable import CallbackRuntime

/// The room of a receiver in memory, and the results that must not have all of it.
@Suite struct DeskRoomTests {
    @Test func oneResultThatIsNeverTakenDoesNotHoldUpTheOthersForLong() throws {
        var world = DeskWorld(try sampleReceiver())
        for offset in stride(from: Int64(0), to: 40_000, by: 100) { world.wanted[0, default: [:]][offset] = try sample(offset) }
        world.ends[0] = 40_000
        world.give(0)
        let begin = world.now
        var letters: [UntakenResult] = []
        var taken = 0
        for _ in 0..<5_000 where taken < 399 {
            world.read()
            for call in world.start() {
                let isPoison = call.record.offset == 0
                world.end(call.number, status: isPoison ? 500 : 200)
                if !isPoison { taken += 1 }
            }
            for letter in world.desk.takeUntaken() {
                letters.append(letter)
                world.desk.noteWritten(letter.number)
            }
            world.pass()
        }
        #expect(taken == 399)
        #expect(letters.map(\.reason) == [.heldUpOthers] && letters.map(\.attempts) == [ReceiverDesk.patience])
        #expect(world.now < begin + 3_600_000_000_000)
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 40_000])
    }

    @Test func aReceiverThatHangsHasABoundedNumberOfResultsInMemory() throws {
        var receiver = try sampleReceiver()
        receiver.inFlight = 4
        var world = try DeskWorld(receiver, results: 10_000)
        for _ in 0..<100 {
            world.read()
            world.start()
            world.pass()
        }
        #expect(world.desk.inFlight <= 4 && world.desk.records.count <= 1_008)
        #expect(world.desk.room == nil)
    }

    @Test func nothingNewIsReadWhileAThousandWaitForAnotherAttempt() throws {
        var receiver = try sampleReceiver()
        receiver.inFlight = 100
        var world = try DeskWorld(receiver, results: 5_000)
        // An answer of 400 says nothing of the receiver as a whole, so its circuit stays closed.
        for _ in 0..<2_000 where world.desk.records.retryCount < ReceiverDesk.mostRetries {
            world.read()
            for call in world.start() where call.attempt == 1 { world.end(call.number, status: 400) }
            world.now += 1_000
        }
        #expect(world.desk.records.retryCount >= ReceiverDesk.mostRetries && world.desk.records.readyCount < 350)
        #expect(world.desk.room == nil && world.desk.records.count <= 1_200)
        #expect(world.desk.state(now: world.now) == "running")
        // None has failed often enough to be given up.
        #expect(world.desk.takeUntaken().isEmpty)
    }

    @Test(arguments: [false, true]) func resultsThatAreNeverTakenDoNotFillTheRoomForLong(_ areBehindOne: Bool) throws {
        var world = DeskWorld(try sampleReceiver())
        for offset in Int64(0)..<2_200 {
            let isPoison = offset % 2 == 0
            let request = areBehindOne && isPoison ? "poison" : nil
            world.wanted[0, default: [:]][offset] = try sample(offset, request: request)
        }
        world.ends[0] = 2_200
        world.give(0)
        let begin = world.now
        var taken = 0
        var reasons: Set<UntakenResult.Reason> = []
        for _ in 0..<50_000 where taken < 1_100 {
            world.read()
            for call in world.start() {
                let isPoison = call.record.offset % 2 == 0
                world.end(call.number, status: isPoison ? 422 : 200)
                if !isPoison { taken += 1 }
            }
            for letter in world.desk.takeUntaken() {
                #expect(letter.attempts >= ReceiverDesk.patience)
                reasons.insert(letter.reason)
                world.desk.noteWritten(letter.number)
            }
            world.pass()
        }
        #expect(taken == 1_100 && reasons == [.heldUpOthers])
        #expect(areBehindOne || world.now < begin + 3_600_000_000_000)
    }

    @Test func nothingIsGivenUpForRoomWhileNoResultIsTaken() throws {
        var world = DeskWorld(try sampleReceiver())
        for offset in Int64(0)..<1_100 { world.wanted[0, default: [:]][offset] = try sample(offset, request: "q") }
        world.ends[0] = 1_100
        world.give(0)
        world.read()
        let end = world.now + 36_000_000_000_000
        var attempts = 0
        while world.now < end {
            for call in world.start() {
                attempts = call.attempt
                world.end(call.number, status: 500)
            }
            world.pass()
        }
        #expect(world.desk.room == nil && attempts > ReceiverDesk.patience)
        #expect(world.desk.takeUntaken().isEmpty)
    }

    @Test func aResultBehindOneOfAnotherTopicIsNotHeldUpForLong() throws {
        var world = DeskWorld(try sampleReceiver())
        let replays = TopicPartition(topic: "replays", partition: 0)
        world.desk.give(replays, from: 0)
        let replayed = FeedReading(records: [try sample(0, request: "q")], places: FeedPlaces([0: 1]), isAtEnd: true)
        world.desk.offer(replayed, of: replays.topic, series: world.desk.series)
        world.wanted[0] = [0: try sample(0, request: "q"), 20_000: try sample(20_000)]
        for offset in stride(from: Int64(100), to: 20_000, by: 100) { world.wanted[0]?[offset] = try sample(offset) }
        world.ends[0] = 20_001
        world.give(0)
        var letters: [UntakenResult] = []
        for _ in 0..<5_000 where letters.isEmpty {
            world.read()
            for call in world.start() { world.end(call.number, status: call.record.requestID == "q" ? 500 : 200) }
            letters = world.desk.takeUntaken()
            world.pass()
        }
        #expect(letters.map(\.place) == [replays] && letters.map(\.reason) == [.heldUpOthers])
    }
}
