import Kafka

/// Writes batches to Kafka: in one transaction with the consumed offsets, or, on a broker without transactions, before them.
///
/// Lives on the committer's thread. After every failure it is ready for the same batch again; whether a transaction whose
/// outcome is unknown was committed is told by the group's position, which only that transaction can have moved.
struct Publisher {
    private let configuration: WorkerConfiguration
    private let group: ConsumerGroup
    private var kafka: KafkaConfiguration
    private var producer: Producer?
    private var results: Producer.Topic?
    private var deadLetters: Producer.Topic?
    private var headers = Kafka.RecordHeaders()
    /// Whether the last commit may have happened although it was not confirmed.
    private var isDoubtful = false

    init(_ configuration: WorkerConfiguration, group: ConsumerGroup) {
        self.configuration = configuration
        self.group = group
        kafka = configuration.kafka
        // A dead letter is larger than its record; what the broker takes is the broker's to say.
        if !kafka.properties.contains(where: { $0.key == "message.max.bytes" }) {
            kafka.properties.append(.init(key: "message.max.bytes", value: "8388608"))
        }
    }

    mutating func perform(_ job: Committer.Job) -> Committer.Reply {
        switch job {
        case .prepare:
            do throws(KafkaError) {
                try prepare()
                return .prepared
            } catch {
                return isFinal(error) ? .fenced(error) : .failed(error)
            }
        case .positions(let partitions, let epoch):
            do throws(KafkaError) {
                return .positions(try group.committed(partitions, timeout: .seconds(10)), epoch: epoch)
            } catch {
                return .positionsFailed(error, epoch: epoch)
            }
        case .probe(let partitions):
            do throws(KafkaError) {
                _ = try group.committed(partitions, timeout: .seconds(5))
                return .probed(nil)
            } catch {
                return .probed(error)
            }
        case .commit(let batch, let offsets, let metadata, let epoch):
            do throws(KafkaError) {
                try publish(batch, offsets, metadata)
                return .committed(batch, epoch: epoch)
            } catch {
                return isFinal(error) ? .fenced(error) : .commitFailed(batch, error, epoch: epoch)
            }
        case .stop:
            producer?.close(timeout: .seconds(5))
            producer = nil
            return .stopped
        }
    }

    /// Whether another process has taken this worker's transactional id.
    private func isFinal(_ error: KafkaError) -> Bool { error.isFenced && error.isFatal }

    private mutating func prepare() throws(KafkaError) {
        guard producer == nil else { return }
        let isTransactional = configuration.guarantee == .exactlyOnce
        let id = isTransactional ? "\(configuration.groupID)-\(configuration.workerID)" : nil
        let fresh = try Producer(kafka, transactionalID: id, transactionTimeout: configuration.transactionTimeout)
        let topics = try fresh.warmUp(
            topics: [configuration.topics.results, configuration.topics.deadLetters], timeout: .seconds(5))
        if isTransactional { try fresh.initTransactions(timeout: .seconds(30)) }
        (results, deadLetters) = (topics[0], topics[1])
        producer = fresh
    }

    private mutating func publish(
        _ batch: borrowing OutcomeBatch, _ offsets: [OffsetCommit], _ metadata: GroupMetadata?
    ) throws(KafkaError) {
        try prepare()
        guard let producer else { return }
        if isDoubtful {
            let isCommitted = try isCommitted(offsets)
            isDoubtful = false
            if isCommitted { return }
        }
        guard configuration.guarantee == .exactlyOnce, let metadata else {
            try publishPlainly(batch, offsets, with: producer)
            return
        }
        do throws(KafkaError) {
            try producer.beginTransaction()
            // Records before offsets: the broker's wait for the transaction before is shorter here (kafka-dispatch 4.8).
            try produce(batch, with: producer)
            try repeatedly { () throws(KafkaError) in
                try producer.sendOffsets(offsets, group: metadata, timeout: configuration.transactionTimeout)
            }
        } catch {
            try recover(producer, from: error, mayBeCommitted: false)
        }
        do throws(KafkaError) {
            try repeatedly { () throws(KafkaError) in
                try producer.commitTransaction(timeout: configuration.transactionTimeout)
            }
        } catch {
            try recover(producer, from: error, mayBeCommitted: !error.requiresAbort)
        }
    }

