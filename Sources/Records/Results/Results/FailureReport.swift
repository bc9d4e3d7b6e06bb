package import JobSupport
package import PushModel
import Replays
package import ResultQuery

/// The failed results of a time, by what they failed of and what became of them since.
package struct FailureReport: Sendable {
    /// The states of what did not reach all although it should have.
    static let states: [ResultState] = [.failed, .partial, .rejected, .expired, .unknown]

    /// The causes, those with most open requests first.
    package let groups: [FailureTally.Group]
    /// All counts.
    package let tally: FailureTally
    /// The number of results in the time.
    package let count: Int
    /// The records that could not be understood, or nil if they were not counted or there is no topic of them.
    package let deadLetters: DeadLetterCount?

    /// The filter with the states of failures and the kinds that tell of them, unless it has its own.
    package static func narrowed(_ filter: ResultFilter) -> ResultFilter {
        var narrow = filter
        if !filter.mentions(.state) { narrow.require(.state, among: states.map(\.rawValue)) }
        if !filter.mentions(.kind) { narrow.require(.kind, among: ["final", "outcome"]) }
        return narrow
    }

    /// The report as one JSON object: the groups as `items`, the sums of them, and the dead letters if they were counted.
    package var json: [UInt8] { json(withTotal: true) }

    /// The same, and without the number of all results for whoever must not know it.
    package func json(withTotal hasTotal: Bool) -> [UInt8] {
        var object = JSONObject()
        object.add("items", array: groups.map(\.json))
        object.add("failed", value: tally.count)
        if hasTotal { object.add("of", value: count) }
        for standing in FailureTally.Standing.allCases { object.add(standing.rawValue, value: tally.count(of: standing)) }
        if let deadLetters { object.add("dead_letters", raw: deadLetters.json) }
        return object.bytes
    }
}

extension DeadLetterCount {
    /// The number as one JSON object.
    package var json: [UInt8] { JSONObject(["count": Int(count), "exact": isExact]).bytes }
}

extension FailureTally.Group {
    /// The explanation of the code, or nil for a code of another version, or none.
    package var explanation: ErrorCode.Explanation? { ErrorCode(rawValue: cause.code)?.explanation }

    /// The numbers of open requests by the safety of a replay.
    package var safetyCounts: [(name: String, count: Int)] {
        ReplaySafety.allCases.compactMap { word in safety[word].map { (word.rawValue, $0) } }
    }

    /// The group as one JSON object (page Results, "Finding results").
    package var json: [UInt8] {
        var object = JSONObject(["count": count])
        for standing in FailureTally.Standing.allCases { object.add(standing.rawValue, value: standings[standing] ?? 0) }
        object.add("code", value: cause.code)
        object.add("hub", value: cause.hub)
        object.add("platforms", array: cause.platforms.map(JSONObject.text))
        object.add("first_seen", value: Timestamp(milliseconds: first).text)
        object.add("last_seen", value: Timestamp(milliseconds: last).text)
        var counts = JSONObject()
        for (name, count) in safetyCounts { counts.add(name, value: count) }
        object.add("replay_safety", raw: counts.bytes)
        object.add(["latest_request": latestRequest, "cause": explanation?.cause, "remedy": explanation?.remedy])
        return object.bytes
    }
}

extension ResultAnswers {
    /// Counts what failed, as `pushfan failed` does.
    ///
    /// - Parameters:
    ///   - filter: The results that count. Without a state or kind, those of failures.
    ///   - keepsSettled: Causes of which nothing is open count as well.
    /// - Returns: The report. Dead letters are counted if the filter asks for a time alone.
    /// - Throws: A topic cannot be read.
    package func failureReport(_ filter: ResultFilter, keepingSettled keepsSettled: Bool = false) throws(JobFailure)
        -> FailureReport
    {
        let history = try context.jobLog().history
        let (tally, count) = try failures(FailureReport.narrowed(filter), history)
        return FailureReport(
            groups: tally.groups.filter { keepsSettled || $0.openCount > 0 }, tally: tally, count: count,
            deadLetters: filter.terms.isEmpty ? try deadLetters(filter, history) : nil)
    }
}
