import Basics
import PushModel
import TestSupport
import Testing

@testable import Delivery

/// Records of tenants that wait for a place.
@Suite struct TenantBuffersTests {
    @Test func recordsAreKeptByTenantInOrder() throws {
        func record(_ number: Int, slot: Int) -> BufferedRecord {
            let origin = RecordOrigin(topic: "t", partition: 0, offset: Int64(number), timestamp: Timestamp(milliseconds: 0))
            return BufferedRecord(
                slot: slot, offset: origin.offset, lane: .normal, origin: origin, receivedAt: 0,
                waitingSince: Timestamp(milliseconds: 1000 - Int64(number)),
                envelope: RecordEnvelope(), value: ByteWriter())
        }
        var buffers = TenantBuffers()
        let (a, b) = (TenantID("a"), TenantID("b"))
        for number in 0..<500 { buffers.append(record(number, slot: number % 2), of: number % 5 == 0 ? b : a) }
        #expect(buffers.count == 500 && buffers.hasRecords(of: a) && !buffers.hasRecords(of: .none))
        #expect(buffers.waitingSince == Timestamp(milliseconds: 501), "it is not always the first that waits longest")
        for number in [1, 2, 3, 4, 6] { #expect(buffers.removeFirst(of: a)?.origin.offset == Int64(number)) }
        _ = buffers.removeAll(of: 1, before: .max, readBefore: .never)
        #expect(buffers.waitingSince == Timestamp(milliseconds: 502))
        var offsets: [Int64] = []
        while let record = buffers.removeFirst(of: b) { offsets.append(record.origin.offset) }
        #expect(offsets == Array(stride(from: 0, to: 500, by: 10)) && Set(buffers.tenants) == [a])
        for _ in 0..<1000 { if let record = buffers.removeFirst(of: a) { #expect(record.slot == 0) } }
        #expect(buffers.isEmpty && buffers.byteCount == 0 && buffers.tenants.isEmpty && buffers.waitingSince == nil)
        while (buffers.byteCount < TenantBuffers.maximumBytes) { buffers.append(record(0, slot: 0), of: .none) }
        #expect(buffers.count == TenantBuffers.maximumBytes / record(0, slot: 0).byteCount)
        buffers.removeAll()
        #expect(buffers.isEmpty && (buffers.byteCount < TenantBuffers.maximumBytes))
    }

    @Test(arguments: 0..<20) func theOneThatWaitsLongestIsKnownWithoutLooking(seed: Int) {
        var random = SeededRandom(seed)
        var buffers = TenantBuffers()
        let tenants = [TenantID("a"), TenantID("b")]
        var model: [[Int64]] = [[], []]
        for number in 0..<2000 {
            let index = random.below(2)
            // More come than go at first, then the other way round.
            if random.below(10) < (number < 1000 ? 7 : 3) {
                let moment = Int64(number / 4 + random.below(50))
                let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
                buffers.append(
                    BufferedRecord(
                        slot: 0, offset: 0, lane: .normal, origin: origin, receivedAt: 0,
                        waitingSince: Timestamp(milliseconds: moment),
                        envelope: RecordEnvelope(), value: ByteWriter()), of: tenants[index])
                model[index].append(moment)
            } else {
                let record = buffers.removeFirst(of: tenants[index])
                #expect(record?.waitingSince.milliseconds == (model[index].isEmpty ? nil : model[index].removeFirst()))
            }
            #expect(buffers.waitingSince?.milliseconds == (model[0] + model[1]).min())
        }
    }
}
