import Kafka
import Settings

extension EnqueueCommand {
    /// Writes the requests, says where they went, and waits for their results if that was asked for.
    static func send(
        _ requests: [OutgoingRequest], _ plan: RequestSender.Plan, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        let timeout = try arguments.duration("timeout") ?? .seconds(30)
        let settings = try invocation.settings()
        let isQuiet = arguments.has("quiet")
        Interruption.catchSignals()
        let producer: Producer
        let topic: Producer.Topic
        let waiter: ResultWaiter?
        do throws(KafkaError) {
            producer = try Producer(settings.kafkaConfiguration(), transactionalID: nil, enqueueTimeout: timeout)
            guard let found = try producer.warmUp(topics: [settings.kafka.topics.requests], timeout: timeout).first else {
                return .failed
            }
            topic = found
            waiter = arguments.has("wait") ? try ResultWaiter(settings, timeout: timeout) : nil
        } catch {
            throw invocation.failure(error, settings.kafka, to: "write to \(settings.kafka.topics.requests)")
        }
        defer { producer.close(timeout: .zero) }
        let places = isQuiet ? nil : try? PlaceFinder(settings.kafkaConfiguration(), topic: topic.name, timeout: timeout)
        var published: [PublishedRequest]
        do throws(KafkaError) {
            var sender = RequestSender(plan, now: invocation.surroundings.now)
            published = try sender.send(requests, with: producer, to: topic, timeout: timeout)
        } catch {
            throw failure(producer, error, settings, invocation)
        }
        guard producer.failedDeliveries.count == 0 else { throw failure(producer, nil, settings, invocation) }
        places?.find(&published, until: Deadline(after: min(timeout, .seconds(10))))
        waiter?.wait(for: &published, until: Deadline(after: timeout))
        try report(published, topic.name, invocation)
        return conclude(published, planned: requests.count * plan.copies, invocation)
    }

    private static func failure(
        _ producer: Producer, _ error: KafkaError?, _ settings: Settings, _ invocation: Invocation
    ) -> CommandFailure {
        let failed = producer.failedDeliveries
        let topic = settings.kafka.topics.requests
        guard let reason = failed.first ?? error else { return CommandFailure(.failed, "some requests were not written") }
        let count = failed.count > 0 ? "\(failed.count) requests" : "every request"
        return invocation.failure(reason, settings.kafka, to: "write \(count) to \(topic)")
    }

    private static func report(
        _ published: [PublishedRequest], _ topic: String, _ invocation: Invocation
    ) throws(CommandFailure) {
        let isWaiting = invocation.arguments.has("wait")
        invocation.streams.note("\(published.count) requests written to \(topic)")
        guard !invocation.arguments.has("quiet") else { return }
        if published.contains(where: { $0.offset == nil }) {
            invocation.streams.note("note: some places could not be read back from \(topic)")
        }
        var table = isWaiting ? Table("ID", "STATE", "ERROR", "PARTITION", "OFFSET") : Table("ID", "TOPIC", "PARTITION", "OFFSET")
        var objects: [[UInt8]] = []
        for request in published {
            var object = JSONObject()
            object.add("id", request.id)
            object.add("topic", topic)
            if let partition = request.partition { object.add("partition", Int(partition)) }
            object.add("offset", request.offset.map(String.init))
            let partition = request.partition.map(String.init) ?? "-"
            if isWaiting {
                let state = request.result?.state ?? "none yet"
                object.add("state", request.result?.state)
                object.add("error", request.result?.errorCode)
                table.add(request.id, state, request.result?.errorCode ?? "-", partition, request.offsetText)
            } else {
                table.add(request.id, topic, partition, request.offsetText)
            }
            objects.append(object.bytes)
        }
        try invocation.streams.out(invocation.arguments.format(), table, objects)
    }

    private static func conclude(_ published: [PublishedRequest], planned: Int, _ invocation: Invocation) -> ExitCode {
        if published.count < planned { return Interruption.exitCode }
        guard invocation.arguments.has("wait") else { return .done }
        let missing = published.count { $0.result == nil }
        let failed = published.count { $0.result.map { $0.state != "sent" } ?? false }
        if missing > 0 {
            invocation.streams.note("\(missing) results did not come in time")
            return Interruption.isRequested ? Interruption.exitCode : .temporary
        }
        if failed > 0 {
            invocation.streams.note("\(failed) requests were not sent everywhere; `pushfan results show ID` says why")
        }
        return failed > 0 ? .partlyFailed : .done
    }
}
