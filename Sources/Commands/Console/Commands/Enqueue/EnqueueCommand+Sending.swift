import Audiences
import JobSupport
import Kafka
import Publishing
import PushModel
import Settings

extension EnqueueCommand {
    /// Writes the requests, waits for their results on request, and reports their places.
    static func send(
        _ requests: [OutgoingRequest], _ plan: RequestSender.Plan, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        let topics = settings.kafka.topics.ofRequests
        let used = Set(requests.map { topics.name(for: $0.priority) })
        let names = topics.all.filter { used.contains($0) }
        let (producer, handles) = try invocation.perform(context.writer(to: names), with: settings)
        defer { producer.close(timeout: .zero) }
        let follower = try invocation.resultFollower(settings, context: context)
        defer { follower?.close() }
        let sent = EnqueuedRequests(capacity: requests.count * plan.copies, follower: follower)
        try write(requests, plan, producer, handles, settings, context.timeout, invocation, into: sent)
        sent.waitForResults(until: Deadline(after: context.timeout), unless: context.isCancelled)
        let published = sent.all
        try report(published, names.joined(separator: " and "), invocation)
        return conclude(published, planned: requests.count * plan.copies, invocation)
    }

    private static func write(
        _ requests: [OutgoingRequest], _ plan: RequestSender.Plan, _ producer: Producer, _ handles: [String: Producer.Topic],
        _ settings: Settings, _ timeout: Duration, _ invocation: Invocation, into published: EnqueuedRequests
    ) throws(CommandFailure) {
        var problem: KafkaError?
        do throws(KafkaError) {
            var sender = RequestSender(plan, topics: settings.kafka.topics.ofRequests, now: invocation.surroundings.now)
            try sender.send(
                requests, with: producer, to: handles, timeout: timeout, unless: { Interruption.isRequested }, into: published)
            if producer.failedDeliveries.count == 0 { return }
        } catch {
            problem = error
        }
        let failed = producer.failedDeliveries
        let count = failed.count > 0 ? "\(failed.count) of the requests" : "the requests"
        guard let reason = failed.first ?? problem else { throw CommandFailure(.failed, "\(count) were not written") }
        throw invocation.failure(
            reason, settings.kafka, to: "write \(count) to \(handles.keys.sorted().joined(separator: " and "))")
    }

    private static func report(
        _ published: [EnqueuedRequest], _ topics: String, _ invocation: Invocation
    ) throws(CommandFailure) {
        let isWaiting = invocation.arguments.has("wait")
        invocation.streams.note("\(published.count) \(published.count == 1 ? "request" : "requests") written to \(topics)")
        guard !invocation.arguments.has("quiet") else { return }
        var table =
            isWaiting ? Table("ID", "STATE", "ERROR", "PARTITION", "OFFSET") : Table("ID", "TOPIC", "PARTITION", "OFFSET")
        var objects: [[UInt8]] = []
        for request in published {
            objects.append(request.json)
            let partition = request.partition.map(String.init) ?? "-"
            let offset = request.offset.map(String.init) ?? "-"
            if isWaiting {
                let state = request.result?.state ?? "none yet"
                table.add(request.id, state, request.result?.errorCode ?? "-", partition, offset)
            } else {
                table.add(request.id, request.topic ?? "-", partition, offset)
            }
        }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
    }

    private static func conclude(_ published: [EnqueuedRequest], planned: Int, _ invocation: Invocation) -> ExitCode {
        if published.count < planned { return .interrupted }
        guard invocation.arguments.has("wait") else { return .done }
        let missing = published.count { $0.result == nil }
        let unsent = UnsentRequests.lines(published.lazy.compactMap { request in request.result.map { (request.id, $0) } })
        for line in unsent { invocation.streams.note(line) }
        if missing > 0 {
            invocation.streams.note("results that did not come in time: \(missing)")
            return Interruption.isRequested ? .interrupted : .temporary
        }
        return unsent.isEmpty ? .done : .partlyFailed
    }
}

extension EnqueuedRequest {
    /// The request as a JSON object. Offsets are texts, because not every reader of JSON keeps 64 bits.
    fileprivate var json: [UInt8] {
        JSONObject([
            "id": id, "topic": topic, "partition": partition.map { Int($0) }, "offset": offset.map(String.init),
            "state": result?.state, "outcome": result?.outcome, "error": result?.errorCode,
        ]).bytes
    }
}
