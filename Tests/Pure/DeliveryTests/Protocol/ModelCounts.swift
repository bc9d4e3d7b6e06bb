/// How often the interesting cases came up.
struct ModelCounts {
    var commits = 0
    var foundCommitted = 0
    var foundNotCommitted = 0
    var superseded = 0
    var refused = 0
    var fenced = 0
    var guarded = 0
    var drained = 0
    var cut = 0
    var lost = 0
    var waits = 0
    var parked = 0
    /// Records that waited for a commit that let them be begun.
    var reserveWaits = 0
    var lateCompletions = 0
    var takeovers = 0
    var calls = 0
    var repeated = 0
    /// Batches that brokers rejected for a record in them.
    var rejected = 0
    /// Batches of which a part was offered, and what a position left out.
    var divided = 0
    /// Units that were offered again after they had been put back.
    var putBack = 0
    var givenUp = 0
    var closed = 0
    var opened = 0
    /// Workers that learnt that positions take no maps.
    var inOrder = 0
    /// Commits that took so long that it was asked whether they took place.
    var slow = 0
    var committersReplaced = 0
    /// Batches whose assignment ended before their answer came.
    var forgotten = 0
    var groupStarts = 0
    /// Workers that stopped because they were asked to.
    var stops = 0
    /// Positions that an assignment was asked for and that could not be learnt.
    var unknownPositions = 0
    /// Positions of an assignment that had ended before they came.
    var outdated = 0
    /// Times that a worker rejoined the group because of a partition without a consumer.
    var rejoins = 0

    static func += (sum: inout ModelCounts, part: ModelCounts) {
        for count in all { sum[keyPath: count] += part[keyPath: count] }
    }

    static var all: [WritableKeyPath<ModelCounts, Int>] { frequent + [\.superseded, \.waits] }

    /// What comes up in every hundred thousand steps.
    static var frequent: [WritableKeyPath<ModelCounts, Int>] {
        [
            \.commits, \.foundCommitted, \.foundNotCommitted, \.refused, \.fenced, \.guarded, \.drained, \.cut, \.lost,
            \.parked, \.reserveWaits, \.lateCompletions, \.takeovers, \.calls, \.repeated, \.rejected, \.divided, \.putBack,
            \.givenUp,
            \.closed, \.opened, \.inOrder, \.slow, \.committersReplaced, \.forgotten, \.groupStarts, \.stops,
            \.unknownPositions, \.outdated, \.rejoins,
        ]
    }
}
