public import Basics

/// The calls that wait alike by limits: those of one lane to one hub that the same orders concern.
public struct LimitedLine: Hashable, Sendable {
    /// The number of the hub.
    public var hub: Int
    /// The number of the lane.
    public var lane: Int
    /// The ids of the orders, each once.
    public var orders: [String]

    /// A line.
    public init(hub: Int, lane: Int, orders: [String]) { (self.hub, self.lane, self.orders) = (hub, lane, orders) }
}

/// The limits that stand for the requests of a tenant, a source, a lane, a label, a user or an id: one worker's part of each, and its calls
/// that wait for it.
///
/// A part is the limit times the worker's partitions of requests by all there are. So all parts together are never more than the limit, and
/// nothing has to be agreed on. What a worker does not use is lost. Each limit has a token bucket, and a call takes a token of each order
/// that concerns it at the moment when it begins, none before.
///
/// Those that find no token wait in lines, and the line whose first call came first is served first. A call that needs several tokens comes
/// to them because one that is there is kept for it as soon as the others come before the next of its kind. A hub that takes no call
/// keeps its own lines alone.
///
/// A line is short. What finds no room there is deferred to a moment of its own, one after the other at the rate of the limit, so that as
/// much comes back as may begin.
public struct OrderLimits<Call> {
    private struct Limit {
        var bucket: TokenBucket
        /// The calls that wait for it.
        var waitingCount = 0
        /// The end of what was deferred.
        var deferredEnd = MonotonicTime.past

        /// The nanoseconds in which a token comes.
        var interval: Int64 { bucket.rate > 0 ? 1_000_000_000_000 / bucket.rate : .max }
    }

    private struct Entry {
        var call: Call
        /// Grows with each call that waits.
        var arrival: UInt64
    }

    /// The most calls of a line.
    public static var mostOfLine: Int { 1024 }
    /// The time for which the last of a line waits at most, as long as its limit is used by no other: 10 s in nanoseconds. New requests fill
    /// half of that, and the rest is for those that were deferred.
    public static var longestWait: Int64 { 10_000_000_000 }

    private var limits: [String: Limit] = [:]
    private var lines: [LimitedLine: FIFO<Entry>] = [:]
    private var arrivals: UInt64 = 0
    /// The lines that this pass has yet to look at, the first of them last.
    private var pass: [LimitedLine] = []
    /// The tokens that this pass keeps for calls that need others as well.
    private var reserved: [String: Int] = [:]
    private var hasTaken = false
    /// True if a line waits for its hub, of which no moment is known.
    private var awaitsHub = false

    /// The moment when a call may have all its tokens. It may lie in the past.
    public private(set) var nextDue = MonotonicTime.never

    /// No limits.
    public init() {}

    /// True if none stands.
    public var isEmpty: Bool { limits.isEmpty }

    /// The calls that wait, and those among them that are not wanted any more.
    public var waitingCount: Int { lines.values.reduce(0) { $0 + $1.count } }

    /// The calls that wait for a limit, by the orders' ids, without those that wait for none.
    public var waitingCounts: [String: Int] { limits.compactMapValues { $0.waitingCount > 0 ? $0.waitingCount : nil } }

    /// True if calls to the hub of a number wait.
    public func delays(hub: Int) -> Bool { lines.keys.contains { $0.hub == hub } }

    /// True if an order is one of the limits.
    public func contains(_ order: String) -> Bool { limits[order] != nil }

    /// Takes in the limits that stand, and this worker's part. Those that stood before keep their tokens.
    ///
    /// - Parameters:
    ///   - rates: Calls per second of all workers together, by the orders' ids.
    ///   - owned: The partitions of requests that this worker has.
    ///   - all: All that there are, 0 where that is not known: then nothing is its part.
    ///   - now: The present moment.
    public mutating func set(_ rates: [String: Int], owned: Int, of all: Int, now: MonotonicTime) {
        let former = limits
        limits = rates.reduce(into: [:]) { limits, order in
            var limit = former[order.key] ?? Limit(bucket: TokenBucket(rate: 0, now: now))
            let rate = min(Int64(clamping: order.value), 1_000_000) * 1000
            let part = all > 0 ? rate * Int64(min(owned, all)) / Int64(all) : 0
            // Deferred requests may be examined before their time now.
            limit.deferredEnd = .past
            limit.bucket.setRate(part, now: now)
            limits[order.key] = limit
        }
        nextDue = .past
    }

    /// Takes the tokens of a call that may begin at once: all its tokens are there, and no other waits for any of them.
    ///
    /// - Returns: Whether it begins.
    public mutating func begins(_ line: LimitedLine, now: MonotonicTime) -> Bool {
        for order in line.orders where (limits[order]?.waitingCount ?? 0) > 0 || token(of: order, now: now) != nil {
            return false
        }
        takeTokens(of: line)
        return true
    }

    /// True if another call may wait in a line, which one that was deferred may sooner.
    public func hasRoom(in line: LimitedLine, wasDeferred: Bool) -> Bool {
        let rate = line.orders.compactMap { limits[$0]?.bucket.rate }.min() ?? 0
        let most = min(Int(rate * (Self.longestWait / 1_000_000_000) / 1000), Self.mostOfLine)
        return lines[line]?.count ?? 0 < max(1, wasDeferred ? most : most / 2)
    }

