import Basics
import ResultQuery

extension ResultFilter {
    /// The fields that have a flag of their own, short for a term.
    private static let flagged: [ResultField] = [.state, .outcome, .error, .hub]

    /// The flags of a command that takes a filter.
    static let flags =
        [Flag("since", "TIME", "The same as since:TIME: 1h, 14:05, 'yesterday 9:00' or 2026-11-21T17:00Z")]
        + flagged.map { Flag($0.rawValue, "WORD", "The same as \($0.rawValue):WORD", isRepeatable: true) }
}

extension Invocation {
    /// The filter that operands and flags make together, with times in the terminal's zone, which a note names if it decided about any.
    /// A usage failure names the place of the fault and what is allowed there.
    func filter(_ operands: [String]) throws(CommandFailure) -> ResultFilter {
        var filter = try self.filter(operands.joined(separator: " "), named: "the filter", in: zone)
        for flag in ResultFilter.flags where arguments.has(flag.name) {
            let text = flag.name + ":" + arguments.values(flag.name).joined(separator: ",")
            filter.add(try self.filter(text, named: "--" + flag.name, in: zone))
        }
        noteZone(zone, of: filter)
        return filter
    }

    /// Names the zone if it decided about a time of the filter.
    func noteZone(_ zone: LocalZone, of filter: ResultFilter) {
        if filter.readsLocalTimes { streams.note("times without a zone are in \(Sanitised.line(zone.name))") }
    }

    private func filter(_ text: String, named name: String, in zone: LocalZone) throws(CommandFailure) -> ResultFilter {
        do throws(FilterError) {
            return try ResultFilter(text, now: surroundings.now(), zone: zone)
        } catch {
            let place = name.hasPrefix("--") ? name : "\(name), position \(error.position)"
            throw .usage(
                "\(place): \(Sanitised.quoted(error.word)) \(error.reason)",
                hint: Spelling.nearest(to: error.word, among: error.allowed).map { "did you mean \($0)?" }
                    ?? "`pushfan help filters` explains filters")
        }
    }
}
