import Basics
import EventLoop
import Foundation
import Synchronization
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

    /// The kernel gives little room to a user who has many pipes, and elsewhere pages, and so pipes, are larger (pipe(7)).
    @Test(arguments: [4096, 8192, 65_536, 131_072] as [Int32]) func aPipeOfAnySizeSaysThatItWasFull(byteCount: Int32) throws {
        let pipe = try NumberPipe()
        // F_SETPIPE_SZ.
        try #require(fcntl(pipe.fileDescriptor, 1031, byteCount) == byteCount)
        var count: UInt32 = 0
        while pipe.add(count) { count += 1 }
        #expect(count == byteCount / 4)
        var numbers: [UInt32] = []
        #expect(!pipe.drain { numbers.append($0) })
        while !pipe.drain({ numbers.append($0) }) {}
        #expect(numbers == Array(0..<count))
        for number in 1..<count { #expect(pipe.add(number)) }
        numbers = []
        let isAll = pipe.drain { numbers.append($0) }
        #expect(isAll || byteCount > 65_536, "it was not full")
    }

    /// What was taken comes once and whole, whoever writes meanwhile.
    @Test func numbersOfManyThreadsComeOnceEach() throws {
        let pipe = try NumberPipe()
        let (threads, each) = (4, UInt32(50_000))
        let added = Atomic(0)
        let left = Atomic(threads)
        for thread in 0..<threads {
            Thread.detachNewThread {
                for number in 0..<each where pipe.add(UInt32(thread) * each + number) { added.wrappingAdd(1, ordering: .relaxed) }
                left.wrappingSubtract(1, ordering: .releasing)
            }
        }
        var last = [Int64](repeating: -1, count: threads)
        var (count, strangeCount) = (0, 0)
        func take(_ number: UInt32) {
            let (thread, place) = (Int(number / each), Int64(number % each))
            guard thread < threads, place > last[thread] else { return strangeCount += 1 }
            last[thread] = place
            count += 1
        }
        while left.load(ordering: .acquiring) > 0 { _ = pipe.drain(take) }
        while !pipe.drain(take) {}
        #expect(strangeCount == 0 && count == added.load(ordering: .relaxed))
    }
}
