import CallbackRecords
import JobSupport
import PushModel
import Settings
import Webhooks

/// The command `callbacks list`.
enum ListReceiversCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let (settings, context) = try invocation.job()
        let receivers = try invocation.receivers(settings).receivers
        Interruption.catchSignals()
        let topics = settings.callbackTopics
        let states = try invocation.perform(ReceiverStates.read(topics.states, by: context), with: settings)
        let standings = try invocation.perform(
            CallbackLag(topics, by: context).standings(of: receivers.map(\.name)), with: settings)
        let now = context.now()
        var table = Table([
            "RECEIVER", "TO", "STATE", .number("BEHIND"), "OLDEST", .number("REPLAYS", spare: 1), .init(title: "FORM", spare: 2),
            .init(title: "SINCE", spare: 3), .init(title: "REASON"),
        ])
        let rows = zip(receivers, standings).map { Row($0, at: $1, in: states[$0.name], now: now) }
        for row in rows { table.add(row.cells) }
        try invocation.streams.out(invocation.arguments.format(), table, rows.map(\.object.bytes))
        for (standing, row) in zip(standings, rows) {
            note(standing, to: invocation.streams)
            if let waiting = row.waiting { invocation.streams.note(waiting) }
        }
        invocation.streams.note(Counted.text(receivers.count, "receiver", "receivers"))
        return .done
    }

    /// Names the results that retention has deleted before a receiver got them, and the time until it may.
    private static func note(_ standing: CallbackStanding, to streams: Streams) {
        if standing.lost > 0 {
            let lost = Counted.text(Int(clamping: standing.lost), "result was", "results were")
            streams.note("\(standing.receiver): \(lost) deleted by retention before it got them")
        }
        guard standing.isShort, let left = standing.left else { return }
        streams.note(
            "\(standing.receiver): in \(TimeText.length(milliseconds: left)) retention may delete results that it did not get")
    }

    /// A receiver in one line.
    private struct Row {
        let receiver: Receiver
        let standing: CallbackStanding
        let state: ReceiverState?
        let now: Int64

        init(_ receiver: Receiver, at standing: CallbackStanding, in state: ReceiverState?, now: Int64) {
            (self.receiver, self.standing, self.state, self.now) = (receiver, standing, state, now)
        }

        private var word: String {
            if state?.disabledAt != nil { return "disabled" }
            if state?.paused == true { return "paused" }
            return standing.hasBegun ? "running" : "not begun"
        }

        /// The moment of its pause, or of its answer 410.
        private var since: String? {
            guard let state, !state.isRunning else { return nil }
            return Timestamp(milliseconds: state.disabledAt ?? state.at).text
        }

        private var reason: String? {
            guard let state, !state.isRunning else { return nil }
            return state.reason ?? (state.disabledAt == nil ? nil : "it answered 410")
        }

        /// The records that lie before it. Nil without a position: they are counted from there.
        private var behind: Int? { standing.hasBegun ? Int(clamping: standing.behind) : nil }

        private var age: Int64? { standing.oldest.map { max(0, now - $0) } }

        /// The way to its answers, where results wait for it though it runs: Kafka does not know them.
        var waiting: String? {
            guard state?.isRunning ?? true, let age, age >= 60_000 else { return nil }
            return "\(receiver.name): its oldest result is \(TimeText.length(milliseconds: age)) old; "
                + "`pushfan callbacks test \(receiver.name)` shows what it answers, `/status` of callbacks whether it is away"
        }

        var cells: [String] {
            [
                receiver.name, "\(receiver.url)", word, behind.map { "\($0)" } ?? "-",
                age.map { TimeText.length(milliseconds: $0) } ?? "-", "\(standing.replaysBehind)", receiver.form.rawValue,
                since ?? "-", reason ?? "-",
            ]
        }

        var object: JSONObject {
            JSONObject([
                "receiver": receiver.name, "to": "\(receiver.url)", "state": word.replacing(" ", with: "_"),
                "behind": behind, "oldest_ms": age.map { Int(clamping: $0) },
                "replays_behind": Int(clamping: standing.replaysBehind), "lost": Int(clamping: standing.lost),
                "left_ms": standing.left.map { Int(clamping: $0) }, "form": receiver.form.rawValue, "since": since,
                "reason": reason, "by": state.flatMap { $0.isRunning ? nil : $0.by },
            ])
        }
    }
}
