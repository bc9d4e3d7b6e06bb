import Testing

@testable import WorkerRuntime

/// When it is looked for partitions that nobody reads, and when a worker joins anew because of them.
struct GroupSurveyTests {
    private static let second: Int64 = 1_000_000_000

    @Test func nothingIsLookedForWithoutAnAssignment() {
        var survey = GroupSurvey()
        let before = survey.isDue(1000 * Self.second)
        survey.began(0)
        survey.ended()
        let after = survey.isDue(1000 * Self.second)
        let joins = survey.found(1, at: 0)
        #expect(!before && !after && !joins)
    }

    @Test func aPartitionIsMissedTwiceBeforeTheGroupIsJoinedAnew() {
        var survey = GroupSurvey()
        survey.began(0)
        var looks: [Int64] = []
        var joined: [Int64] = []
        for second in 0..<100 {
            let now = Int64(second) * Self.second
            guard survey.isDue(now) else { continue }
            looks.append(Int64(second))
            let isDueAgain = survey.isDue(now)
            #expect(!isDueAgain, "one at a time")
            if survey.found(second < 30 ? 0 : 2, at: now) { joined.append(Int64(second)) }
        }
        #expect(looks == [5, 15, 25, 35, 38, 98])
        #expect(joined == [38])
    }

    @Test func whatWasMissedOnceAndIsReadNowWasARebalance() {
        var survey = GroupSurvey()
        survey.began(0)
        for (second, count) in [(5, 1), (8, 0), (18, 1), (21, 0), (31, 1)] as [(Int64, Int)] {
            let isDue = survey.isDue(second * Self.second)
            let joins = survey.found(count, at: second * Self.second)
            #expect(isDue && !joins, "\(second)")
        }
    }

    /// The assignment that follows begins no second round at once: what nobody reads then has another reason.
    @Test func joiningAnewThatDoesNotHelpIsNotRepeatedWithinAMinute() {
        var survey = GroupSurvey()
        survey.began(0)
        var now: Int64 = 0
        var joined: [Int64] = []
        while now < 600 * Self.second {
            now += Self.second
            guard survey.isDue(now), survey.found(1, at: now) else { continue }
            joined.append(now / Self.second)
            survey.ended()
            survey.began(now + Self.second)
        }
        #expect(zip(joined, joined.dropFirst()).allSatisfy { $1 - $0 >= 60 })
        #expect(joined.first == 8 && joined.count > 5)
    }
}
