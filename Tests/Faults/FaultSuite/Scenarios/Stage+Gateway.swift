import FaultOracle

/// What is published over HTTP.
extension Stage {
    /// Publishes the scenario's load through its gateways while `harm` is done, and has it sent afterwards.
    ///
    /// - Parameters:
    ///   - limit: How long it may take until everything is published.
    ///   - statuses: Each must have been answered at least once, 0 for a connection that ended; or the harm did none.
    ///   - harm: Does the harm.
    /// - Throws: Publishing did not end, or was never disturbed.
    func publishOverHTTP(
        within limit: Duration, expecting statuses: [Int], while harm: (Stage, GatewayCrew) throws -> Void
    ) throws {
        guard let crew = gatewayCrew else { throw SuiteError.failed("the scenario has no gateway") }
        try crew.start()
        note("publishing over HTTP")
        try harm(self, crew)
        note("the harm is done")
        try crew.finish(within: limit)
        let calls = crew.publisher.calls
        note("published over HTTP with \(calls.count) calls")
        for status in statuses where !calls.contains(where: { $0.status == status }) {
            throw SuiteError.failed("no call was answered \(status), so nothing is shown")
        }
        let records = try TopicFacts(kafka: kafka).httpRecords(topics.requests)
        noteWritten(records.count)
        try startCrew()
        watch.mark()
    }

    /// Takes what was published over HTTP into the evidence.
    func addHTTP(to evidence: inout Evidence) throws {
        guard let crew = gatewayCrew else { return }
        evidence.crashes += crew.gateways.flatMap(\.wrongEnds)
        evidence.setHTTP(
            calls: crew.publisher.calls, records: try TopicFacts(kafka: kafka).httpRecords(topics.requests),
            topic: topics.requests)
    }

    /// How the calls were answered, as a table.
    static func answers(_ stage: Stage, _ evidence: Evidence) -> [[String]] {
        let calls = evidence.httpCalls
        let others = calls.count { ![0, 202, 503, 504].contains($0.status) }
        return [
            ["calls", "202", "503", "504", "no answer", "others", "records", "keys with several records"],
            [calls.count]
                .map { "\($0)" } + [202, 503, 504, 0].map { status in "\(calls.count { $0.status == status })" }
                + ["\(others)", "\(evidence.httpRecords.count)", "\(evidence.repetitions.count)"],
        ]
    }
}
