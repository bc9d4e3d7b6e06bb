import Delivery
import GroupPositions
import PushModel

/// Since when the oldest unread record of one partition of requests has been waiting, as far as that can be told without reading it.
///
/// It came after the last record that was taken, and after the last moment at which nothing was unread. So a quiet topic's new record is
/// not taken for as old as the one before it. The age of a backlog that may not be read, because the hub is out, grows with the clock.
struct BacklogAge: Equatable {
    private var emptyAt: Timestamp?
    /// The time when something unread was seen first. With nothing else known, it has been waiting for at least as long.
    private var seenAt: Timestamp?

    /// Takes in how many records are unread, and when the last record that was taken was published. Returns since when the oldest
    /// of them waits, never after `now`, or nil when nothing does.
    mutating func oldest(unreadCount: Int64, lastTaken: Timestamp?, now: Timestamp) -> Timestamp? {
        guard unreadCount > 0 else {
            emptyAt = now
            seenAt = nil
            return nil
        }
        seenAt = seenAt ?? now
        return [lastTaken, emptyAt].compactMap(\.self).max().map { min($0, now) } ?? seenAt
    }
}

/// Since when the oldest unread record of one partition of a delay lane may have been waiting.
///
/// A lane's records are looked at in the order in which they were written, and none is due before it is looked at.
enum DelayedBacklog {
    /// The time since which the oldest may have been waiting, from the next record to go on, if it was read, and when the last
    /// record that was taken had to be checked again. One in the future, or none, when nothing waits. Of a next record that is
    /// due it is exact. One that only has to be handed on, and cannot be because there is no room, hides those behind it, as does
    /// a full window: then it is the earliest that it can be.
    static func oldest(
        next: (recheckTime: Timestamp, waitingSince: Timestamp)?, lastLook: Timestamp?, unreadCount: Int64, now: Timestamp
    ) -> Timestamp? {
        guard let next else { return unreadCount > 0 ? lastLook : nil }
        return next.waitingSince <= now || unreadCount <= 0 ? next.waitingSince : min(next.recheckTime, next.waitingSince)
    }
}

/// Since when what a record holds has been waiting for something other than its time.
enum WaitingSince {
    /// The time since which it waits, in the future when it waits for its time. `due` is what its record in a delay lane says, or
    /// nil for a record of a lane of requests. What was before, the attempts of a retry for one, does not count.
    static func moment(published: Timestamp, notBefore: Timestamp?, due: Timestamp?) -> Timestamp {
        due ?? max(published, notBefore ?? published)
    }
}

extension Timestamp {
    /// The seconds from `earlier` to this moment, or 0 when it is later. It may come from a record, where anybody can write any number, so
    /// that whole ones could overflow.
    func seconds(since earlier: Timestamp) -> Double { max(0, Double(milliseconds) - Double(earlier.milliseconds)) / 1000 }
}

/// Since when the oldest unread records wait, of all partitions of a loop.
struct Backlog {
    /// Those of requests, by lane.
    private(set) var requests: [Timestamp]
    /// Those of delay lanes, by their places in `DelayLanes.lengths`.
    private(set) var delays: [Timestamp]
    /// The first of all requests, and of the records of delay lanes that are unread again.
    private(set) var oldest: Timestamp
    /// The records of requests that can be read and were not, by lane.
    private(set) var unread = Lane.allCases.map { _ in 0.0 }
    /// Those that were read since the last time, by lane.
    private(set) var read = Lane.allCases.map { _ in 0.0 }
    /// The open transactions that hold some up.
    private(set) var open: [OpenTransaction] = []

    /// Nothing waits, as far as is known `now`.
    init(delayCount: Int, now: Timestamp) {
        oldest = now
        requests = Lane.allCases.map { _ in now }
        delays = Array(repeating: now, count: delayCount)
    }

    /// Takes in the unread records of a partition of requests, and those that were read since the last time.
    mutating func note(of lane: Lane, unread: Double, read: Double) {
        self.unread[lane.rawValue] += unread
        self.read[lane.rawValue] += read
    }

    /// Takes in a partition of requests.
    mutating func noteRequests(of lane: Lane, since: Timestamp?, open: [OpenTransaction]) {
        self.open += open
        guard let since else { return }
        requests[lane.rawValue] = min(requests[lane.rawValue], since)
        oldest = min(oldest, since)
    }

    /// Takes in a partition of a delay lane. `unread`: since when its first record waits, if that is unread again.
    mutating func noteDelayed(_ delay: Int, since: Timestamp?, unread: Timestamp?) {
        if let since { delays[delay] = min(delays[delay], since) }
        if let unread { oldest = min(oldest, unread) }
    }
}
