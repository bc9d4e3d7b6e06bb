import Kafka

extension OutcomeBatch {
    /// The places of its records in the order in which a library that takes only a part at a time should get them, of a topic of results with
    /// `count` partitions, 1 or more: the first result of each partition, then all others by partitions, then what is no result. Those of
    /// a partition are in the order of the batch.
    ///
    /// The first ones let all partitions join the transaction at once. Each time that some do, the library waits a millisecond without a rest
    /// (`rd_kafka_thread_main`, librdkafka 2.0.2). By partitions, most take one request to their broker, and not one for each part.
    func order(ofPartitions count: Int32) -> [Int] {
        // The last one is that of all other records.
        var places = Array(repeating: [Int](), count: Int(count) + 1)
        for (index, record) in records.enumerated() {
            var partition = count
            if record.destination == .results, let key = record.key {
                partition = Producer.partition(ofKey: span(key, of: record), of: count)
            }
            places[Int(partition)].append(index)
        }
        return places.dropLast().compactMap(\.first) + places.dropLast().flatMap { $0.dropFirst() } + places[Int(count)]
    }
}
