extension APIProblem {
    /// 410: results behind a cursor are gone. `first` is the cursor of the first place that is left.
    package static func cursorExpired(_ first: String) -> APIProblem {
        var problem = APIProblem(
            410, code: .cursorExpired,
            detail: "Results behind this cursor are gone, so some were missed. Those that are left begin at first.")
        problem.first = first
        return problem
    }

    /// 503: Kafka does not give results, or not yet.
    package static let resultsAway = APIProblem(
        503, code: .brokerUnavailable, detail: "Kafka does not give results at the moment.", retry: .safe, retryAfter: 2000)

    /// 403: a key without the scope `read` asks for the results of another source.
    package static let foreignResults = APIProblem(
        403, code: .forbiddenSource,
        detail: "Without the scope read a key gets the results of its own source alone. Leave source out, or give that.")
}
