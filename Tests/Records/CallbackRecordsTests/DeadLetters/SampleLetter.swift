import Kafka
import PushModel

@testable import CallbackRecords

/// A dead letter as tests need one.
enum SampleLetter {
    static let now = Timestamp(milliseconds: 1_795_262_400_123)

    static func make(
        of receiver: String = "shop", result id: String = "1", offset: Int64 = 7, line: [UInt8]? = CallbackBroker.result("1")
    ) -> CallbackDeadLetter {
        CallbackDeadLetter(
            receiver: receiver, reason: "the answer was 500", attempts: 12, firstAt: now.milliseconds - 86_400_000,
            lastAt: now.milliseconds - 1, status: 500, resultID: id, partition: partition(1), offset: offset, result: line)
    }
}
