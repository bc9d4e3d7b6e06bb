import Basics
import Kafka
import ResultFeed
import Testing

@testable import CallbackRuntime

/// The pauses after which dead letters are written again.
@Suite struct UnwrittenLettersTests {
    private static let second: Int64 = 1_000_000_000
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func letter(_ number: Int) throws -> UntakenResult {
        UntakenResult(
            number: number, record: try sample(Int64(number)), place: TopicPartition(topic: "results", partition: 0),
            reason: .gaveUp, attempts: 9, firstAt: 0, lastAt: 1, status: 500)
    }

    @Test func thePauseGrowsUpToHalfAMinuteAndEndsWithTheProblem() throws {
        var (letters, now) = (UnwrittenLetters(), start)
        for seconds: Int64 in [1, 2, 4, 8, 16, 30, 30] {
            letters.add(try letter(1), because: "no room", now: now)
            #expect(letters.problem == "no room")
            now += seconds * Self.second
            #expect(letters.takeDue(now: now + -1) { _ in true }.isEmpty)
            #expect(letters.takeDue(now: now) { _ in true }.map(\.number) == [1])
            #expect(letters.problem == "no room", "it is being written again")
        }
        letters.noteWritten(1)
        #expect(letters.problem == nil)
        letters.add(try letter(2), because: "no leader", now: now)
        #expect(letters.takeDue(now: now + Self.second) { _ in true }.map(\.number) == [2])
    }

    @Test func manyThatFailTogetherHaveOnePause() throws {
        var letters = UnwrittenLetters()
        for number in 1...100 { letters.add(try letter(number), because: "no room", now: start) }
        #expect(letters.takeDue(now: start + Self.second) { _ in true }.count == 100)
    }

    @Test func oneThatIsAnothersByNowIsForgotten() throws {
        var letters = UnwrittenLetters()
        letters.add(try letter(1), because: "no room", now: start)
        #expect(letters.takeDue(now: start + Self.second) { _ in false }.isEmpty)
        #expect(letters.problem == nil)
    }
}
