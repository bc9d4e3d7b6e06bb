import Basics
import Delivery
import Testing

/// In which order partitions are read whose records say where they begin.
struct ProbeTurnsTests {
    private static let second: Int64 = 1_000_000_000

    /// Someone who reads, with a clock that moves by tenths of a second.
    private struct Reader {
        var turns: ProbeTurns
        var now = MonotonicTime(nanoseconds: 0)
        /// Which partitions each turn had, and how many tenths of a second it took.
        var log: [(present: [Int], length: Int)] = []

        init(_ count: Int) { turns = ProbeTurns(count: count) }

        /// Reads for a turn.
        ///
        /// - Parameter step: Does what a tenth of a second brings.
        mutating func turn(_ step: (inout ProbeTurns, MonotonicTime, _ tenth: Int) -> Void = { _, _, _ in }) {
            turns.begin(now)
            let present = turns.present
            var length = 0
            while true {
                step(&turns, now, length)
                if turns.isOver(now) { break }
                now = now + second / 10
                length += 1
            }
            log.append((present, length))
        }
    }

    @Test(arguments: [1, 31, 32, 33, 400])
    func eachHasATurnBeforeAnyHasItsSecond(count: Int) {
        var reader = Reader(count)
        while reader.log.count * ProbeTurns.mostAtOnce < count { reader.turn() }
        let present = reader.log.flatMap(\.present)
        #expect(Array(present.prefix(count)) == Array(0..<count))
        #expect(reader.log.allSatisfy { $0.present.count <= ProbeTurns.mostAtOnce && $0.length == 10 })
        #expect(!reader.turns.isDone)
    }

    /// Of 400 partitions the first 32 do not answer. Those behind them are done as soon as one turn of a second is over.
    @Test func thoseThatDoNotAnswerHoldUpNoOther() {
        var reader = Reader(400)
        var answered: Set<Int> = []
        var lastAnswer = reader.now
        while answered.count < 368 {
            reader.turn { turns, now, _ in
                for index in turns.present where index >= 32 {
                    turns.answered(index, at: now)
                    answered.insert(index)
                    lastAnswer = now
                }
            }
        }
        #expect(lastAnswer == MonotonicTime(nanoseconds: Self.second))
        #expect(answered == Set(32..<400) && !reader.turns.isDone)
        reader.turn { turns, now, _ in turns.present.forEach { turns.answered($0, at: now) } }
        #expect(reader.turns.isDone)
    }

    @Test func whatIsNotAnsweredIsReadForLongerAndLongerButForNoMoreThanHalfAMinute() {
        var reader = Reader(40)
        for _ in 0..<14 { reader.turn() }
        #expect(reader.log.map(\.length) == [10, 10, 20, 20, 40, 40, 80, 80, 160, 160, 300, 300, 300, 300])
    }

    @Test func oneAloneHasItsTurnAsLongAsItsRecordsCome() {
        var reader = Reader(1)
        reader.turn { turns, now, tenth in if tenth < 600, tenth.isMultiple(of: 9) { turns.read(at: now) } }
        #expect(reader.log.map(\.length) == [604])
        reader.turn { turns, now, _ in turns.answered(0, at: now) }
        #expect(reader.turns.isDone && reader.log.map(\.length) == [604, 0])
    }

    @Test func oneThatAlwaysHasRecordsLeavesItsPlaceToThoseThatWait() {
        var reader = Reader(33)
        reader.turn { turns, now, _ in turns.read(at: now) }
        #expect(reader.log[0].length == 10)
        reader.turn { turns, now, _ in turns.read(at: now) }
        #expect(reader.log[1].present == [32] + Array(0..<31))
    }

    /// What an answer leads to cannot be learnt because no broker answers.
    @Test func whatIsPostponedComesAgainAndNotAtOnce() {
        var reader = Reader(2)
        reader.turn { turns, _, _ in turns.present.forEach { turns.postponed($0) } }
        reader.turn { turns, _, _ in turns.present.forEach { turns.postponed($0) } }
        #expect(reader.log.map(\.length) == [10, 20] && reader.log.map(\.present) == [[0, 1], [0, 1]])
        reader.turn { turns, now, _ in
            turns.answered(1, at: now)
            turns.postponed(0)
        }
        #expect(reader.log[2].length == 0 && !reader.turns.isDone)
        reader.turn { turns, now, _ in turns.answered(0, at: now) }
        #expect(reader.log[3].present == [0] && reader.turns.isDone)
    }

    @Test func noneIsDoneAtOnce() {
        #expect(ProbeTurns(count: 0).isDone && !ProbeTurns(count: 1).isDone)
    }
}
