package import GroupPositions
import JobSupport
import Kafka
import Replays
package import Settings

extension Settings {
    /// The terms by which workers decide where partitions begin.
    package var groupTerms: GroupTerms {
        GroupTerms(kafka: kafkaConfiguration(), group: kafka.groupID, topics: kafka.topics, start: kafka.start)
    }
}

extension Invocation {
    /// The context of a job that this command starts: its progress is shown on a terminal, and a signal cancels it.
    func jobContext(_ settings: Settings, timeout: Duration) -> JobContext {
        let streams = streams
        let progress = ProgressLine(streams)
        var context = JobContext(
            kafka: settings.kafkaConfiguration(), topics: settings.kafka.topics, timeout: timeout, now: surroundings.now,
            isCancelled: { Interruption.isRequested }, progress: { progress.show($0) },
            note: { streams.note($0.text) })
        context.group = settings.kafka.groupID
        context.hubNames = HubNames(settings.routes, names: settings.allHubs.map(\.routeName))
        return context
    }

    /// The settings, and the context of a job that waits for as long as `--timeout` says.
    func job() throws(CommandFailure) -> (settings: Settings, context: JobContext) {
        let (timeout, settings) = (try timeout(), try settings())
        return (settings, jobContext(settings, timeout: timeout))
    }

    /// The time that `--timeout` gives, or else the one that its help names.
    func timeout() throws(CommandFailure) -> Duration {
        let standard = command.flags.first { $0.name == "timeout" }?.defaultText.flatMap(TimeText.duration)
        return try arguments.duration("timeout") ?? standard ?? .seconds(30)
    }

    /// The value of a job's action, whose failure is thrown in a person's words. A job without settings needs no brokers.
    func perform<Value: ~Copyable>(
        _ action: @autoclosure () throws(JobFailure) -> Value, with settings: Settings?
    ) throws(CommandFailure) -> Value { try perform(settings, action) }

    /// Does something of a job, whose failure is thrown in a person's words. A job without settings needs no brokers.
    func perform<Value: ~Copyable>(
        _ settings: Settings? = nil, _ body: () throws(JobFailure) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(JobFailure) {
            return try body()
        } catch {
            throw CommandFailure(error, brokers: settings?.kafka.bootstrapServers.joined(separator: ",") ?? "")
        }
    }
}

extension Invocation {
    /// Asks for the number of requests, or of other things, typed, when there are many to be `done`, such as `replayed`.
    func confirm(_ count: Int, of things: String = "requests", to done: String) throws(CommandFailure) {
        guard count > PreparedReplay.unaskedCount, !arguments.has("yes") else { return }
        guard streams.traits.isInputTerminal, streams.traits.isErrorTerminal else {
            throw CommandFailure(
                .refused, "\(count) \(things) would be \(done), and there is no terminal to ask on", hint: "--yes confirms it")
        }
        streams.note("\(count) \(things) will be \(done). Type this number to go on:")
        guard try streams.inputLine() == String(count) else { throw CommandFailure(.refused, "nothing was \(done)") }
    }
}

extension JobNote {
    /// A line for a person.
    fileprivate var text: String {
        switch self {
        case .indexUnused(let reason): "the index is not used: \(reason)"
        case .indexFailed(let reason): "the index cannot be used: \(Sanitised.line(reason))"
        case .indexRebuilt(let path, let reason): "\(path) \(reason) and is rebuilt"
        case .unknownReplays(let count, let topic):
            "\(Counted.text(count, "result", "results")) of replays that \(topic) does not know: they do not count as repeated"
        case .paused(let next, let count): "paused at \(next) of \(count)"
        case .retrying(let error): "once more after: \(Sanitised.line(error.description))"
        }
    }
}
