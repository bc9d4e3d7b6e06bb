package import Kafka

extension Producer {
    /// Hands over a record whose parts may be missing, such as a copy of another one.
    package func write(
        key: [UInt8]?, value: [UInt8]?, headers pairs: [(name: [UInt8], value: [UInt8]?)] = [], to topic: Topic,
        partition: Int32? = nil
    ) throws(KafkaError) {
        var headers = HeaderList()
        for (name, value) in pairs {
            if let value {
                headers.append(name: name.span, value: value.span)
            } else {
                headers.append(name: name.span, value: nil)
            }
        }
        // A span of what may not be there cannot be named, so the four cases are told apart.
        switch (key, value) {
        case (let key?, let value?):
            try produce(to: topic, partition: partition, key: key.span, value: value.span, headers: headers)
        case (nil, let value?): try produce(to: topic, partition: partition, key: nil, value: value.span, headers: headers)
        case (let key?, nil): try produce(to: topic, partition: partition, key: key.span, value: nil, headers: headers)
        case (nil, nil): try produce(to: topic, partition: partition, key: nil, value: nil, headers: headers)
        }
    }
}
