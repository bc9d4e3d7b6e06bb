import Delivery
import Kafka
import TestSupport
import Testing
import WorkerRuntime

/// Records of delay lanes that look like questions for outcomes and are none.
struct OddQuestionTests {
    /// What is not a question that pushfan has written is a dead letter, whatever it holds.
    @Test func oddQuestionsAreDeadLetters() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let producer = try Producer(bench.kafka, transactionalID: nil)
        let topic = try #require(try producer.warmUp(topics: [bench.topics.delays[0]], timeout: farDeadline).first)
        let values = [
            "", "{}", "[1]", #"{"v":1,"polls":0,"call":{}}"#,
            #"{"v":1,"polls":0,"state":7,"counts":{},"call":{"head":[],"tail":1}}"#,
            String(repeating: "x", count: 100_000),
        ]
        for value in values {
            var headers = HeaderList()
            for (name, text) in [("pushfan-group", bench.name), ("pushfan-poll", "1"), ("pushfan-not-before-ms", "1")] {
                headers.append(name: Array(name.utf8).span, value: Array(text.utf8).span)
            }
            try producer.produce(to: topic, key: nil, value: Array(value.utf8).span, headers: headers)
        }
        try producer.flush(timeout: farDeadline)
        producer.close(timeout: .zero)
        let worker = try bench.startWorker()
        let dead = try bench.read(bench.topics.deadLetters, count: values.count)
        try worker.stop()
        #expect(dead.map { $0.header("pushfan-dlq-reason") } == Array(repeating: "not_delayed", count: values.count))
    }
}
