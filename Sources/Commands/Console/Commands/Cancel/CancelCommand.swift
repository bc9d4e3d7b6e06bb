import Audiences
import Delivery
import JobSupport
import Kafka
import Publishing
import PushModel
import Replays
import Results
import Settings

extension Command {
    static let cancel = Command(
        "cancel", .publishers, "Cancel requests by their ids, or all of a scope that were not begun", operands: "[ID...]",
        maximumOperands: .max,
        examples: [
            "pushfan cancel 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37 --wait",
            "pushfan cancel push.requests.v1:0:17 --reason 'wrong audience'",
            "pushfan cancel --label campaign=sale --dry-run",
            "pushfan cancel --label campaign=sale --reason 'wrong text' --wait",
            "pushfan cancel --source marketing --since 10m --reason 'sent twice' -o json",
        ],
        groups: [
            ScopeFlags.group,
            FlagGroup(
                "Cancellation",
                Flag("since", "TIME", "Of a scope, what was published since: 10m, 2026-11-21T17:00Z"),
                Flag("dry-run", nil, "Of a scope, only count; 4 if nothing of it waits, runs or is delayed"),
                Flag(
                    "reason", "TEXT",
                    "Why, for the results; required for a scope. At most \(CancelRecord.maximumReasonLength) characters, "
                        + "\(OrderRecord.maximumReasonLength) for a scope"),
                Flag("by", "TEXT", "Who, for a scope", default: "user@host"),
                Flag("yes", nil, "Cancel more than \(PreparedReplay.unaskedCount) requests of a scope without asking"),
                Flag(
                    "wait", nil,
                    "Wait for the final results, or until nothing of the scope waits; 3 if some had other ends, 75 if time runs out"
                ),
                .timeout("30s", "How long to wait for Kafka and the results")),
            .output(), .kafka(topics: ["control", "results"]),
        ],
        readOn: "pushfan help results show, hold, holds", run: CancelCommand.run)
}

/// The command `cancel`.
enum CancelCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        guard let scope = try ScopeFlags.scope(arguments) else {
            if let flag = arguments.firstGiven(of: ["since", "dry-run", "by", "yes"]) {
                throw .usage("--\(flag) is for a scope", hint: "such as --label NAME=VALUE, --source NAME, or --everything")
            }
            return try IDCancellation.run(invocation)
        }
        guard arguments.operands.isEmpty else {
            throw .usage("ids and a scope are not cancelled together", hint: "--request ID narrows a scope")
        }
        return try ScopeCancellation(of: scope, by: invocation).run()
    }
}

/// Cancels requests by their ids.
enum IDCancellation {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let named = try records(invocation)
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        let unknown = try invocation.perform(context.unknownIDs(among: Set(named.map(\.requestID))), with: settings)
        let records = unknown.isCertain ? named.filter { !unknown.ids.contains($0.requestID) } : named
        report(unknown, to: invocation.streams)
        guard !records.isEmpty else {
            throw CommandFailure(.nothingMatched, "nothing was cancelled", hint: "`pushfan results list` lists the newest")
        }
        let code = try cancel(records, by: invocation, settings: settings, context: context)
        return code == .done && records.count < named.count ? .partlyFailed : code
    }

    /// Names the ids that were never published, as far as that is known.
    private static func report(_ unknown: UnknownIDs, to streams: Streams) {
        for id in unknown.ids.sorted() {
            streams.note(
                unknown.isCertain
                    ? "\(Sanitised.quoted(id)) was never published"
                    : "it could not be found out in time if \(Sanitised.quoted(id)) was published; it is cancelled if so")
        }
    }

    private static func cancel(
        _ records: [CancelRecord], by invocation: Invocation, settings: Settings, context: JobContext
    ) throws(CommandFailure) -> ExitCode {
        let name = context.topics.control
        let (producer, topics) = try invocation.perform(context.writer(to: [name]), with: settings)
        defer { producer.close(timeout: .zero) }
        guard let topic = topics[name] else { throw CommandFailure(.failed, "the topic \(name) is not known") }
        let follower = try invocation.resultFollower(settings, context: context)
        defer { follower?.close() }
        let published = EnqueuedRequests(capacity: records.count, follower: follower)
        for record in records { published.add(record.requestID) }
        do throws(KafkaError) {
            try write(records, producer, topic, invocation, context.timeout)
        } catch {
            throw invocation.failure(error, settings.kafka, to: "write to \(topic.name)")
        }
        invocation.streams.note("\(records.count) cancellation\(records.count == 1 ? "" : "s") written to \(topic.name)")
        invocation.noteWorkers(withoutCancellation: context)
        published.waitForResults(until: Deadline(after: context.timeout), unless: context.isCancelled)
        let requests = published.all
        try report(requests, invocation)
        return invocation.arguments.has("wait") ? conclude(requests, invocation) : .done
    }

    private static func records(_ invocation: Invocation) throws(CommandFailure) -> [CancelRecord] {
        let ids = invocation.arguments.operands
        guard !ids.isEmpty else {
            throw .usage(
                "which requests? give their ids, or a scope such as --label NAME=VALUE",
                hint: "`pushfan enqueue` says ids, and `pushfan results list`")
        }
        let reason = invocation.arguments.value("reason")
        var records: [CancelRecord] = []
        for id in ids {
            if let word = FilterWord(id) {
                throw .usage(
                    "\(Sanitised.quoted(id)) looks like a filter, and is no request's id",
                    hint: word.flag.map { "a scope is named by flags: \($0)" }
                        ?? "a scope is named by flags, such as --label NAME=VALUE; `pushfan help cancel` lists them")
            }
            do throws(CancelRecord.Fault) {
                records.append(try CancelRecord(checking: id, reason: reason))
            } catch {
                switch error {
                case .id: throw .usage("\(Sanitised.quoted(id)) is no request's id")
                case .reason: throw .usage("--reason: at most \(CancelRecord.maximumReasonLength) characters are kept")
                }
            }
        }
        return records
    }

    private static func write(
        _ records: [CancelRecord], _ producer: Producer, _ topic: Producer.Topic, _ invocation: Invocation, _ timeout: Duration
    ) throws(KafkaError) {
        for record in records {
            let moment = Timestamp(milliseconds: invocation.surroundings.now())
            try record.write(with: producer, to: topic, at: moment)
        }
        try producer.flush(timeout: timeout)
        if let error = producer.failedDeliveries.first { throw error }
    }

    private static func report(_ requests: [EnqueuedRequest], _ invocation: Invocation) throws(CommandFailure) {
        guard invocation.arguments.has("wait") || invocation.arguments.format() != .table else { return }
        var table = Table("ID", "STATE", "ERROR")
        var objects: [[UInt8]] = []
        for request in requests {
            table.add(request.id, request.result?.state ?? "none yet", request.result?.errorCode ?? "-")
            objects.add([
                "id": request.id, "state": request.result?.state, "error": request.result?.errorCode,
            ])
        }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
    }

    private static func conclude(_ requests: [EnqueuedRequest], _ invocation: Invocation) -> ExitCode {
        let missing = requests.count { $0.result == nil }
        guard missing == 0 else {
            invocation.streams.note(
                "results that did not come in time: \(missing); the request may have ended before, or wait in a delay lane for an hour "
                    + "at most: `pushfan results show ID` says which")
            return Interruption.isRequested ? .interrupted : .temporary
        }
        return requests.allSatisfy { $0.result?.state == "cancelled" } ? .done : .partlyFailed
    }
}
