import Groups
import JobSupport
import PushModel
import ResultQuery
import Results
import Settings

/// Cancels all requests of a scope that were published until now and not begun.
struct ScopeCancellation {
    private let order: OrderRecord
    /// The first moment of publication, or nil for any.
    private let from: Timestamp?
    private let invocation: Invocation

    /// A cancellation as flags name it. A usage failure says what is missing.
    init(of scope: OrderScope, by invocation: Invocation) throws(CommandFailure) {
        let arguments = invocation.arguments
        let now = Timestamp(milliseconds: invocation.surroundings.now())
        let reason = try OrderTerms.reason(arguments)
        guard reason != nil || arguments.has("dry-run") else {
            throw .usage(
                "--reason is missing", hint: "say why, such as --reason 'wrong text', or --dry-run to count what it would concern"
            )
        }
        from = try Self.from(arguments, now: now)
        var generator = SystemRandomNumberGenerator()
        let kind = OrderRecord.Kind.cancel(publishedFrom: from)
        order = OrderRecord(
            id: OrderRecord.makeID(kind, using: &generator), kind: kind, scope: scope, reason: reason ?? "dry run",
            author: try OrderTerms.author(arguments, user: invocation.userAtHost), since: now)
        self.invocation = invocation
        do throws(OrderRecord.Fault) { try order.check() } catch { throw .usage("no worker would obey it: \(error.sentence)") }
    }

    private static func from(_ arguments: Arguments, now: Timestamp) throws(CommandFailure) -> Timestamp? {
        guard let text = arguments.value("since") else { return nil }
        guard let moment = TimeWords.moment(text, now: now.milliseconds, isPast: true), moment <= now else {
            throw .usage(
                "--since: \(Sanitised.quoted(text)) is no time that has passed; expected one such as 10m or 2026-11-21T17:00Z")
        }
        return moment
    }

    /// Counts, asks, writes and reports.
    func run() throws(CommandFailure) -> ExitCode {
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        let counts = try counts(by: context, settings: settings)
        invocation.streams.note("\(Sanitised.line(order.scope.text)): \(counts.text)")
        guard counts.open > 0 || !counts.isComplete else {
            try write(counts, isWritten: false)
            throw CommandFailure(
                .nothingMatched, "nothing of it waits, runs or is delayed, so there is nothing to cancel",
                hint: counts.sent > 0
                    ? "what was sent stays sent" : "`pushfan results list` shows labels and sources as they are written")
        }
        if invocation.arguments.has("dry-run") {
            try write(counts, isWritten: false)
            return .done
        }
        try invocation.confirm(counts.open, to: "cancelled")
        try invocation.write(order, settings: settings, context: context)
        try write(counts, isWritten: true)
        try invocation.streams.flush()
        invocation.streams.note(
            "\(order.id) \(order.sentence), published until \(order.since.text): \(Counted.text(counts.waiting + counts.delayed, "request", "requests")) "
                + "can still be ended; what was begun, \(counts.running) at most, is not undone, and its further attempts are not made"
        )
        invocation.noteWorkers(withoutCancellation: context)
        return invocation.arguments.has("wait") ? try wait(by: context, settings: settings) : .done
    }

    private func counts(by context: JobContext, settings: Settings) throws(CommandFailure) -> ScopeCounts {
        try invocation.perform(context.counts(in: order.scope, from: from, until: order.since), with: settings)
    }

    private func write(_ counts: ScopeCounts, isWritten: Bool) throws(CommandFailure) {
        var table = Table("WAITING", "RUNNING", "DELAYED", "SENT", "OTHER", "COMPLETE")
        table.add(
            "\(counts.waiting)", "\(counts.running)", "\(counts.delayed)", "\(counts.sent)", "\(counts.other)",
            counts.isComplete ? "yes" : "no")
        var object = JSONObject(invocation.arguments.has("dry-run") ? ["dry_run": true] : [:])
        if isWritten { object.add("order", raw: order.object(at: order.since).bytes) }
        object.add("counts", raw: counts.json)
        try invocation.streams.out(invocation.arguments.format(), table, [object.bytes])
    }

    /// Waits until nothing in the scope is left to end.
    private func wait(by context: JobContext, settings: Settings) throws(CommandFailure) -> ExitCode {
        let end = Deadline(after: context.timeout)
        while true {
            let counts = try counts(by: context, settings: settings)
            if counts.open == 0, counts.isComplete {
                invocation.streams.note("nothing of it waits any more: \(counts.text)")
                return .done
            }
            guard !end.hasPassed, !context.isCancelled() else {
                invocation.streams.note(
                    "not ended in time: \(counts.text); what is delayed ends within a minute or so, when its lane is swept")
                return Interruption.isRequested ? .interrupted : .temporary
            }
            Pause.sleep(.milliseconds(500))
        }
    }
}

extension ScopeCounts {
    /// `waiting 700, running 12, delayed 3, sent 285, other 0`.
    var text: String {
        "waiting \(waiting), running \(running), delayed \(delayed), sent \(sent), other \(other)"
            + (isComplete ? "" : "; not all was read, so there may be more")
    }
}
