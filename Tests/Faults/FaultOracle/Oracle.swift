/// Judges evidence: one finding for each invariant, computed from nothing but the evidence.
public struct Oracle: Sendable {
    let evidence: Evidence
    /// Final results by the place of their request.
    let results: [Place: [Int]]
    /// The place of each user's request.
    let places: [Int: Place]

    /// Takes in the evidence.
    public init(_ evidence: Evidence) {
        self.evidence = evidence
        var results: [Place: [Int]] = [:]
        results.reserveCapacity(evidence.results.count)
        for (index, result) in evidence.results.enumerated() { results[result.origin, default: []].append(index) }
        self.results = results
        var places: [Int: Place] = [:]
        for input in evidence.inputs {
            if case .request(let user, _) = input.content { places[user] = input.place }
        }
        self.places = places
    }

    /// Every invariant that the evidence says something about.
    public func findings() -> [Finding] {
        var findings = [
            published(), lost(), foreign(), unreadableLost(), unreadableRepeated(), contradictions(), position(),
        ]
        findings += repeated()
        findings += repeatedCalls()
        findings += resumptions()
        if let finding = outageCalls() { findings.append(finding) }
        if let finding = replays() { findings.append(finding) }
        findings += parts()
        if let finding = outcomes() { findings.append(finding) }
        if let finding = repetitions() { findings.append(finding) }
        findings += http()
        findings.append(exits())
        return findings
    }

    func published() -> Finding {
        let missing = evidence.published - evidence.inputs.count
        return Finding(
            .published, measured: Double(abs(missing)),
            examples: missing == 0 ? [] : ["\(evidence.published) were published, \(evidence.inputs.count) are there"])
    }

    /// Told and not judged, unless a scenario has a limit: a busy machine takes its time. Whether work goes on at all, the scenario's
    /// deadline says.
    func resumptions() -> [Finding] {
        [(Invariant.resumption, evidence.resumption), (.wholeResumption, evidence.wholeResumption)].compactMap {
            invariant, time in
            time.map { Finding(invariant, measured: Double($0), allowed: .infinity) }
        }
    }

    /// Calls, and attempts to connect, in the outage.
    func outageCalls() -> Finding? {
        guard let outage = evidence.outage, outage.end > outage.begin, outage.workers > 0 else { return nil }
        let span = outage.begin..<outage.end
        let count = evidence.calls.count { span.contains($0.at) } + outage.unseenCalls
        let seconds = Double(outage.end - outage.begin) / 1000
        let rate = Double(count) / seconds / Double(outage.workers)
        return Finding(.outageCalls, measured: rate, allowed: 2, examples: ["\(count) in \(seconds) s"])
    }

    func exits() -> Finding {
        .none(.exits, evidence.uncleanExits + evidence.crashes)
    }
}