    /// Lets a call wait behind the others of its line.
    public mutating func append(_ call: Call, to line: LimitedLine) {
        if lines[line] == nil { nextDue = .past }
        arrivals += 1
        lines[line, default: FIFO()].append(Entry(call: call, arrival: arrivals))
        for order in line.orders { limits[order]?.waitingCount += 1 }
    }

    /// Gives a request that finds no room its moment behind all that were deferred before.
    ///
    /// - Parameters:
    ///   - line: The line of its calls.
    ///   - count: How many calls it has to make.
    ///   - former: How long it would have waited where it was, milliseconds, for one that was examined before its time.
    ///   - now: The present moment.
    /// - Returns: How long it waits, milliseconds.
    public mutating func deferral(in line: LimitedLine, of count: Int, former: Int64? = nil, now: MonotonicTime) -> Int64 {
        let first = now + DelayPolicy.shortestStay * 1_000_000
        var moment = first
        for order in line.orders { moment = max(moment, limits[order]?.deferredEnd ?? .past) }
        // It has a place among the others that were deferred.
        if let former, former >= DelayPolicy.shortestStay, former <= (moment - now) / 1_000_000 { return former }
        for order in line.orders {
            guard let limit = limits[order] else { continue }
            let own = max(first, limit.deferredEnd)
            let (span, isTooLong) = limit.interval.multipliedReportingOverflow(by: Int64(count))
            limits[order]?.deferredEnd = own + (isTooLong ? .max : span)
        }
        return (moment - now) / 1_000_000
    }
}

// The turns of calls that wait.
extension OrderLimits {
    /// Begins to look for calls that may begin, if any may be found.
    ///
    /// - Returns: Whether `takeNext` may find one.
    public mutating func beginRound(now: MonotonicTime) -> Bool {
        guard !lines.isEmpty else {
            nextDue = .never
            return false
        }
        guard awaitsHub || nextDue <= now else { return false }
        beginPass()
        return true
    }

    /// Takes the next call of the round out of its line, with its tokens.
    ///
    /// - Parameters:
    ///   - now: The present moment.
    ///   - isWanted: Whether a call is still to make.
    ///   - mayStart: Whether a line's hub takes a call now.
    /// - Returns: The call, or nil at the end of the round.
    public mutating func takeNext(
        now: MonotonicTime, isWanted: (Call) -> Bool, mayStart: (LimitedLine) -> Bool
    ) -> Call? {
        while true {
            while let line = pass.popLast() {
                guard let call = takeFirst(of: line, now: now, isWanted: isWanted, mayStart: mayStart) else { continue }
                hasTaken = true
                return call
            }
            guard hasTaken else { return nil }
            beginPass()
        }
    }

    /// Takes out all calls, in the order in which they came.
    public mutating func removeAll() -> [Call] {
        let entries = lines.values.flatMap { Array($0) }.sorted { $0.arrival < $1.arrival }
        lines = [:]
        recount()
        return entries.map(\.call)
    }

    /// Takes out the calls that are not wanted any more.
    public mutating func removeAll(unless isWanted: (Call) -> Bool) {
        for line in Array(lines.keys) {
            lines[line]?.removeAll { !isWanted($0.call) }
            if lines[line]?.count == 0 { lines[line] = nil }
        }
        recount()
    }

    private mutating func recount() {
        reserved = [:]
        for order in Array(limits.keys) { limits[order]?.waitingCount = 0 }
        for (line, calls) in lines {
            for order in line.orders { limits[order]?.waitingCount += calls.count }
        }
    }

    private mutating func beginPass() {
        pass = lines.map { ($0.key, $0.value.first?.arrival ?? 0) }.sorted { $0.1 > $1.1 }.map(\.0)
        (reserved, hasTaken, awaitsHub, nextDue) = ([:], false, false, .never)
    }

    private mutating func takeFirst(
        of line: LimitedLine, now: MonotonicTime, isWanted: (Call) -> Bool, mayStart: (LimitedLine) -> Bool
    ) -> Call? {
        while let first = lines[line]?.first, !isWanted(first.call) { removeFirst(of: line) }
        guard let first = lines[line]?.first else { return nil }
        guard mayStart(line) else {
            awaitsHub = true
            return nil
        }
        var moment = now
        for order in line.orders { moment = max(moment, token(of: order, now: now) ?? now) }
        guard moment > now else {
            takeTokens(of: line)
            removeFirst(of: line)
            return first.call
        }
        nextDue = min(nextDue, moment)
        for order in line.orders where token(of: order, now: now) == nil {
            if let limit = limits[order], moment - now <= limit.interval { reserved[order, default: 0] += 1 }
        }
        return nil
    }

    private mutating func removeFirst(of line: LimitedLine) {
        _ = lines[line]?.popFirst()
        if lines[line]?.count == 0 { lines[line] = nil }
        for order in line.orders { limits[order]?.waitingCount -= 1 }
    }

    /// The moment of a token beside those that are kept for others, or nil if one is there.
    private mutating func token(of order: String, now: MonotonicTime) -> MonotonicTime? {
        limits[order]?.bucket.nextCalls(1 + (reserved[order] ?? 0), now: now)
    }

    private mutating func takeTokens(of line: LimitedLine) {
        for order in line.orders { limits[order]?.bucket.take() }
    }
}
