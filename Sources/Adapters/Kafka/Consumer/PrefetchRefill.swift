import CRDKafka

/// Has the library fetch on in time, so that the queues of prefetched records can be short.
///
/// librdkafka before 2.2.0 leaves a partition whose queue is full out of its fetches. The broker's thread looks at the queue again only
/// when something else wakes it, or after 1 s (page Kafka, "Full queues"). So when a queue that was full has run half empty, each broker
/// is asked for its dead groups: a short answer, which needs no permission, and the request passes through that very thread. Measured with
/// 60,000 records at 20,000/s: one pause of 250 to 460 ms in each run without it, none with it.
struct PrefetchRefill {
    /// The number of answers that have come, for tests.
    private(set) var answerCount = 0

    private let answers: ClientQueue
    private var watch: PrefetchWatch
    private var isWanted = false
    private var isAsking = false

    /// True if a queue is full, or was and has not run low. It is for tests.
    var hasSeenFullQueue: Bool { watch.hasSeenFullQueue }

    /// Records in a partition's queue from which on nothing is fetched for it, unless the user's properties say otherwise. Each costs the
    /// library some 500 bytes besides its own.
    static let defaultLimit = 2000

    /// The settings that the library itself needs: from 2.2.0 on, to look at full queues again after 10 ms.
    static var settings: [ClientSettings.Setting] {
        isNeeded ? [] : [("fetch.queue.backoff.ms", "10")]
    }

    private static var isNeeded: Bool { rd_kafka_version() < 0x0202_0000 }

    /// Watches over the queues of `client`. Nil if the library does so by itself.
    init?(_ client: ClientHandle) throws(KafkaError) {
        guard Self.isNeeded else { return nil }
        answers = try .empty(of: client)
        watch = PrefetchWatch(
            limit: Self.number(client, property: "queued.min.messages") ?? Self.defaultLimit,
            byteLimit: 1000
                * (Self.number(client, property: "queued.max.messages.kbytes") ?? QueueRoom.large.queueByteCount / 1000))
    }

    /// The client's value of a property that is a number.
    private static func number(_ client: ClientHandle, property: String) -> Int? {
        var value = [CChar](repeating: 0, count: 32)
        var size = value.count
        let result = rd_kafka_conf_get(rd_kafka_conf(client.pointer), property, &value, &size)
        return result == RD_KAFKA_CONF_OK ? Int(text(value)) : nil
    }

    /// Looks at the queues of the partitions of `slots`, and wakes the library if one runs low. Every 10 ms is often enough. It takes well
    /// below 1 µs for each.
    mutating func check(_ queues: [ClientQueue], slots: some Sequence<Int>) {
        if isAsking, let answer = answers.nextEvent() {
            rd_kafka_event_destroy(answer)
            isAsking = false
            answerCount += 1
        }
        let runsLow = watch.runsLow(queues: queues.count, slots: slots) {
            PrefetchWatch.Sample(count: queues[$0].count, valueByteCount: queues[$0].lastValueByteCount)
        }
        if runsLow { isWanted = true }
        if isWanted && !isAsking { ask() }
    }

    private mutating func ask() {
        let client = answers.client.pointer
        let options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS)
        defer { rd_kafka_AdminOptions_destroy(options) }
        var reason = [CChar](repeating: 0, count: 256)
        rd_kafka_AdminOptions_set_request_timeout(options, 1000, &reason, reason.count)
        var states = [RD_KAFKA_CONSUMER_GROUP_STATE_DEAD]
        if let error = rd_kafka_AdminOptions_set_match_consumer_group_states(options, &states, states.count) {
            rd_kafka_error_destroy(error)
        }
        answers.listGroups(options)
        isWanted = false
        isAsking = true
    }
}

/// Notices that queues which were full run low.
///
/// The library says how many records a queue has, and not how many bytes: these are estimated from the records that were read.
struct PrefetchWatch: Equatable {
    /// The findings of one look at a queue.
    struct Sample: Equatable {
        /// The records in it.
        var count: Int
        /// The number of bytes of the value that was last read from it, or 0 before the first.
        var valueByteCount = 0
    }

    /// The known facts of a queue.
    private struct Queue: Equatable {
        var wasFull = false
        /// The records at the look before.
        var count = 0
        /// The bytes of a value, about.
        var valueByteCount = 0
    }

    /// The records at which a queue is full.
    let limit: Int
    /// The bytes at which it is full, too.
    let byteLimit: Int
    private var queues: [Queue] = []
    /// Those that are full, or were and have not run low.
    private var full: [Int] = []

    init(limit: Int, byteLimit: Int = .max) {
        self.limit = limit
        self.byteLimit = byteLimit
    }

    /// True if a queue is full, or was and has not run low.
    var hasSeenFullQueue: Bool { !full.isEmpty }

    /// Looks at the queues of `slots`, and at those that were full. Returns whether one that was full has fallen below half of it, said once,
    /// until it was full again. Nothing is known of any after their number changes.
    mutating func runsLow(queues queueCount: Int, slots: some Sequence<Int>, sample: (Int) -> Sample) -> Bool {
        if queues.count != queueCount { (queues, full) = (Array(repeating: Queue(), count: queueCount), []) }
        var runsLow = false
        for slot in full where note(sample(slot), of: slot) { runsLow = true }
        full.removeAll { !queues[$0].wasFull }
        for slot in slots where slot < queueCount && !queues[slot].wasFull {
            if note(sample(slot), of: slot) { runsLow = true }
            if queues[slot].wasFull { full.append(slot) }
        }
        return runsLow
    }

    /// Takes in one sample. True if the queue has run low.
    private mutating func note(_ sample: Sample, of index: Int) -> Bool {
        let known = queues[index]
        // One large record among small ones, or the reverse, is soon forgotten.
        let size = known.valueByteCount == 0 ? sample.valueByteCount : (3 * known.valueByteCount + sample.valueByteCount) / 4
        queues[index].valueByteCount = size
        queues[index].count = sample.count
        // The size is known only when a record was read. A few large ones may all be gone by then, so the sample before counts as well.
        if sample.count >= limit || max(sample.count, known.count) * size >= byteLimit / 4 * 3 { queues[index].wasFull = true }
        guard queues[index].wasFull, sample.count < limit / 2, sample.count * size < byteLimit / 2 else { return false }
        queues[index].wasFull = false
        return true
    }
}
