import Basics
import ResultQuery

extension ResultFilter {
    /// The fields that have a flag of their own, short for a term.
    private static let flagged: [ResultField] = [.state, .outcome, .error, .hub]

    /// The flags of a command that takes a filter.
    static let flags =
        [Flag("since", "TIME", "The same as since:TIME: 1h, 7d, 2026-11-21 or 2026-11-21T17:00Z")]
        + flagged.map { Flag($0.rawValue, "WORD", "The same as \($0.rawValue):WORD", isRepeatable: true) }
}

extension Invocation {
    /// The filter that operands and flags make together. A usage failure names the place of the fault and what is allowed there.
    func filter(_ operands: [String]) throws(CommandFailure) -> ResultFilter {
        var filter = try Self.filter(operands.joined(separator: " "), named: "the filter", now: surroundings.now())
        for flag in ResultFilter.flags where arguments.has(flag.name) {
            let text = flag.name + ":" + arguments.values(flag.name).joined(separator: ",")
            filter.add(try Self.filter(text, named: "--" + flag.name, now: surroundings.now()))
        }
        return filter
    }

    private static func filter(_ text: String, named name: String, now: Int64) throws(CommandFailure) -> ResultFilter {
        do throws(FilterError) {
            return try ResultFilter(text, now: now)
        } catch {
            let place = name.hasPrefix("--") ? name : "\(name), position \(error.position)"
            throw .usage(
                "\(place): \(Sanitised.quoted(error.word)) \(error.reason)",
                hint: Spelling.nearest(to: error.word, among: error.allowed).map { "did you mean \($0)?" }
                    ?? "`pushfan help filters` explains filters")
        }
    }
}
