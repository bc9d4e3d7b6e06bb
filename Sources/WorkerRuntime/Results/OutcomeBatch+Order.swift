import Kafka

extension OutcomeBatch {
    /// The places of its records: results by the partition that each goes to of a topic with `count` partitions, 1 or more, and then all
    /// others. Those of a partition, and the others, are in the order of the batch.
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
        return places.flatMap(\.self)
    }
}
