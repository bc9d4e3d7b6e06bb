import Synchronization

/// The delivery reports that are still to come, each under the number that its record carries through the library.
///
/// Each is reported once and then forgotten: by the library, or at the end as possibly persisted.
final class OpenReports: Sendable {
    typealias Report = @Sendable (Producer.Delivery) -> Void

    private struct Open {
        let report: Report
        /// The requests that the client had sent when the record was handed over.
        let sentBefore: UInt64
    }

    private struct State {
        var lastNumber: UInt = 0
        var reports: [UInt: Open] = [:]
        var offsets = BatchOffsets()
        var hasEnded = false
    }

    /// Protects all of it. Nothing else is locked while it is held, and no report is passed on.
    private let state = Mutex(State())

    /// Keeps a report of a record that is yet to be handed over. Returns its number, never 0. Throws an error with `isClosed`
    /// after `end()`. `sentCount` are the requests with records that the client has sent by now.
    func add(_ report: @escaping Report, sentCount: UInt64 = 0) throws(KafkaError) -> UInt {
        let number = state.withLock { state -> UInt? in
            guard !state.hasEnded else { return nil }
            state.lastNumber += 1
            state.reports[state.lastNumber] = Open(report: report, sentBefore: sentCount)
            return state.lastNumber
        }
        guard let number else { throw .closed }
        return number
    }

    /// Removes a report. Nil if it was passed on already.
    func take(_ number: UInt) -> Report? {
        state.withLock { state -> Report? in state.reports.removeValue(forKey: number)?.report }
    }

    /// True if no request has left the client since a record was handed over, so that no broker can have it.
    func isUnsent(_ number: UInt, sentCount: UInt64) -> Bool {
        state.withLock { $0.reports[number]?.sentBefore == sentCount }
    }

    /// Tells a report what the library says, unless it was told already.
    func complete(_ number: UInt, delivery: Producer.Delivery) { take(number)?(delivery) }

    /// Tells a report that its record is written, unless it was told already. `offset` is what the library gives.
    func complete(_ number: UInt, persistedIn partition: TopicPartition, at offset: Int64) {
        let known = state.withLock { state -> Int64? in state.offsets.known(offset, in: partition) }
        complete(number, delivery: .persisted(partition: partition.partition, offset: known))
    }

    /// Reports the rest as possibly persisted, in the order of their records. None is taken from here on.
    func end() {
        let rest = state.withLock { state -> [UInt: Open] in
            let rest = state.reports
            state.reports = [:]
            state.hasEnded = true
            return rest
        }
        let error = KafkaError.closed.saying("the producer was closed before it knew whether a record was written")
        for (_, open) in rest.sorted(by: { $0.key < $1.key }) { open.report(.possiblyPersisted(error)) }
    }
}
