package import HubServer

/// Takes a user out of the notifications and the lists of refused devices in a file that no hub serves.
package struct UserTraces {
    /// Rows that are looked at in one change.
    private static let portion = 500

    /// Notifications at their end whose tags were taken away.
    package private(set) var endedCount = 0
    /// Notifications on their way to the user alone. They are canceled.
    package private(set) var canceledCount = 0
    /// Notifications on their way to others, too. They keep their audience and their text.
    package private(set) var keptCount = 0
    /// Refused devices that were removed.
    package private(set) var refusalCount = 0
    private let user: FoundUser
    private let now: Int64

    /// Traces that are all there.
    ///
    /// - Parameters:
    ///   - removal: A removal that has found the user's devices, and has not removed them.
    ///   - now: The end of what is canceled, in milliseconds since 1970.
    package init(of removal: UserRemoval, at now: Int64) { (user, self.now) = (removal.user, now) }

    /// Removes them all, some in each change.
    ///
    /// - Parameter file: The hub's file.
    /// - Throws: 503. What was removed by then stays so.
    package mutating func remove(from file: HubFile) throws(RefusedCall) {
        var last: Int64? = 0
        while let number = last { last = try removeFromMessages(behind: number, in: file) }
        last = 0
        while let number = last {
            let removed = try file.change { [user] (connection) throws(RefusedCall) in
                try FeedbackRows(connection: connection).remove(of: user, behind: number, limit: Self.portion)
            }
            refusalCount += removed.count
            last = removed.last
        }
    }

    /// Looks at some notifications. Returns the number of the last, or nil at the end.
    private mutating func removeFromMessages(behind number: Int64, in file: HubFile) throws(RefusedCall) -> Int64? {
        let seen = try file.change { [user, now] (connection) throws(RefusedCall) in
            let rows = MessageRows(connection: connection)
            let messages = try rows.addressed(behind: number, limit: Self.portion)
            var seen = (last: messages.last?.number, ended: 0, canceled: 0, kept: 0, refusals: 0)
            for message in messages {
                let share = message.expression.map(user.share(in:)) ?? user.share(in: message.devices)
                // The devices of a send to the user are the user's, even those that are not there any more.
                if share == .all {
                    seen.refusals += try FeedbackRows(connection: connection).remove(of: message.number)
                }
                switch (share, message.isEnded) {
                case (.none, _): continue
                case (_, true): seen.ended += 1
                case (.some, false):
                    seen.kept += 1
                    continue
                case (.all, false):
                    try rows.end(message.number, as: .canceled, at: now)
                    seen.canceled += 1
                }
                try rows.removeTags(of: message.number)
            }
            return seen
        }
        endedCount += seen.ended
        canceledCount += seen.canceled
        keptCount += seen.kept
        refusalCount += seen.refusals
        return seen.last
    }
}
