import Basics
import EventLoop
import Foundation
import TestSupport
import Testing

@Suite(.tags(.threads, .c)) struct EventLoopTests {
    @Test func aSignalFromAnotherThreadWakesAWaitAndIsDrainedOnce() throws {
        let poller = try Poller()
        let wakeUp = try WakeUp()
        try poller.add(wakeUp.fileDescriptor, token: 42, interest: .readable)
        Thread.detachNewThread { for _ in 0..<3 { wakeUp.signal() } }
        let ready = try poller.wait(until: MonotonicTime.now().advanced(by: farDeadline))
        try #require(ready == 0..<1)
        #expect(poller[0] == Poller.Event(token: 42, readiness: .readable))
        #expect(wakeUp.drain())
    }

    @Test func signalsBeforeTheDrainCountAsOne() throws {
        let poller = try Poller()
        let wakeUp = try WakeUp()
        try poller.add(wakeUp.fileDescriptor, token: 1, interest: .readable)
        for _ in 0..<3 { wakeUp.signal() }
        #expect(try poller.wait(until: .now()).count == 1)
        #expect(wakeUp.drain())
        #expect(!wakeUp.drain())
        #expect(try poller.wait(until: .now()).isEmpty)
    }

    @Test func interestCanBeChangedAndTakenBack() throws {
        let poller = try Poller(maximumEvents: 1)
        let wakeUp = try WakeUp()
        try poller.add(wakeUp.fileDescriptor, token: 1, interest: .readable)
        try poller.modify(wakeUp.fileDescriptor, token: 2, interest: [.readable, .writable])
        try #require(try poller.wait(until: .now()).count == 1)
        #expect(poller[0] == Poller.Event(token: 2, readiness: .writable))
        poller.remove(wakeUp.fileDescriptor)
        poller.remove(wakeUp.fileDescriptor)
        #expect(try poller.wait(until: .now()).isEmpty)
        #expect(throws: SystemCallError.self) { try poller.add(-1, token: 0, interest: .readable) }
    }

    @Test func aWaitNeverEndsBeforeItsDeadline() throws {
        let poller = try Poller()
        for nanoseconds in [1, 100_000, 1_000_001, 3_500_000] as [Int64] {
            let deadline = MonotonicTime.now().advanced(byNanoseconds: nanoseconds)
            #expect(try poller.wait(until: deadline).isEmpty)
            #expect(MonotonicTime.now() >= deadline)
        }
    }

    @Test func theWallClockCountsFrom1970() {
        #expect(WallClock.millisecondsSince1970() > 1_700_000_000_000)
    }

    @Test func numbersComeInTheirOrderAndAFullPipeSaysSo() throws {
        let pipe = try NumberPipe()
        var numbers: [UInt32] = []
        func drain() -> Bool {
            numbers = []
            return pipe.drain { numbers.append($0) }
        }
        #expect(drain() && numbers.isEmpty)
        for number in [5, 0, .max, 5] as [UInt32] { #expect(pipe.add(number)) }
        #expect(drain() && numbers == [5, 0, .max, 5])
        var count: UInt32 = 0
        while pipe.add(count) { count += 1 }
        #expect(count == 16_384)
        #expect(!drain() && numbers == Array(0..<count))
        #expect(pipe.add(1))
        #expect(drain() && numbers == [1])
    }
}
