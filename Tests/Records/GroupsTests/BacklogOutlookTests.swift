import Testing

@testable import Groups

@Suite struct BacklogOutlookTests {
    @Test(
        arguments: [
            (22_320, 31, nil, "done in about 12 min at 31/s, if nothing more comes"),
            (22_320, 31, 0, "done in about 12 min at 31/s, if nothing more comes"),
            (22_320, 31, 21, "done in about 37 min: 21/s come, 31/s end"),
            (360, 0.5, nil, "done in about 12 min at 0.5/s, if nothing more comes"),
            (7_200_000, 1000, nil, "done in about 2 h at 1000/s, if nothing more comes"),
            (1, 1000, nil, "done in about 1 s at 1000/s, if nothing more comes"),
            (500, 31, 40, "grows: 40/s come, 31/s end"), (500, 0, 40, "grows: 40/s come, 0/s end"),
            (500, 40, 41, "stays: 41/s come, 40/s end"), (500, 40, 39, "stays: 39/s come, 40/s end"),
            (500, 40, 40, "stays: 40/s come, 40/s end"), (500, 0, nil, "stands: 0/s end"), (500, 0, 0, "stands: 0/s end"),
            (500, 0.04, nil, "stands: 0/s end"),
        ] as [(Int64, Double, Double?, String)])
    func aBacklogEndsByWhatEndsLessWhatComes(waiting: Int64, finished: Double, published: Double?, text: String) {
        let outlook = BacklogOutlook(
            waiting: waiting, isAtMost: false, finishedPerSecond: finished, publishedPerSecond: published)
        #expect(outlook?.text == text)
    }

    @Test func ofASampleTheTimeIsTheMost() {
        let outlook = BacklogOutlook(waiting: 22_320, isAtMost: true, finishedPerSecond: 31, publishedPerSecond: nil)
        #expect(outlook?.text == "done in at most about 12 min at 31/s, if nothing more comes")
        #expect(outlook?.trend == .ends(after: 720_000))
    }

    @Test func whereNothingWaitsThereIsNoEstimate() {
        #expect(BacklogOutlook(waiting: 0, isAtMost: false, finishedPerSecond: 31, publishedPerSecond: 40) == nil)
    }

    /// Anybody who may write to the topic of reports may report any rate.
    @Test(arguments: [
        (Double.infinity, BacklogOutlook.Trend.stands), (.nan, .stands), (-5, .stands), (0.1, .ends(after: 86_400_000_000)),
        (1e300, .ends(after: 86_400_000_000)),
    ])
    func noRateIsTooOdd(finished: Double, trend: BacklogOutlook.Trend) {
        let outlook = BacklogOutlook(waiting: .max, isAtMost: false, finishedPerSecond: finished, publishedPerSecond: nil)
        #expect(outlook?.trend == trend && outlook?.finishedPerSecond ?? .infinity <= 1e9)
    }
}
