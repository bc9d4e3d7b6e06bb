import Basics
import CallbackRecords
import JobSupport
import Kafka
import PushModel
import Settings

/// The commands `callbacks pause` and `callbacks resume`.
enum PauseCommands {
    static func pause(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let reason = try OrderTerms.reason(invocation.arguments) else {
            throw .usage("--reason is missing", hint: "say why, such as --reason 'moves to another machine': lists say it")
        }
        return try change(invocation, reason: reason, pausing: true)
    }

    static func resume(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        try change(invocation, reason: try OrderTerms.reason(invocation.arguments), pausing: false)
    }

    /// Refuses the name of a receiver that never had a position or a state.
    private static func check(_ name: String, among known: Set<String>) throws(CommandFailure) {
        guard !known.contains(name) else { return }
        let nearest = Spelling.nearest(to: name, among: known.sorted()).map { "did you mean \(Sanitised.quoted($0))? " } ?? ""
        throw CommandFailure(
            .nothingMatched, "no receiver \(Sanitised.quoted(name)) has ever begun",
            hint: nearest + "--yes decides about one that has not")
    }

    private static func change(_ invocation: Invocation, reason: String?, pausing: Bool) throws(CommandFailure) -> ExitCode {
        let name = try invocation.receiverName()
        let author = try OrderTerms.author(invocation.arguments, user: invocation.userAtHost)
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        let topic = settings.callbackTopics.states
        // A file that cannot be read, or has a fault, must not keep anyone from stopping a receiver.
        if let known = try? invocation.receivers(settings) {
            _ = try invocation.receiver(of: known)
        } else if !invocation.arguments.has("yes"),
            let known = try invocation.perform(ReceiverStates.names(in: topic, by: context), with: settings)
        {
            try check(name, among: known)
        }
        let before = try invocation.perform(ReceiverStates.read(topic, by: context), with: settings)[name]
        // A receiver that has said 410 stays disabled while it is paused besides.
        let state = ReceiverState(
            paused: pausing, disabledAt: pausing ? before?.disabledAt : nil, reason: reason, by: author,
            at: invocation.surroundings.now())
        do throws(KafkaError) {
            let writer = try StateWriter(context.kafka, topic: topic, timeout: context.timeout)
            defer { writer.close() }
            try writer.write(state, of: name)
        } catch {
            throw invocation.failure(error, settings.kafka, to: "write to \(topic)")
        }
        try invocation.streams.report(
            name, as: "receiver", state: pausing ? "paused" : "running", format: invocation.arguments.format())
        if !pausing, before?.isRunning ?? true { invocation.streams.note("it was running before") }
        if pausing {
            invocation.streams.note(
                "calls in flight end; `pushfan callbacks resume \(Sanitised.word(name))` lets it go on from its place")
        }
        return .done
    }
}
