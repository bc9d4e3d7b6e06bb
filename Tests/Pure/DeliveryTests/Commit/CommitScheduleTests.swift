import TestSupport
import Testing

import Basics
@testable import Delivery

struct CommitScheduleTests {
    private let millisecond: Int64 = 1_000_000

    @Test func theFirstResultIsCommittedAtOnce() {
        #expect(CommitSchedule(interval: 60_000_000).due(waiting: 1, partitions: 1, now: -5) == -5)
    }

    /// Milliseconds after the last commit's beginning: what waits by then, and when the next is due.
    @Test(arguments: [
        (elapsed: 0, waiting: 1, due: 250), (1, 1, 250), (1, 2, 60), (60, 2, 60), (99, 2, 60), (100, 2, 250), (149, 3, 60),
        (150, 3, 250), (20, 240, 60), (240, 5, 60), (249, 1, 250), (250, 1, 250), (9000, 1, 250), (9000, 200, 60),
        (20, 241, 120), (60, 241, 120), (61, 245, 120), (61, 241, 60), (119, 470, 60), (119, 480, 120), (9000, 36_001, 120),
    ])
    func manyResultsAreCommittedSoonAndFewOrAFloodLater(elapsed: Int64, waiting: Int, due: Int64) {
        var schedule = CommitSchedule(interval: 60 * millisecond)
        schedule.noteStart(at: .at(7 * millisecond))
        let found = schedule.due(waiting: waiting, partitions: 1, now: .at((7 + elapsed) * millisecond))
        #expect(found == .at((7 + due) * millisecond))
    }

    @Test(arguments: [
        (interval: 0, flood: 120, many: 0, few: 250), (1, 120, 1, 250), (200, 200, 200, 250), (400, 400, 400, 400),
        (5000, 5000, 5000, 5000),
    ])
    func aLongIntervalHoldsForFewResultsAndFloodsToo(interval: Int64, flood: Int64, many: Int64, few: Int64) {
        var schedule = CommitSchedule(interval: interval * millisecond)
        schedule.noteStart(at: 0)
        #expect(schedule.due(waiting: 1_000_000, partitions: 1, now: 1) == .at(flood * millisecond))
        #expect(schedule.due(waiting: 120, partitions: 1, now: .at(60 * millisecond)) == .at(many * millisecond))
        #expect(schedule.due(waiting: 1, partitions: 1, now: .at(60 * millisecond)) == .at(few * millisecond))
    }

    /// Milliseconds after which a commit of so many partitions is due: of 240 results, of a flood, of one.
    @Test(arguments: [
        (partitions: 0, many: 60, flood: 120, few: 250), (120, 60, 120, 250), (180, 90, 180, 250), (400, 120, 400, 250),
        (600, 120, 600, 250), (5000, 120, 600, 250),
    ])
    func aCommitOfManyPartitionsIsLaterWhereItTouchesThem(partitions: Int, many: Int64, flood: Int64, few: Int64) {
        var schedule = CommitSchedule(interval: 60 * millisecond)
        schedule.noteStart(at: 0)
        func due(_ waiting: Int) -> Int64 {
            schedule.due(waiting: waiting, partitions: partitions, now: .at(60 * millisecond)).nanoseconds / millisecond
        }
        #expect((due(240), due(1_000_000), due(1)) == (many, flood, few))
    }

    @Test(arguments: [120, 400, 5000]) func aLongIntervalDoesNotGrow(partitions: Int) {
        var schedule = CommitSchedule(interval: 5000 * millisecond)
        schedule.noteStart(at: 0)
        #expect(schedule.due(waiting: 1_000_000, partitions: partitions, now: .at(millisecond)) == .at(5000 * millisecond))
    }

    /// Results that come evenly, so many a second; a commit takes no time.
    @Test(arguments: [
        (rate: 1, commits: 9...11), (4, 39...41), (12, 30...41), (16, 30...41), (50, 120...170), (200, 150...170),
        (2000, 160...170), (4000, 160...170), (5000, 80...84), (20_000, 80...84),
    ])
    func commitsOfTenSecondsFollowTheRate(rate: Int64, commits: ClosedRange<Int>) {
        var schedule = CommitSchedule(interval: 60 * millisecond)
        var waiting = 0
        var begun = 0
        var longest: Int64 = 0
        var oldest: Int64 = 0
        for tick in 0..<Int64(200_000) {
            let now = tick * 50_000
            if tick % (20_000 / rate) == 0 {
                if waiting == 0 { oldest = now }
                waiting += 1
            }
            guard waiting > 0, schedule.due(waiting: waiting, partitions: 1, now: .at(now)) <= .at(now) else { continue }
            schedule.noteStart(at: .at(now))
            longest = max(longest, now - oldest)
            begun += 1
            waiting = 0
        }
        #expect(commits.contains(begun), "\(begun)")
        #expect(longest <= (rate < 50 ? 250 : rate > 4000 ? 120 : 80) * millisecond, "\(longest)")
    }
}
