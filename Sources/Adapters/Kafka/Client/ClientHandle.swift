import CRDKafka
import EventLoop
import Synchronization

/// Owns one `rd_kafka_t` with its topic handles, and destroys them in the order that the library asks for.
///
/// `@unchecked Sendable`: the pointer never changes, `rd_kafka_t` may be used from any thread (rdkafka.h, INTRODUCTION.md "Threads and
/// callbacks"), and the topic handles are behind a lock. It is destroyed when the last user lets go, so no call can meet a dead client.
final class ClientHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    let diagnosis: Diagnosis
    private let inbox: ClientInbox?
    private let live: LiveProperties?
    private let epoch: Int
    /// Renews the client's token as long as it lives.
    private let tokens: TokenKeeper?
    /// Protects the list of topic handles. Nothing else is locked while it is held.
    private let topics = Mutex<[TopicHandle]>([])
    /// The topics whose leaders are asked for before their offsets are. Nothing else is locked while it is held.
    private let doubtful = Mutex<Set<String>>([])

    /// Makes the client that `settings` describe, which are used up. What the library reports by callback goes to `inbox`, if it
    /// is not read by events. Throws where the library refused the settings as a whole.
    init(_ type: rd_kafka_type_t, settings: ClientSettings, inbox: ClientInbox?) throws(KafkaError) {
        // Whatever the library would print before anybody reads its queue must not reach the standard error stream.
        settings.registerWatch()
        settings.withConf { conf in
            guard let inbox else { return rd_kafka_conf_set_log_cb(conf, discardLog) }
            rd_kafka_conf_set_log_cb(conf, receiveLog)
            inbox.register(in: conf)
        }
        diagnosis = settings.diagnosis
        (live, epoch, tokens) = (settings.live, settings.epoch, settings.tokens)
        settings.noteQuestion()
        self.inbox = inbox
        pointer = try TimerSlack.coarse { () throws(KafkaError) in try settings.makeClient(type) }
        rd_kafka_set_log_queue(pointer, nil)
        live?.add(self)
        tokens?.add(self)
    }

    deinit {
        topics.withLock { for topic in $0 { rd_kafka_topic_destroy(topic.pointer) } }
        let (client, inbox, watch) = (UnfreedClient(pointer: pointer), inbox, diagnosis.watch)
        let isFreed = KafkaLibrary.frees.make {
            // A consumer was closed before, or is not to be waited for; the flag means nothing to a producer.
            rd_kafka_destroy_flags(client.pointer, Int32(RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE))
            // The library's callbacks need them until then.
            withExtendedLifetime((inbox, watch)) {}
        }
        if !isFreed { watch?.leftUnfreed() }
    }

    /// True if properties or certificates have changed since it was made, so that another must take its place.
    var isOutdated: Bool { live.map { $0.epoch != epoch } ?? false }

    /// The reason for which the client has no token to log in with, or nil. Of its events only the first of several alike tells it.
    var tokenError: KafkaError? {
        tokens?.failure.map { KafkaError(RD_KAFKA_RESP_ERR__AUTHENTICATION, message: $0.reason) }
    }

    /// Notes the cluster that the client knows by now, as its brokers last said. Asks none.
    ///
    /// - Throws: Another cluster answers than the first that the process has seen (`isOtherCluster`).
    func checkCluster() throws(KafkaError) {
        guard let watch = diagnosis.watch else { return }
        if let id = rd_kafka_clusterid(pointer, 0) {
            watch.saw(cluster: String(cString: id))
            rd_kafka_mem_free(pointer, id)
        }
        if let failure = watch.clusterFailure { throw failure }
    }

    /// The failure of `checkCluster`, if there is one.
    var clusterFailure: KafkaError? {
        do throws(KafkaError) {
            try checkCluster()
            return nil
        } catch {
            return error
        }
    }

    /// Has the client log in as `login` when it connects next. Nil, and what the library refuses, changes nothing.
    func logIn(as login: Login?) {
        guard let login else { return }
        _ = KafkaError(consuming: rd_kafka_sasl_set_credentials(pointer, login.user, login.password))
    }

    /// Makes a handle for the topic `name`, unless there is one, and returns its index. The handle lives as long as the client.
    func addTopic(_ name: String) throws(KafkaError) -> Int {
        try TopicName.validate(name)
        let index = topics.withLock { topics -> Int? in
            if let index = topics.firstIndex(where: { $0.name == name }) { return index }
            guard let topic = rd_kafka_topic_new(pointer, name, nil) else { return nil }
            topics.append(TopicHandle(name: name, pointer: topic))
            return topics.count - 1
        }
        guard let index else { throw KafkaError(rd_kafka_last_error(), message: "cannot use topic '\(name)'") }
        return index
    }

    /// True if a topic's leader failed to answer the latest question for offsets, so that it may be another one by now.
    func isDoubtful(_ topic: String) -> Bool { doubtful.withLock { $0.contains(topic) } }

    /// Notes whether a topic's leader failed to answer.
    func setDoubtful(_ topic: String, isDoubtful: Bool) {
        doubtful.withLock { topics in
            if isDoubtful { topics.insert(topic) } else { topics.remove(topic) }
        }
    }

    /// The topic handle at `index`.
    func topic(_ index: Int) -> OpaquePointer { topics.withLock { $0[index] }.pointer }
}

/// An `rd_kafka_topic_t`. `@unchecked Sendable`: like its client it may be used from any thread (rdkafka.h), and the client outlives it.
private struct TopicHandle: @unchecked Sendable {
    let name: String
    let pointer: OpaquePointer
}

/// A client that only waits to be freed. `@unchecked Sendable`: no one else has it any more.
private struct UnfreedClient: @unchecked Sendable {
    let pointer: OpaquePointer
}

extension KafkaLibrary {
    /// The ends of clients. Freeing one takes some milliseconds, or for ever where a partition of a deleted topic still holds a broker
    /// (librdkafka 2.0.2, page Kafka, "Calls that hang").
    fileprivate static let frees = LimitedCalls(named: "pushfan-free", limit: .seconds(3), laterLimit: .milliseconds(200))

    /// The number of clients that the library did not free in time, and has not freed since. Its threads still work for them, so a process
    /// that has some must end without what usually runs at an exit.
    public static var unfreedCount: Int { frees.overdueCount }
}

private func discardLog(
    _ client: OpaquePointer?, level: Int32, facility: UnsafePointer<CChar>?, message: UnsafePointer<CChar>?
) {}

private func receiveLog(
    _ client: OpaquePointer?, level: Int32, facility: UnsafePointer<CChar>?, message: UnsafePointer<CChar>?
) {
    guard let client, let opaque = rd_kafka_opaque(client), let facility, let message else { return }
    let line = LibraryLine(level: Int(level), facility: String(cString: facility), message: String(cString: message))
    let inbox = ClientInbox.from(opaque)
    if line.facility == "CLUSTERID", let id = rd_kafka_clusterid(client, 0) {
        inbox.saw(cluster: String(cString: id))
        rd_kafka_mem_free(client, id)
        rd_kafka_purge(client, RD_KAFKA_PURGE_F_QUEUE)
    }
    inbox.receive(.log(line))
}
