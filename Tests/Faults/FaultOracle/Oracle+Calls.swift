import PushModel

/// Results against the hub's record, and calls that were made again.
extension Oracle {
    /// What a result says that the hub's record denies.
    ///
    /// A success must name a notification that the hub took for that user. A result by which no device was reached must have no
    /// call that the hub took, unless the call was made by a worker that was killed before it could tell.
    func contradictions() -> Finding {
        var accepted: [Int: [CallFact]] = [:]
        for call in evidence.calls where call.isAccepted {
            if let user = call.user { accepted[user, default: []].append(call) }
        }
        var examples: [String] = []
        for input in evidence.inputs {
            guard case .request(let user, let isFlawed) = input.content else { continue }
            for index in results[input.place] ?? [] {
                let result = evidence.results[index]
                if isFlawed != (result.state == .rejected) {
                    examples.append("user \(user) is \(result.state.rawValue), but \(isFlawed ? "was flawed" : "had no flaw")")
                }
                if let denial = denial(of: result, calls: accepted[user] ?? []) { examples.append("user \(user): \(denial)") }
            }
        }
        return .none(.contradictions, examples)
    }

    private func denial(of result: ResultFact, calls: [CallFact]) -> String? {
        for send in result.sends where send.isSuccess {
            guard let id = send.notification, calls.contains(where: { $0.notification == id }) else {
                return "the hub has no record of the notification"
            }
        }
        if result.state == .sent && result.sends.isEmpty { return "sent without any call" }
        guard result.state != .sent, result.state != .partial, result.safety == .safe || result.safety == .pointless
        else { return nil }
        let untold = calls.contains { call in
            !evidence.disturbances.contains { $0.repeatsCalls && $0.mayHaveMade(call.at) && $0.at <= result.at }
        }
        return untold ? "\(result.state.rawValue), but the hub took it" : nil
    }

    /// Accepted calls that the request's own result does not explain, against what kills may cause.
    func repeatedCalls() -> [Finding] {
        let (windows, unexplained) = windows()
        let total = windows.reduce(unexplained.count) { $0 + $1.repeatedCalls }
        let allowed = windows.reduce(0) { $0 + $1.allowedCalls }
        let examples = unexplained.map { "user \($0.user) was called again at \($0.at), in no window that had room" }
        return [
            Finding(.repeatedCalls, measured: Double(total), allowed: Double(allowed)), .none(.repeatedCallsPerKill, examples),
        ]
    }

    /// What each disturbance explains, and the calls that none does.
    ///
    /// Which of two disturbances that follow each other a call belongs to is not known: each call takes a place in the window that
    /// can hold it and ends first. If the windows can hold all calls, all find a place so.
    public func windows() -> (windows: [CrashWindow], unexplained: [(user: Int, at: Int64)]) {
        var windows = zip(evidence.disturbances, allowances()).map { CrashWindow(disturbance: $0, allowedCalls: $1) }
        let byEnd = windows.indices.filter { windows[$0].disturbance.repeatsCalls }.sorted {
            let (first, second) = (windows[$0].disturbance, windows[$1].disturbance)
            return (first.until, first.at) < (second.until, second.at)
        }
        var unexplained: [(user: Int, at: Int64)] = []
        for (user, call) in surplusCalls().sorted(by: { $0.call.at < $1.call.at }) {
            let place = byEnd.first {
                windows[$0].repeatedCalls < windows[$0].allowedCalls && windows[$0].disturbance.canRepeat(call.at)
            }
            if let place { windows[place].repeatedCalls += 1 } else { unexplained.append((user, call.at)) }
        }
        return (windows, unexplained)
    }

