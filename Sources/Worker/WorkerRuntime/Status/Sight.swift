import PushModel

/// A loop's knowledge of what lies unread: it has some once partitions have begun, and none while no broker answers. Without clock.
struct Sight: Equatable {
    /// The silence of brokers after which the end of a partition is not known any more.
    static let longestSilence = Duration.seconds(5)

    /// True if what lies unread is not known.
    private(set) var isBlind = true
    /// The moment at which partitions last began before brokers were silent.
    private var begunBefore = Timestamp(milliseconds: 0)

    /// Takes in how things stand. Where partitions were taken away while brokers were silent, it is blind until others begin, perhaps none.
    ///
    /// - Parameters:
    ///   - silence: The time for which no broker has answered.
    ///   - begunAt: The moment at which partitions last began.
    ///   - ownsPartitions: Whether there are some that have begun.
    mutating func note(silence: Duration, begunAt: Timestamp, ownsPartitions: Bool) {
        if silence >= Self.longestSilence {
            isBlind = true
            begunBefore = begunAt
        } else if ownsPartitions || begunAt != begunBefore {
            isBlind = false
        }
    }
}

/// Since when something waits, as far as that is known. What waited when nothing more could be known waits on.
struct KnownWait: Equatable {
    private var since: Timestamp?

    /// The seconds that the oldest has been waiting, 0 if nothing waits, or nil where that is not known.
    ///
    /// - Parameters:
    ///   - moment: The time since which it waits as far as is seen now, not before `now` if nothing does.
    ///   - isBlind: Whether more may wait than is seen.
    ///   - now: The present moment.
    /// - Returns: The seconds, or nil.
    mutating func seconds(since moment: Timestamp, isBlind: Bool, now: Timestamp) -> Double? {
        let seen = moment < now ? moment : nil
        since = isBlind ? [since, seen].compactMap(\.self).min() : seen
        return since.map { now.seconds(since: $0) } ?? (isBlind ? nil : 0)
    }
}
