public import Basics

/// The hubs whose room for requests that wait is full, or was and is not half free yet.
///
/// A hub that works makes room soon, so what comes next is not read until then. Where that takes longer, what finds no room is deferred
/// until half of it is free.
public struct FullHubs: Sendable {
    /// The time for which one hub may hold up what is read for others: 5 s in nanoseconds.
    public static let patience: Int64 = 5_000_000_000

    private struct Room {
        let begin: MonotonicTime
        var isDeferring = false
        /// True if half of it was free at the last look.
        var wasHalfFree = false
    }

    private var rooms: [Room?] = []
    private var full = NumberSet()

    /// No hub's room is full.
    public init() {}

    /// Their numbers, in no order.
    public var numbers: [Int] { full.members }

    /// True if a hub is one of them.
    public func isFull(_ hub: Int) -> Bool { full.contains(hub) }

    /// True if what finds no room at a hub is deferred.
    public func isDeferring(_ hub: Int) -> Bool { rooms.indices.contains(hub) && rooms[hub]?.isDeferring ?? false }

    /// Notes that a hub, by its number from 0, has no room for more.
    public mutating func noteFull(_ hub: Int, now: MonotonicTime) {
        while rooms.count <= hub { rooms.append(nil) }
        if rooms[hub] == nil { rooms[hub] = Room(begin: now) }
        rooms[hub]?.wasHalfFree = false
        full.set(hub, isMember: true)
    }

    /// Looks at them, once a second. A room that is half free at two looks one after the other, and was not full between them, is full no more:
    /// a large request that leaves makes half of a small room free for a moment.
    ///
    /// - Parameters:
    ///   - now: The present moment.
    ///   - isHalfFree: Says of a hub whether half of its room is free.
    ///   - holdsUpOthers: Says of a hub that has been full for `patience` whether deferral is to begin there.
    public mutating func update(now: MonotonicTime, isHalfFree: (Int) -> Bool, holdsUpOthers: (Int) -> Bool) {
        for hub in full.members {
            guard var room = rooms[hub] else { continue }
            let isHalfFree = isHalfFree(hub)
            let isOver = isHalfFree && room.wasHalfFree
            room.wasHalfFree = isHalfFree
            if !room.isDeferring, now - room.begin >= Self.patience { room.isDeferring = holdsUpOthers(hub) }
            rooms[hub] = isOver ? nil : room
            full.set(hub, isMember: !isOver)
        }
    }
}
