import JobSupport
import PushModel
import Replay
import Replays
import ResultQuery
import Results
import Settings

extension Command {
    static let failed = Command(
        "failed", .results, "Group what failed and is not repaired by its cause, and say what to do", operands: "[FILTER...]",
        maximumOperands: .max, acceptsFilter: true,
        examples: [
            "pushfan failed", "pushfan failed hub:shop since:1h", "pushfan failed --all --index",
            "pushfan failed safety:safe -error:hub_throttled label.campaign:mlb since:2026-11-21 -o json",
        ],
        groups: [
            .selection([Flag("all", nil, "Show causes of which nothing is open, too")] + ResultFilter.flags + [.index]),
            .output(OutputFormat.allCases),
            .kafka(
                topics: ["results", "replays", "deadletter"],
                and: [.timeout("10s")]),
        ],
        readOn: "pushfan help filters", run: FailedCommand.run)
}

enum FailedCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let wanted = try invocation.filterOfResults(invocation.arguments.operands)
        let filter = FailureReport.narrowed(wanted)
        let (settings, context) = try invocation.job()
        let answers = try invocation.results(context)
        let history = try history(settings, context, invocation)
        let (tally, count) = try invocation.perform(answers.failures(filter, history), with: settings)
        if wanted.terms.isEmpty { try noteDeadLetters(wanted, history, answers, settings, invocation) }
        let groups = tally.groups.filter { $0.openCount > 0 || invocation.arguments.has("all") }
        guard !groups.isEmpty else { throw nothing(tally, of: count) }
        try invocation.streams.out(invocation.arguments.format(), table(groups), groups.map(\.json))
        if invocation.arguments.format().isForPeople { try writeRemedies(groups, invocation.streams) }
        invocation.streams.note(
            "\(tally.count) of \(count) results failed: \(summary(tally)); "
                + "`pushfan results list error:CODE` lists them one by one")
        return .done
    }

    private static func nothing(_ tally: FailureTally, of count: Int) -> CommandFailure {
        guard tally.count > 0 else {
            return CommandFailure(.nothingMatched, "nothing failed that matches, of \(count) results")
        }
        return CommandFailure(
            .nothingMatched, "nothing is open, of \(tally.count) that failed: \(summary(tally))", hint: "--all shows them")
    }

    /// `983 open, 2017 repaired`.
    private static func summary(_ tally: FailureTally) -> String {
        FailureTally.Standing.allCases.compactMap { standing in
            let count = tally.count(of: standing)
            return count > 0 || standing == .open ? "\(count) \(standing.rawValue.replacing("_", with: " "))" : nil
        }.joined(separator: ", ")
    }

    /// The replayed requests, or none if the right to read them is missing, which is reported.
    private static func history(
        _ settings: Settings, _ context: JobContext, _ invocation: Invocation
    ) throws(CommandFailure) -> ReplayHistory {
        do throws(CommandFailure) {
            return try invocation.perform(context.jobLog(), with: settings).history
        } catch {
            guard error.code == .notAllowed else { throw error }
            invocation.streams.note("what was repaired is not known, and counts as open: \(error.message)")
            return ReplayHistory()
        }
    }

    /// Writes the number of dead letters, and the command that lists them, or nothing if there is none.
    private static func noteDeadLetters(
        _ times: ResultFilter, _ history: ReplayHistory, _ answers: ResultAnswers, _ settings: Settings, _ invocation: Invocation
    ) throws(CommandFailure) {
        do throws(CommandFailure) {
            let found = try invocation.perform(answers.deadLetters(times, history), with: settings)
            guard let found, found.count > 0 else { return }
            let letters = Counted.text(
                found.count, "dead letter, which was not understood", "dead letters, which were not understood")
            invocation.streams.note(
                (found.isExact ? "" : "at most ") + letters
                    + ": `pushfan replay deadletter --dry-run` lists them and says how to give them back")
        } catch {
            guard error.code == .notAllowed else { throw error }
            invocation.streams.note("dead letters are not counted: \(error.message)")
        }
    }

    private static func table(_ groups: [FailureTally.Group]) -> Table {
        var table = Table([
            .number("OPEN"), .number("REPAIRING", spare: 4), .number("REPAIRED", spare: 5), "ERROR", "HUB",
            .init(title: "PLATFORMS", spare: 2), .init(title: "FIRST SEEN", spare: 1), .init(title: "LAST SEEN", spare: 3),
            "REPLAY", .number("FAILED AGAIN", isWide: true), .init(title: "LATEST REQUEST", isWide: true),
            .init(title: "REMEDY", isWide: true),
        ])
        for group in groups {
            table.add(
                count(.open, group), count(.beingRepaired, group), count(.repaired, group), text(group.cause.code),
                text(group.cause.hub),
                text(group.cause.platforms.joined(separator: ",")), Timestamp(milliseconds: group.first).text,
                Timestamp(milliseconds: group.last).text,
                text(group.safetyCounts.map { "\($0.name) \($0.count)" }.joined(separator: ", ")), count(.failedAgain, group),
                text(group.latestRequest),
                text(group.explanation?.remedy ?? ""))
        }
        return table
    }

    private static func count(_ standing: FailureTally.Standing, _ group: FailureTally.Group) -> String {
        "\(group.standings[standing] ?? 0)"
    }

    private static func text(_ cell: String) -> String { cell.isEmpty ? "-" : cell }

    /// Writes the remedy for each code, once.
    private static func writeRemedies(_ groups: [FailureTally.Group], _ streams: Streams) throws(CommandFailure) {
        var codes: [ErrorCode] = []
        for case let code? in groups.map({ ErrorCode(rawValue: $0.cause.code) }) where !codes.contains(code) {
            codes.append(code)
        }
        let width = codes.map(\.rawValue.count).max() ?? 0
        if !codes.isEmpty { try streams.out("") }
        for code in codes {
            let room = streams.traits.width.map { max($0 - width - 2, 20) } ?? .max
            for (index, line) in DisplayWidth.wrap(code.explanation.remedy, to: room).enumerated() {
                try streams.out((index == 0 ? code.rawValue : "").padding(to: width + 2) + line)
            }
        }
    }
}
