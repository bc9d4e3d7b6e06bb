/// Calls that the hub accepted, and what it was told became of them.
extension Oracle {
    /// Accepted calls without an outcome, outcomes beyond the first of a call, and those of no accepted call or of another notification.
    func outcomes() -> Finding? {
        guard let outcomes = evidence.outcomes else { return nil }
        var open: [CallPlace: UInt64?] = [:]
        for result in evidence.results {
            for (index, send) in result.sends.enumerated() where send.isSuccess {
                open[CallPlace(result.origin, index)] = .some(send.notification)
            }
        }
        var examples: [String] = []
        for outcome in outcomes {
            guard let notification = open.removeValue(forKey: outcome.call) else {
                examples.append("one outcome too many for call \(outcome.call.index) of \(outcome.call.request)")
                continue
            }
            if notification != outcome.notification {
                examples.append("the outcome of call \(outcome.call.index) of \(outcome.call.request) is another notification's")
            }
        }
        examples += open.keys.map { "call \($0.index) of \($0.request) has no outcome" }
        return .none(.outcomes, examples)
    }
}
