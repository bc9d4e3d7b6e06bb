import Basics

/// The waiters for the results of requests, and their deadlines. Has neither clock nor thread.
struct Waiters {
    typealias Then = @Sendable (ResultFollower.Ending) -> Void

    /// A waiter whose wait is over, called when nothing is locked.
    struct Notice {
        fileprivate let then: Then
        fileprivate let ending: ResultFollower.Ending

        /// Calls the waiter.
        func call() { then(ending) }
    }

    private struct Waiter {
        let ticket: ResultFollower.Ticket
        /// The end of the wait.
        let until: MonotonicTime
        /// The latest moment of its callback, as things are now.
        var due: MonotonicTime
        var awaited: Awaited
        let then: Then

        func notice(_ reason: ResultFollower.Ending.Kind) -> Notice {
            Notice(then: then, ending: ResultFollower.Ending(reason: reason, awaited: awaited))
        }
    }

    /// By the request's id, then by the ticket's number: as many may wait for one request as for different ones, at the same cost.
    private var waiters: [String: [UInt64: Waiter]] = [:]
    /// A deadline stays in it when its waiter has gone, or waits until another time. It is skipped when it comes.
    private var deadlines = MomentHeap<MonotonicTime, ResultFollower.Ticket>()
    private var lastNumber: UInt64 = 0
    /// The number of waiters.
    private(set) var count = 0

    /// The earliest moment at which a waiter may have to be told.
    var nextDeadline: MonotonicTime { deadlines.first ?? .never }

    /// The number of deadlines that are kept, at most 64 more than two for each waiter.
    var deadlineCount: Int { deadlines.count }

    /// True if any waiter waits for the results of a request.
    func contain(_ id: String) -> Bool { waiters[id] != nil }

    /// Adds one who waits.
    mutating func add(
        _ id: String, awaiting awaited: Awaited, until deadline: MonotonicTime, then: @escaping Then
    ) -> ResultFollower.Ticket {
        lastNumber += 1
        let ticket = ResultFollower.Ticket(id: id, number: lastNumber)
        waiters[id, default: [:]][lastNumber] =
            Waiter(ticket: ticket, until: deadline, due: deadline, awaited: awaited, then: then)
        count += 1
        note(deadline, of: ticket)
        return ticket
    }

    /// Gives a result to those who wait for it, and returns those whose goal is reached. `patience` is the time for which a
    /// `duplicate` waits for the result of the first record with its id.
    mutating func take(_ result: ResultRecord, at now: MonotonicTime, patience: Duration) -> [Notice] {
        guard var left = waiters.removeValue(forKey: result.requestID) else { return [] }
        var told: [Notice] = []
        var moved: [Waiter] = []
        for number in left.keys.sorted() {
            guard var waiter = left.removeValue(forKey: number) else { continue }
            let due: MonotonicTime
            switch waiter.awaited.take(result) {
            case .complete:
                told.append(waiter.notice(.complete))
                continue
            case .settling: due = min(waiter.due, now.advanced(by: patience))
            case .incomplete: due = waiter.until
            }
            let isMoved = due != waiter.due
            waiter.due = due
            left[number] = waiter
            if isMoved { moved.append(waiter) }
        }
        if !left.isEmpty { waiters[result.requestID] = left }
        count -= told.count
        for waiter in moved { note(waiter.due, of: waiter.ticket) }
        return told
    }

    /// Removes those whose time is over.
    mutating func expire(at now: MonotonicTime) -> [Notice] {
        var told: [Notice] = []
        while let due = deadlines.first, let ticket = deadlines.removeDue(now) {
            guard let waiter = remove(ticket, due: due) else { continue }
            told.append(waiter.notice(waiter.awaited.standing == .settling ? .complete : .timeOver))
        }
        return told
    }

    /// Removes one who does not want to know any more.
    mutating func forget(_ ticket: ResultFollower.Ticket) { _ = remove(ticket, due: nil) }

    mutating func removeAll() -> [Notice] {
        let told = waiters.values.flatMap(\.values).map { $0.notice(.closed) }
        waiters.removeAll()
        deadlines = MomentHeap()
        count = 0
        return told
    }

    /// Removes a waiter, unless `due` is given and is not its due time.
    private mutating func remove(_ ticket: ResultFollower.Ticket, due: MonotonicTime?) -> Waiter? {
        guard let found = waiters[ticket.id]?[ticket.number], due == nil || found.due == due else { return nil }
        // In place: a copy would cost as much as there are others.
        waiters[ticket.id]?.removeValue(forKey: ticket.number)
        if waiters[ticket.id]?.isEmpty == true { waiters[ticket.id] = nil }
        count -= 1
        return found
    }

    private mutating func note(_ due: MonotonicTime, of ticket: ResultFollower.Ticket) {
        guard due != .never else { return }
        deadlines.add(ticket, at: due)
        guard deadlines.count > 2 * count + 64 else { return }
        let kept = waiters.values.flatMap(\.values).filter { $0.due != .never }
        deadlines = MomentHeap(kept.map { ($0.due, $0.ticket) })
    }
}
