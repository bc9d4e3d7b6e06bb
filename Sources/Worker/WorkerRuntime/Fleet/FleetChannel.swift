import Basics
import Delivery
import Foundation
import Kafka
import PushModel
import Synchronization

/// Reads and writes what workers announce to each other about one hub, on the first partition of a topic of their own.
///
/// Reading is a thread's of its own; writing is the caller's and does not wait. No one may write to the topic within a transaction:
/// readers would have to wait for its end.
final class FleetChannel: Sendable {
    /// The events that the loop is to know.
    enum Event: Sendable {
        /// Announcements can be written and will be read from here on.
        case opened
        /// The content of the log at an offset, and when it was read, monotonic nanoseconds.
        case heard(FleetShare.Announcement, offset: Int64)
        /// The request topics have this many partitions in all, whatever becomes of the topic.
        case counted(Int)
        /// The topic does not exist. The request topics have this many partitions in all.
        case missing(partitionCount: Int)
        /// Something does not work at present. It is tried again.
        case failed(KafkaError)
    }

    /// The place where it reads and writes.
    struct Configuration: Sendable {
        var kafka: KafkaConfiguration
        var topic: String
        var requestTopics: [String]
        var hub: String
        var worker: String
    }

    /// The means of writing.
    private struct Outlet: Sendable {
        let producer: Producer
        let topic: Producer.Topic
    }

    private struct State {
        var events: [Event] = []
        var outlet: Outlet?
        var isClosed = false
    }

    /// Protects the queue and what there is to write with. Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let closing = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let configuration: Configuration
    private let key: [UInt8]
    private let notify: @Sendable () -> Void

    /// A channel whose thread runs. It calls `notify`, from that thread, when an event is there.
    init(_ configuration: Configuration, notify: @escaping @Sendable () -> Void) {
        self.configuration = configuration
        self.notify = notify
        key = FleetRecord.key(hub: configuration.hub, worker: configuration.worker)
        let thread = Thread { [self] in
            work()
            ended.signal()
        }
        thread.name = "pushfan-fleet"
        thread.start()
    }

    /// Writes an announcement. One that cannot be written is not missed, for the next one says all that it did.
    func send(_ announcement: FleetShare.Announcement) {
        guard let outlet = state.withLock({ $0.outlet }) else { return }
        let key = key
        let value = FleetRecord.value(of: announcement, hub: configuration.hub, worker: configuration.worker)
        try? outlet.producer.produce(to: outlet.topic, partition: FleetRecord.partition, key: key.span, value: value.span)
    }

    /// Takes the events that came since the last call.
    func takeEvents() -> [Event] {
        state.withLock { state in
            guard !state.events.isEmpty else { return [] }
            defer { state.events.removeAll(keepingCapacity: true) }
            return state.events
        }
    }

    /// Writes what is left, and waits for the thread's end, but no longer than `limit`.
    func close(within limit: Duration) {
        let outlet = state.withLock { state in
            state.isClosed = true
            defer { state.outlet = nil }
            return state.outlet
        }
        closing.signal()
        outlet?.producer.close(timeout: limit)
        _ = ended.wait(timeout: .now() + .nanoseconds(Int(limit.wholeNanoseconds)))
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func post(_ event: Event) {
        state.withLock { $0.events.append(event) }
        notify()
    }

    private func work() {
        while !isClosed {
            do throws(KafkaError) {
                let reader = try open()
                defer { reader.close() }
                post(.opened)
                read(reader)
            } catch {
                if !error.isUnknownTopicOrPartition { post(.failed(error)) }
                _ = closing.wait(timeout: .now() + .seconds(error.isUnknownTopicOrPartition ? 10 : 1))
            }
        }
    }

    /// Reads from the present end on, and can be written to from then on: so nothing is written that could be missed.
    private func open() throws(KafkaError) -> TopicReader {
        let producer = try makeProducer()
        do throws(KafkaError) {
            let topic = try producer.warmUp(topics: [configuration.topic], timeout: .seconds(5))[0]
            if let count = try? partitionCount(producer) { post(.counted(count)) }
            let reader = try TopicReader(configuration.kafka, topic: configuration.topic, start: .end, timeout: .seconds(5))
            use(Outlet(producer: producer, topic: topic))
            return reader
        } catch {
            if error.isUnknownTopicOrPartition { post(.missing(partitionCount: try partitionCount(producer))) }
            producer.close(timeout: .zero)
            throw error
        }
    }

    private func makeProducer() throws(KafkaError) -> Producer {
        var kafka = configuration.kafka
        // What is older than a lease is of no use to anybody.
        kafka.properties.append(.init(key: "message.timeout.ms", value: "1000"))
        return try Producer(kafka, transactionalID: nil)
    }

    private func use(_ outlet: Outlet) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.outlet = outlet }
            return state.isClosed
        }
        if isClosed { outlet.producer.close(timeout: .zero) }
    }

    /// Serves the producer, and replaces one that has failed for good. Reading goes on, for nothing may be missed.
    private func tendProducer() {
        guard let outlet = state.withLock({ $0.outlet }) else { return }
        outlet.producer.poll()
        var hasFailed = false
        while let event = outlet.producer.nextEvent() {
            if case .error(let error) = event, error.isFatal { hasFailed = true }
        }
        guard hasFailed else { return }
        do throws(KafkaError) {
            let producer = try makeProducer()
            use(Outlet(producer: producer, topic: try producer.topic(named: configuration.topic)))
            outlet.producer.close(timeout: .zero)
        } catch {
            post(.failed(error))
        }
    }

    private func partitionCount(_ producer: Producer) throws(KafkaError) -> Int {
        var count = 0
        for name in configuration.requestTopics {
            do throws(KafkaError) {
                count += Int(try producer.partitionCount(of: producer.topic(named: name), timeout: .seconds(5)))
            } catch  where error.isUnknownTopicOrPartition {
                // Not every lane need be there.
                continue
            }
        }
        return count
    }

    /// Reads until the channel is closed, or another reader must take over.
    private func read(_ reader: TopicReader) {
        var document = JSONDocument()
        while !isClosed {
            var event: Event?
            let result = reader.read(timeout: .milliseconds(100)) { record in
                guard record.partition == FleetRecord.partition, let value = record.value else { return }
                let hub = configuration.hub
                guard let found = FleetRecord.announcement(in: value, using: &document, hub: hub) else { return }
                event = .heard(found, offset: record.offset)
            }
            if let event { post(event) }
            if case .error(let error) = result {
                if error.isOutdated { return }
                post(.failed(error))
            }
            while let event = reader.nextEvent() {
                if case .error(let error) = event { post(.failed(error)) }
            }
            tendProducer()
        }
    }
}
