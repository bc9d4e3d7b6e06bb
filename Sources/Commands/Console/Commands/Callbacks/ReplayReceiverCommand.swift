import CallbackRecords
import JobSupport
import PushModel
import ResultQuery
import Settings

/// The command `callbacks replay`.
enum ReplayReceiverCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        let name = try invocation.receiverName()
        guard let since = try moment("since", of: invocation) else {
            throw .usage("--since is missing", hint: "say from when on, such as --since 1d")
        }
        let until = try moment("until", of: invocation)
        if let until, until <= since { throw .usage("--until: it is not later than --since") }
        let (settings, context) = try invocation.job()
        let choice: CallbackReplay.Choice
        if arguments.has("all") {
            choice = .results(for: try invocation.receiver(of: try invocation.receivers(settings)))
        } else {
            choice = .deadLetters(of: name)
        }
        Interruption.catchSignals()
        let replay = CallbackReplay(settings.callbackTopics, by: context)
        // Results that come later are not counted, so they are not sent either.
        let end = until ?? context.now()
        var counts = try invocation.perform(replay.run(choice, since: since, until: end, isDry: true), with: settings)
        guard counts.found > 0 else {
            throw CommandFailure(
                .nothingMatched, "the receiver \(name) has nothing of that time to send again",
                hint: arguments.has("all") ? nil : "--all sends what it took, too")
        }
        if !arguments.has("dry-run") {
            try invocation.confirm(counts.found, of: "results", to: "sent again")
            counts = try invocation.perform(replay.run(choice, since: since, until: end), with: settings)
        }
        var table = Table("RECEIVER", "FOUND", "WRITTEN", "UNREADABLE")
        table.add(["receiver": name, "found": counts.found, "written": counts.written, "unreadable": counts.unreadable])
        try invocation.out(table)
        note(counts, name: name, isDry: arguments.has("dry-run"), streams: invocation.streams)
        return counts.unreadable > 0 ? .partlyFailed : .done
    }

    private static func note(_ counts: CallbackReplay.Counts, name: String, isDry: Bool, streams: Streams) {
        let results = Counted.text(counts.found, "result", "results")
        streams.note(
            isDry ? "\(results) would be sent to \(name) again" : "\(results) will be sent to \(name) again, under the same ids")
        if counts.unreadable > 0 { streams.note("left out: \(counts.unreadable), their results are not there any more") }
    }

    /// The time that a flag gives, in milliseconds since 1970, or nil without it.
    private static func moment(_ flag: String, of invocation: Invocation) throws(CommandFailure) -> Int64? {
        guard let text = invocation.arguments.value(flag) else { return nil }
        let now = invocation.surroundings.now()
        guard let moment = TimeWords.moment(text, now: now, isPast: true), moment.milliseconds <= now else {
            throw .usage(
                "--\(flag): \(Sanitised.quoted(text)) is no time that has passed; expected one such as 10m or 2026-11-21T17:00Z")
        }
        return moment.milliseconds
    }
}
