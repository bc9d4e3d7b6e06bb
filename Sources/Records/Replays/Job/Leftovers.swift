package import JobSupport
package import PushModel
package import Replay

/// Requests that a plan and its runs have left, and those that no run has come to, one after another.
///
/// One value belongs to one thread at a time.
package struct Leftovers {
    /// A request that was not replayed.
    package struct Row: Sendable {
        /// The request.
        package let requestID: String
        /// The place of the request.
        package let place: RecordPlace
        /// The time of its record, or nil where it is not known.
        package let publishedAt: Timestamp?
        /// The sends that are left, or all when they cannot be distinguished.
        package let sends: SendSet
        /// The reason, or nil for a request that no run has come to.
        package let reason: Leftover?

        /// The reason in a word.
        package var word: String { reason?.rawValue ?? "open" }

        /// One line of JSON.
        package var json: [UInt8] {
            var object = JSONObject(["request_id": requestID, "origin": place.description, "published_at": publishedAt?.text])
            if sends != .all { object.add("sends", array: sends.indices.map { Array(String($0).utf8) }) }
            object.add("left", value: word)
            return object.bytes
        }
    }

    private var plan: ReplayPlanReader
    private let job: JobLog.Job?
    private let isCancelled: () -> Bool
    /// The next line stands where a caller said.
    private var isAtCursor = false

    /// Leftovers of a plan that was not read yet. Without a job it was never run. `isCancelled` is asked at each line, and ends the reading.
    package init(of plan: ReplayPlanReader, job: JobLog.Job?, isCancelled: @escaping () -> Bool = { false }) {
        self.plan = plan
        self.job = job
        self.isCancelled = isCancelled
    }

    /// The place in the plan's file of the request that was read last, in bytes.
    package var lineStart: Int64 { plan.lineStart }

    /// Goes on at such a place. Any other is no cursor.
    package mutating func skip(to position: Int64) throws(JobFailure) {
        try plan.skip(to: position)
        isAtCursor = true
    }

    /// The next request, or nil at the end.
    package mutating func next() throws(JobFailure) -> Row? {
        while let line = try line() {
            if isCancelled() { throw .cancelled }
            switch line {
            case .left(let left):
                return Row(
                    requestID: left.requestID, place: left.place, publishedAt: left.publishedAt, sends: left.sends,
                    reason: left.reason)
            case .item(let item):
                let reason = job?.skipped[item.number]
                guard reason != nil || item.number >= job?.next ?? 0 else { continue }
                return Row(
                    requestID: item.requestID, place: item.place, publishedAt: item.publishedAt, sends: item.sends,
                    reason: reason)
            }
        }
        return nil
    }

    private mutating func line() throws(JobFailure) -> ReplayPlanReader.Line? {
        defer { isAtCursor = false }
        do throws(JobFailure) {
            return try plan.next()
        } catch {
            if isAtCursor, case .room(let failure as ReplayFailure) = error, case .damagedPlan = failure { throw .cursor }
            throw error
        }
    }
}
