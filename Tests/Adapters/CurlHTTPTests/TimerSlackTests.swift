import EventLoop
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.tags(.threads, .c)) struct TimerSlackTests {
    private static var own: String? {
        guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self"),
            let thread = link.split(separator: "/").last,
            let text = try? String(contentsOfFile: "/proc/\(thread)/timerslack_ns", encoding: .utf8)
        else { return nil }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func onlyThreadsThatAreStartedMeanwhileMayBeLate() throws {
        let started = Mutex<String?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let before = try #require(Self.own)
        TimerSlack.coarse {
            Thread.detachNewThread {
                started.withLock { $0 = Self.own }
                isDone.signal()
            }
        }
        #expect(isDone.wait(timeout: .now() + 300) == .success)
        #expect(started.withLock { $0 } == "1000000")
        #expect(Self.own == before)
        #expect(before != "1000000")
    }
}
