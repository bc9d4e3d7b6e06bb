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
            !evidence.disturbances.contains { $0.repeatsCalls && $0.until >= call.at && $0.at <= result.at }
        }
        return untold ? "\(result.state.rawValue), but the hub took it" : nil
    }

    /// Accepted calls that the request's own result does not explain, against what kills may cause.
    func repeatedCalls() -> [Finding] {
        var byDisturbance = [Int](repeating: 0, count: evidence.disturbances.count)
        var unexplained: [String] = []
        var total = 0
        for (user, call) in surplusCalls() {
            total += 1
            let cause = evidence.disturbances.indices
                .filter { evidence.disturbances[$0].repeatsCalls && evidence.disturbances[$0].until >= call.at }
                .min { evidence.disturbances[$0].at < evidence.disturbances[$1].at }
            if let cause {
                byDisturbance[cause] += 1
            } else {
                unexplained.append("user \(user) was called again without a kill")
            }
        }
        let windows = allowances()
        let allowed = windows.reduce(0, +)
        let largest = byDisturbance.max() ?? 0
        // A kill's calls can be told from the next one's only by time: two that follow each other closely share their windows.
        var examples = unexplained
        for (index, count) in byDisturbance.enumerated() where count > shared(windows, around: index) {
            examples.append(
                "\(count) after the kill of \(evidence.disturbances[index].worker), \(windows[index]) were in its window")
        }
        return [
            Finding(
                .repeatedCalls, measured: Double(total), allowed: Double(allowed),
                examples: total == 0 ? [] : ["at most \(largest) for one kill"]),
            .none(.repeatedCallsPerKill, examples),
        ]
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
    /// since the worker's last committed batch was written, at its pace and the worker's limit.
    func allowances() -> [Int] {
        var batches: [String: [Int64]] = [:]
        for result in evidence.results { batches[result.worker, default: []].append(result.at) }
        for worker in batches.keys { batches[worker]?.sort() }
        return evidence.disturbances.map { disturbance in
            guard disturbance.repeatsCalls else { return 0 }
            let last = batches[disturbance.worker].flatMap { $0.last(notAfter: disturbance.at) } ?? disturbance.startedAt
            var tick = disturbance.at - max(last, disturbance.startedAt)
            if disturbance.kind == .outage { tick += Self.noticeTime }
            let rounds = (tick + evidence.hubDelay - 1) / max(evidence.hubDelay, 1)
            return evidence.maxInFlight * (1 + Int(rounds))
        }
    }

    /// The time that a worker has to notice that its commits are not confirmed, milliseconds.
    static var noticeTime: Int64 { 1000 }

    private func shared(_ windows: [Int], around index: Int) -> Int {
        let span: Int64 = 1000
        let middle = evidence.disturbances[index].at
        return windows.indices.filter { abs(evidence.disturbances[$0].at - middle) <= span }.map { windows[$0] }.reduce(0, +)
    }
}

extension Disturbance {
    /// Whether calls may be made again because of it.
    var repeatsCalls: Bool { kind != .drain }
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