    /// The calls of each user that came before those which the final result tells about.
    private func surplusCalls() -> [(user: Int, call: CallFact)] {
        var accepted: [Int: [CallFact]] = [:]
        for call in evidence.calls where call.isAccepted {
            if let user = call.user { accepted[user, default: []].append(call) }
        }
        var surplus: [(user: Int, call: CallFact)] = []
        for (user, calls) in accepted {
            let explained = places[user].flatMap { results[$0] }?.map { evidence.results[$0].explainedCalls }.reduce(0, +) ?? 0
            guard calls.count > explained else { continue }
            let early = calls.sorted { $0.at < $1.at }.prefix(calls.count - explained)
            surplus += early.map { (user, $0) }
        }
        return surplus
    }

    /// For each disturbance the calls that can have been in its window: those in flight, and those that the hub can have answered
    /// since the worker's last committed batch was written, at its pace and the worker's limit. An outage has another window behind it.
    func allowances() -> [Int] {
        var batches: [String: [Int64]] = [:]
        for result in evidence.results { batches[result.worker, default: []].append(result.at) }
        for part in evidence.parts { batches[part.worker, default: []].append(part.at) }
        for worker in batches.keys { batches[worker]?.sort() }
        return evidence.disturbances.map { disturbance in
            guard disturbance.repeatsCalls else { return 0 }
            let idle = longestIdle(disturbance, batches[disturbance.worker] ?? [])
            let tick = min(disturbance.kind == .outage ? idle + Self.noticeTime : idle, 2 * Self.noticeTime)
            // When a broker is back, a worker begins calls anew, and loses them if its session ran out meanwhile.
            return callCount(in: tick) + (disturbance.kind == .outage ? callCount(in: 2 * Self.noticeTime) : 0)
        }
    }

    /// The calls that a worker can have made and not committed: those in flight, and those that were answered in a time.
    private func callCount(in time: Int64) -> Int {
        evidence.maxInFlight * (1 + Int((time + evidence.hubDelay - 1) / max(evidence.hubDelay, 1)))
    }

    /// The longest time since a committed batch at the moment of a disturbance, which is not known to the millisecond.
    private func longestIdle(_ disturbance: Disturbance, _ batches: [Int64]) -> Int64 {
        var last = max(batches.last(notAfter: disturbance.at) ?? disturbance.startedAt, disturbance.startedAt)
        var longest = disturbance.at - last
        for moment in batches where moment > disturbance.at && moment <= disturbance.doneAt {
            longest = max(longest, moment - last)
            last = moment
        }
        return max(longest, disturbance.doneAt - last)
    }

    /// The time after which a worker begins no call because its commit is not confirmed, milliseconds, with a turn of its loop.
    ///
    /// What may wait then is what finished during that commit and what finished during the one before, so a window is never
    /// longer than twice this time.
    static var noticeTime: Int64 { 600 }
}

/// The calls that a disturbance may cause to be made again, and those that were.
public struct CrashWindow: Sendable {
    /// What was done.
    public var disturbance: Disturbance
    /// The calls that can have been in flight, or finished and not committed.
    public var allowedCalls: Int
    /// The calls that were made again.
    public var repeatedCalls = 0
}

extension Disturbance {
    /// Whether calls may be made again because of it.
    var repeatsCalls: Bool { kind != .drain }

    /// Whether a call of that moment can be one that is made again because of it: far longer before it, the call was committed.
    func canRepeat(_ call: Int64) -> Bool { mayHaveMade(call) && call >= at - Self.longestTurn }

    /// Whether the worker can have made a call that the hub recorded at that moment.
    func mayHaveMade(_ call: Int64) -> Bool { until >= call - Self.answerTime }

    /// How long after a kill the hub may record a call that the killed worker made, milliseconds.
    private static let answerTime: Int64 = 1000

    /// More than the time from a call to its commit on the busiest machine, milliseconds.
    private static let longestTurn: Int64 = 10_000
}

extension [Int64] {
    /// The last element of a sorted array that is not above `limit`.
    fileprivate func last(notAfter limit: Int64) -> Int64? {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= limit { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? self[low - 1] : nil
    }
}
