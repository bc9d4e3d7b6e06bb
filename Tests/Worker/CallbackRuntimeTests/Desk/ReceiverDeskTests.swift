import Basics
import Delivery
import Kafka
import ResultFeed
import Testing
import Webhooks

@testable import CallbackRuntime

/// The rules by which results are called, one by one.
@Suite struct ReceiverDeskTests {
    @Test func theOffsetToSaveLiesBeforeAllThatIsNotTaken() throws {
        var world = try DeskWorld(sampleReceiver(), results: 3, end: 3)
        let calls = world.start()
        #expect(calls.map(\.record.offset) == [0, 1, 2])
        for call in calls.dropFirst() { world.end(call.number, status: 204) }
        #expect(world.desk.takeOffsets().isEmpty)
        world.end(calls[0].number, status: 200)
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 3])
        #expect(world.desk.takeOffsets().isEmpty)
        world.desk.forgetSaved()
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 3])
    }

    @Test func theOffsetThatAPartitionBeginsAtIsSavedToo() throws {
        var world = DeskWorld(try sampleReceiver())
        world.give(0, from: 7)
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 7])
        #expect(world.desk.takeOffsets().isEmpty)
    }

    @Test func whatIsNotWantedIsDoneWithWhenItWasPassed() throws {
        var world = try DeskWorld(sampleReceiver(), results: 0, end: 50_000)
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 50_000])
        #expect(world.desk.places(of: DeskWorld.topic).offsets == [0: 50_000])
    }

    @Test func aLaterResultOfARequestWaitsForTheEarlierOne() throws {
        var world = DeskWorld(try sampleReceiver())
        world.wanted[0] = [0: try sample(0, request: "q"), 1: try sample(1, request: "q"), 2: try sample(2)]
        world.ends[0] = 3
        world.give(0)
        world.read()
        let first = world.start()
        #expect(first.map(\.record.offset) == [0, 2])
        world.end(first[0].number, status: 500)
        #expect(world.start().isEmpty)
        world.now += 300_000_000_000
        let again = world.start()
        #expect(again.map(\.record.offset) == [0] && again[0].attempt == 2)
        world.end(again[0].number, status: 200)
        #expect(world.start().map(\.record.offset) == [1])
    }

    @Test(arguments: [1, 4, 16]) func notMoreCallsAreInFlightThanTheReceiverSays(_ most: Int) throws {
        var receiver = try sampleReceiver()
        receiver.inFlight = most
        var world = try DeskWorld(receiver, results: 100)
        #expect(world.start().count == most)
        #expect(world.start().isEmpty)
        world.end(try #require(world.calls.keys.min()), status: 200)
        world.now += 1_000_000
        #expect(world.start().count == 1)
    }

    @Test func processesDivideTheLimitsByTheirPartitions() throws {
        var receiver = try sampleReceiver()
        receiver.inFlight = 12
        var world = DeskWorld(receiver)
        world.desk.divide(owned: 1, of: 4, now: world.now)
        for offset in Int64(0)..<20 { world.wanted[0, default: [:]][offset] = try sample(offset) }
        world.ends[0] = 20
        world.give(0)
        world.read()
        #expect(world.start().count == 3)
    }

    @Test func callsKeepToTheRate() throws {
        var receiver = try sampleReceiver()
        receiver.rate = 10
        var world = try DeskWorld(receiver, results: 1_000)
        var count = 0
        let end = world.now + 10_000_000_000
        while world.now < end {
            for call in world.start() {
                count += 1
                world.end(call.number, status: 200)
            }
            world.pass()
        }
        #expect((95...104).contains(count))
    }

    @Test func aReceiverThatAnswers410GetsNothingUntilItIsResumed() throws {
        var world = try DeskWorld(sampleReceiver(), results: 2)
        let calls = world.start()
        #expect(world.end(calls[0].number, status: 410) == .disabled)
        world.end(calls[1].number, status: 200)
        world.now += 3_600_000_000_000
        #expect(world.start().isEmpty && world.desk.room == nil && world.desk.nextMoment(now: world.now) == nil)
        #expect(world.desk.state(now: world.now) == "disabled")
        #expect(world.desk.takeOffsets().isEmpty && world.desk.takeUntaken().isEmpty)
        world.desk.set(nil)
        let again = world.start()
        #expect(again.map(\.attempt) == [1], "the call that was answered 410 is no attempt")
        world.end(again[0].number, status: 200)
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 2])
    }

    @Test(arguments: [(429, 60_000), (503, 60_000), (429, 999_999_999)])
    func allCallsWaitForAsLongAsTheReceiverAsksUpToAnHour(_ status: Int, _ wait: Int64) throws {
        var world = try DeskWorld(sampleReceiver(), results: 40)
        let call = try #require(world.start().first)
        #expect(world.end(call.number, status: status, retryAfter: wait) == .wait(milliseconds: min(wait, 3_600_000)))
        for other in world.calls.keys { world.end(other, status: 200) }
        let rest = min(wait, 3_600_000) * 1_000_000
        #expect(world.desk.state(now: world.now) == "waiting")
        let next = world.desk.nextMoment(now: world.now)
        #expect(try #require(next) >= world.now + rest)
        world.now += rest - 1
        #expect(world.start().isEmpty)
        world.now += 1
        #expect(!world.start().isEmpty)
    }

    @Test func aResultThatIsNotTakenInTimeIsDoneWithWhenItsDeadLetterIsWritten() throws {
        var receiver = try sampleReceiver()
        receiver.giveUpAfter = 600_000
        var world = try DeskWorld(receiver, results: 1)
        let begin = world.now
        var untaken: [UntakenResult] = []
        var attempts = 0
        for _ in 0..<1_000 where untaken.isEmpty {
            for call in world.start() {
                attempts += 1
                world.end(call.number, status: 500)
            }
            untaken = world.desk.takeUntaken()
            world.pass()
        }
        let letter = try #require(untaken.first)
        #expect(letter.reason == .gaveUp && letter.attempts == attempts && letter.status == 500 && attempts > 5)
        #expect(world.now <= begin + 610_000_000_000)
        #expect(letter.firstAt == begin.nanoseconds / 1_000_000 && letter.lastAt > letter.firstAt)
        #expect(world.desk.takeOffsets().isEmpty, "the dead letter is not written yet")
        #expect(world.desk.takeUntaken().isEmpty && world.start().isEmpty)
        world.desk.noteWritten(letter.number)
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 1])
        #expect(world.desk.records.count == 0 && world.desk.records.byteCount == 0)
    }

    @Test func whileTheCircuitIsOpenNothingButProbesCountsAsAnAttempt() throws {
        var world = try DeskWorld(sampleReceiver(), results: 100)
        let begin = world.now
        var attempts = 0
        while world.now < begin + 600_000_000_000 {
            for call in world.start() {
                attempts += 1
                world.end(call.number, status: 503)
            }
            world.pass()
        }
        #expect(world.desk.state(now: world.now) == "away")
        #expect(attempts < 1_000, "\(attempts) calls in ten minutes of a receiver that is away")
        #expect(world.desk.takeUntaken().isEmpty)
    }

    @Test func anotherAddressIsAnotherReceiverForTheCircuit() throws {
        var world = try DeskWorld(sampleReceiver(), results: 100)
        for _ in 0..<50 where world.desk.limits.circuit.state == .closed {
            for call in world.start() { world.end(call.number, status: 500) }
            world.pass()
        }
        #expect(world.desk.state(now: world.now) == "away")
        world.desk.change(to: try sampleReceiver(url: "https://example.org/"), now: world.now)
        #expect(world.desk.state(now: world.now) == "running" && !world.start().isEmpty)
    }

    @Test func aPartitionThatIsTakenAwayIsForgottenWithItsCalls() throws {
        var world = DeskWorld(try sampleReceiver())
        for partition in Int32(0)..<2 {
            for offset in Int64(0)..<10 { world.wanted[partition, default: [:]][offset] = try sample(offset, in: partition) }
            world.ends[partition] = 10
            world.give(partition)
        }
        world.read()
        let calls = world.start().filter { $0.record.partition == 0 }
        #expect(!calls.isEmpty)
        let lost: Set = [DeskWorld.place(0)]
        world.desk.leave(lost)
        #expect(Set(world.desk.calls(of: lost)) == Set(calls.map(\.number)))
        world.end(calls[0].number, status: 200)
        #expect(world.desk.takeOffsets()[DeskWorld.place(0)] == 1, "what ends in time is saved")
        #expect(world.start().allSatisfy { $0.record.partition == 1 })
        world.desk.drop(lost)
        #expect(world.desk.owned == [DeskWorld.place(1)])
        for number in world.calls.keys { world.end(number, status: 200) }
        while !world.start().isEmpty {
            for number in world.calls.keys { world.end(number, status: 200) }
            world.now += 1_000_000
        }
        #expect(world.desk.inFlight == 0 && world.desk.records.count == 0)
        #expect(world.desk.takeOffsets() == [DeskWorld.place(1): 10])
    }

    @Test func aReadingFromBeforeAChangeOfPartitionsIsOfNoUse() throws {
        var world = DeskWorld(try sampleReceiver())
        world.give(0)
        let before = world.desk.series
        world.desk.drop([DeskWorld.place(0)])
        world.give(0)
        let reading = FeedReading(records: [try sample(5)], places: FeedPlaces([0: 6]), isAtEnd: true)
        world.desk.offer(reading, of: DeskWorld.topic, series: before)
        #expect(world.desk.records.count == 0 && world.desk.places(of: DeskWorld.topic).offsets == [0: 0])
    }

    @Test func whatIsNotWantedAnyMoreIsDoneWithInOrder() throws {
        var world = DeskWorld(try sampleReceiver())
        for offset in Int64(0)..<3 {
            world.wanted[0, default: [:]][offset] = try sample(offset, request: "q", source: offset == 1 ? "other" : "shop")
        }
        world.wanted[0]?[3] = try sample(3, source: "other")
        world.ends[0] = 4
        world.give(0)
        world.read()
        let before = world.desk.series
        for number in world.start().map(\.number) {
            world.calls[number] = nil
            world.desk.takeBack(number, now: world.now)
        }
        world.desk.keep(of: DeskWorld.topic) { $0.source == "shop" }
        #expect(world.desk.records.count == 2 && world.desk.series != before)
        for offset: Int64 in [0, 2] {
            let calls = world.start()
            #expect(calls.map(\.record.offset) == [offset])
            for call in calls { world.end(call.number, status: 200) }
        }
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 4])
    }

    @Test func whatRetentionTookIsCountedAndPassed() throws {
        var world = DeskWorld(try sampleReceiver())
        for partition in Int32(0)..<2 { world.give(partition, from: 100) }
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 100, DeskWorld.place(1): 100])
        let lost = world.desk.skip(to: FeedPlaces([0: 400, 1: 100]), of: DeskWorld.topic)
        #expect(lost == [DeskWorld.place(0): 300])
        #expect(world.desk.places(of: DeskWorld.topic).offsets == [0: 400, 1: 100])
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 400])
    }

    @Test func aTopicThatWasMadeAnewIsReadFromItsBeginning() throws {
        var world = DeskWorld(try sampleReceiver())
        world.give(0, from: 100)
        let lost = world.desk.skip(to: FeedPlaces([0: 0]), of: DeskWorld.topic)
        #expect(lost == [DeskWorld.place(0): 0])
        #expect(world.desk.places(of: DeskWorld.topic).offsets == [0: 0])
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 0])
    }

    @Test func aClockThatJumpsLosesNothing() throws {
        var world = try DeskWorld(sampleReceiver(), results: 10)
        for call in world.start() { world.end(call.number, status: 500) }
        world.now += 40 * 86_400_000_000_000
        var taken: Set<Int64> = []
        for _ in 0..<200 where taken.count < 10 {
            for call in world.start() {
                world.end(call.number, status: 200)
                taken.insert(call.record.offset)
            }
            world.pass()
        }
        #expect(taken.count == 10)
        #expect(world.desk.takeOffsets() == [DeskWorld.place(0): 10])
    }
}
