import Delivery
package import JobSupport
package import Kafka

extension JobContext {
    /// The time before now from which reports are read: who said nothing since then is forgotten.
    private static let reach = Fleet.forgottenAge + 10_000

    /// A reader of the fleet's reports from a minute or so ago on, and of those that come, or nil when there is no such topic. One that
    /// follows it for long gets the reports of half a second at once: a fetch for each would cost more than all else.
    package func openFleet(following isFollowing: Bool = false) throws(JobFailure) -> TopicReader? {
        var kafka = kafka
        if isFollowing {
            kafka.properties += [
                .init(key: "fetch.min.bytes", value: "1048576"), .init(key: "fetch.wait.max.ms", value: "500"),
            ]
        }
        do throws(KafkaError) {
            return try TopicReader(
                kafka, topic: topics.status, start: .time(now() - Self.reach), timeout: timeout, readAhead: 16 << 20)
        } catch {
            if error.isUnknownTopicOrPartition { return nil }
            throw .kafka(error, .read(topic: topics.status))
        }
    }

    /// The fleet as it is: reads to the end. Nil when there is no such topic.
    ///
    /// - Parameters:
    ///   - patience: The longest time to read on while one of its workers seems silent, which one that lives is not for long: the clock of
    ///     a machine that is wrong makes it seem so.
    ///   - isExpected: True to do so as well while there is no worker at all.
    /// - Returns: The fleet, or nil when there is no such topic.
    /// - Throws: The topic cannot be read, or the job was cancelled.
    package func fleet(patience: Duration = .zero, isExpected: Bool = false) throws(JobFailure) -> Fleet? {
        guard let reader = try openFleet() else { return nil }
        defer { reader.close() }
        var fleet = Fleet()
        try TopicScan(self, topic: topics.status).read(reader) {
            fleet.take($0, isLive: false, wall: now(), now: Deadline.milliseconds())
        }
        let deadline = Deadline(after: patience)
        while !deadline.hasPassed, !isCancelled() {
            let members = fleet.members(at: Deadline.milliseconds())
            guard members.contains(where: \.isStale) || members.isEmpty && isExpected else { break }
            _ = reader.read(timeout: .milliseconds(100)) {
                fleet.take($0, isLive: true, wall: now(), now: Deadline.milliseconds())
            }
        }
        return fleet
    }
}

extension Fleet {
    /// Takes a record of the topic. `isLive` once the reader has reached the end that the topic had when it was opened. `wall` is
    /// milliseconds since 1970, and `now` those of the clock that never jumps.
    package mutating func take(_ record: borrowing ConsumedRecord, isLive: Bool, wall: Int64, now: Int64) {
        let record = FetchedRecord(record)
        if isLive {
            take(key: record.key, value: record.value, heardAt: now)
        } else {
            take(key: record.key, value: record.value, writtenAt: record.timestamp, wall: wall, readAt: now)
        }
    }
}
