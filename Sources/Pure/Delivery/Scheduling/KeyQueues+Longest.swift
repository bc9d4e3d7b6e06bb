/// The ordering key of a partition behind which the most requests wait.
public struct LongestKey: Sendable, Equatable {
    /// The offset of the request that the others wait for, where it was published.
    public var offset: Int64
    /// The requests that wait behind it, as far as they were read.
    public var waiting: Int
    /// Those that wait behind any key of the loop.
    public var all: Int

    /// A key behind which some of all requests wait.
    public init(offset: Int64, waiting: Int, of all: Int) { (self.offset, self.waiting, self.all) = (offset, waiting, all) }
}

extension KeyQueues {
    /// The number of requests that wait behind the first of their keys.
    var followerCount: Int { count - queues.count }

    /// The offset of the first request of the key with the most followers, and their number. Nil where none has any. It looks at all keys.
    var longest: (offset: Int64, followers: Int)? {
        guard followerCount > 0, let queue = queues.values.max(by: { $0.requests.count < $1.requests.count }) else { return nil }
        return (queue.first.origin.offset, queue.requests.count - 1)
    }
}

extension Scheduler {
    /// The followers from which a key is looked for.
    private static var leastFollowers: Int { 20 }

    /// The key behind which most of the requests wait that wait for keys, by its slot. Nil where there is none, or few wait. It takes a
    /// look at all keys of a partition only where most of them may wait behind one.
    public var longestKey: (slot: Int, key: LongestKey)? {
        let all = filled.members.reduce(0) { $0 + keys[$1].followerCount }
        guard all >= Self.leastFollowers, let slot = filled.members.first(where: { 2 * keys[$0].followerCount > all }),
            let longest = keys[slot].longest, 2 * longest.followers > all
        else { return nil }
        return (slot, LongestKey(offset: longest.offset, waiting: longest.followers, of: all))
    }
}
