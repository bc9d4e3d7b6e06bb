public import Basics

/// The hubs whose room for requests that wait is full, and since when: until half of it is free.
///
/// A hub that works makes room soon, so what comes next is not read until then. Where that takes longer, what finds no room is deferred
/// until half of it is free.
public struct FullHubs: Sendable {
    /// The time for which one hub may hold up what is read for others: 5 s in nanoseconds.
    public static let patience: Int64 = 5_000_000_000

    private var begins: [MonotonicTime?] = []
    private var full = NumberSet()
    private var deferring = NumberSet()

    /// No hub's room is full.
    public init() {}

    /// Their numbers, in no order.
    public var numbers: [Int] { full.members }

    /// Notes what a hub's room holds.
    ///
    /// - Parameters:
    ///   - hub: The hub's number, from 0.
    ///   - used: What is in it, in any unit.
    ///   - most: What has room in it, in the same one.
    ///   - now: The present moment.
    public mutating func note(_ hub: Int, holding used: Int, of most: Int, now: MonotonicTime) {
        while begins.count <= hub { begins.append(nil) }
        if used >= most {
            begins[hub] = begins[hub] ?? now
        } else if used <= most / 2 {
            begins[hub] = nil
        }
        full.set(hub, isMember: begins[hub] != nil)
        if begins[hub] == nil { deferring.set(hub, isMember: false) }
    }

    /// True if a hub's room has been full for longer than others can wait.
    public func isOverdue(_ hub: Int, now: MonotonicTime) -> Bool {
        guard begins.indices.contains(hub), let begin = begins[hub] else { return false }
        return now - begin >= Self.patience
    }

    /// True if what finds no room at a hub is deferred.
    public func isDeferring(_ hub: Int) -> Bool { deferring.contains(hub) }

    /// Notes that from now on, until half of its room is free, what finds no room at a full hub is deferred.
    public mutating func beginDeferral(_ hub: Int) { deferring.set(hub, isMember: true) }
}