    /// Records first, then offsets; what fails is written again by a new producer, and may then stand there twice.
    private mutating func publishPlainly(
        _ batch: borrowing OutcomeBatch, _ offsets: [OffsetCommit], with producer: Producer
    ) throws(KafkaError) {
        do throws(KafkaError) {
            try produce(batch, with: producer)
            try confirm(producer)
            try group.commit(offsets)
        } catch {
            producer.close(timeout: .zero)
            self.producer = nil
            throw error
        }
    }

    /// Calls again what may be called again, a few times.
    private func repeatedly(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
        for attempt in 1... {
            do throws(KafkaError) {
                try call()
                return
            } catch {
                guard error.isRetriable, !error.requiresAbort, !error.isFatal, attempt < 3 else { throw error }
            }
        }
    }

    /// Leaves the producer ready for the next transaction, and passes the failure on.
    ///
    /// What cannot be aborted is given up together with its producer: the next one, with the same transactional id, makes
    /// the broker settle the open transaction before anything else.
    private mutating func recover(_ producer: Producer, from error: KafkaError, mayBeCommitted: Bool) throws(KafkaError) {
        var isUsable = !error.isFatal && !mayBeCommitted
        if isUsable {
            do throws(KafkaError) { try producer.abortTransaction(timeout: configuration.transactionTimeout) } catch {
                isUsable = false
            }
        }
        if !isUsable {
            isDoubtful = mayBeCommitted
            producer.close(timeout: .zero)
            self.producer = nil
        }
        throw error
    }

    private mutating func produce(_ batch: borrowing OutcomeBatch, with producer: Producer) throws(KafkaError) {
        guard let results, let deadLetters else { return }
        for record in batch.records {
            headers.removeAll()
            for index in record.headers {
                let header = batch.headers[index]
                if let value = header.value {
                    headers.append(name: batch.span(header.name), value: batch.span(value))
                } else {
                    headers.append(name: batch.span(header.name), value: nil)
                }
            }
            let topic = record.destination == .results ? results : deadLetters
            try produce(record, of: batch, to: topic, with: producer)
        }
    }

    private func produce(
        _ record: OutcomeBatch.Record, of batch: borrowing OutcomeBatch, to topic: Producer.Topic, with producer: Producer
    ) throws(KafkaError) {
        switch (record.key, record.value) {
        case (let key?, let value?):
            try producer.produce(to: topic, key: batch.span(key), value: batch.span(value), headers: headers)
        case (nil, let value?):
            try producer.produce(to: topic, key: nil, value: batch.span(value), headers: headers)
        case (let key?, nil):
            try producer.produce(to: topic, key: batch.span(key), value: nil, headers: headers)
        case (nil, nil):
            try producer.produce(to: topic, key: nil, value: nil, headers: headers)
        }
    }

    /// Waits until everything is written, and fails when anything was not.
    private func confirm(_ producer: Producer) throws(KafkaError) {
        try producer.flush(timeout: .seconds(30))
        if let error = producer.failedDeliveries.first { throw error }
    }

    /// Whether the group stands exactly where the doubtful transaction would have put it.
    private func isCommitted(_ offsets: [OffsetCommit]) throws(KafkaError) -> Bool {
        let committed = try group.committed(offsets.map(\.partition), timeout: .seconds(30))
        return offsets.allSatisfy { wanted in
            committed.contains { found in
                found.partition == wanted.partition && found.offset == wanted.offset && found.metadata == wanted.metadata
            }
        }
    }
}
