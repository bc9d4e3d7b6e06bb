@testable import Kafka
import Testing

struct LibraryLineTests {
    @Test(
        arguments: [
            (
                "ERROR", "[thrd:app]: w1#consumer-4: a.requests [0]: topic does not exist (Broker: Unknown topic or partition)",
                "a.requests", 0
            ),
            (
                "ERROR", "[thrd:app]: w1#consumer-4: a.requests [12]: desired partition is no longer available (Local)",
                "a.requests", 12
            ),
            ("ERROR", "[thrd:app]: w1#consumer-4: t [3]: desired partition is not available (Local)", "t", 3),
            ("FAIL", "[thrd:app]: w1#consumer-4: t [3]: topic does not exist", nil, 0),
            ("ERROR", "[thrd:app]: w1#consumer-4: topic does not exist", nil, 0), ("ERROR", ": topic does not exist", nil, 0),
            ("ERROR", "t [x]: topic does not exist", nil, 0), ("ERROR", "t [99999999999]: topic does not exist", nil, 0),
            ("ERROR", "1/1 brokers are down", nil, 0),
        ] as [(String, String, String?, Int32)])
    func aLineNamesThePartitionThatIsMissing(facility: String, message: String, topic: String?, partition: Int32) {
        let line = LibraryLine(level: 3, facility: facility, message: message)
        #expect(line.missingPartition == topic.map { TopicPartition(topic: $0, partition: partition) })
    }
}
