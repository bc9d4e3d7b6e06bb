import Delivery
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Records of requests that wait, as far as their readers take them.
struct DelayRecordTests {
    /// Each row: the bytes of a header of the publisher's, of the history that the request came with, and of the present one.
    @Test(
        arguments: [
            (0, 0, 0, true), (400_000, 0, 100_000, true), (400_000, 0, 114_000, true), (400_000, 0, 115_000, false),
            (400_000, 100_000, 114_000, true), (400_000, 100_000, 115_000, false),
        ])
    func aHistoryThatMakesItsRecordTooLargeIsNotWritten(header: Int, former: Int, history: Int, isWritten: Bool) {
        let origin = RecordOrigin(topic: "requests", partition: 0, offset: 7, timestamp: Timestamp(milliseconds: 0))
        let flight = Flight(index: 0)
        flight.begin(epoch: 0, slot: 0, origin: origin, now: origin.timestamp, monotonic: 0)
        flight.place.valueByteCount = RequestReader.maximumRecordByteCount
        for (name, size) in [("x", header), (DelayedRecord.Header.history.rawValue, former)] where size > 0 {
            let value = [UInt8](repeating: 0, count: size)
            flight.place.envelope.addHeader(Array(name.utf8).span, value: value.span)
        }
        var text = ByteWriter()
        text.append([UInt8](repeating: 0, count: history).span)
        #expect(DelayRecorder(group: "pushfan").mayWrite(flight, history: text) == isWritten)
    }
}
