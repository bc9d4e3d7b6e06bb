import FanOut
import Kafka
import PushModel
import TestSupport
import Testing

@testable import Delivery
@testable import Outcomes
@testable import WorkerRuntime

/// What workers write to Kafka and read back, as each released version wrote it: this one reads it, and writes the same.
///
/// `VersionTests` has workers read the records that only a consumer can give to their readers.
@Suite
struct WorkerSamplesTests {
    private static let published = Timestamp(milliseconds: 1_768_464_000_000)

    private static func origin(_ offset: Int64) -> RecordOrigin {
        RecordOrigin(topic: "push.requests.v1", partition: 0, offset: offset, timestamp: published)
    }

    private static func request(_ json: String, at offset: Int64) throws -> PushRequest {
        var request = PushRequest()
        let bytes = Array(json.utf8)
        let reading = RequestReader(from: .own).read(
            bytes.span, headers: RecordHeaders(), origin: origin(offset), into: &request)
        try #require(reading == .request)
        return request
    }

    private static func text(_ write: (inout ByteWriter) -> Void) -> String {
        var writer = ByteWriter()
        write(&writer)
        return writer.text
    }

    private static let whole =
        #"{"id":"news","source":"orders","audience":{"categories":["news"]},"platforms":["apple"],"message":{"title":"T"},"#
        + #""labels":{"campaign":"mlb"}}"#

    /// Earlier versions wrote ids of results without the time of the record.
    private static func dated(_ sample: Sample) -> String {
        sample.value.replacing(".0.4714", with: ".0.4714.\(published.milliseconds)")
    }

    @Test func aPosition() throws {
        let sample = try Sample("position").value
        let read = try FinishedOffsets(decoding: sample)
        #expect(read.latest == 1_768_464_000_000 && read.begun == 20)
        #expect((0..<32).filter { read.contains($0) } == [1, 2, 17])
        var written = FinishedOffsets()
        for distance in [1, 2, 17] { written.insert(distance) }
        written.latest = 1_768_464_000_000
        written.begun = 20
        #expect(written.encoded() == sample)
        let newer = "5\(sample.dropFirst())"
        #expect(throws: FinishedOffsets.DecodingError.unknownVersion) { try FinishedOffsets(decoding: newer) }
    }

    @Test func aPositionThatNamesTheRecordsThatWereRead() throws {
        let sample = try Sample("position-marks").value
        let read = try FinishedOffsets(decoding: sample)
        #expect(read.begun == 20 && read.marks?.first.offset == 3 && (0..<32).filter { read.contains($0) } == [1, 2, 17])
        let value = Array("value".utf8)
        #expect(read.marks?.last == RecordMark(offset: 57, time: 1_768_464_000_000, key: nil, value: value.span))
        #expect(read.encoded() == sample)
        #expect(throws: FinishedOffsets.DecodingError.unknownVersion) { try FinishedOffsets(decoding: "5\(sample.dropFirst())") }
    }

    @Test func aPositionOfLargeRequests() throws {
        let sample = try Sample("parents-position").value
        #expect(OpenParents.isKnown(sample))
        let read = OpenParents(start: 100, metadata: sample)
        #expect(read.position == 120)
        #expect(read.commit() == LedgerCommit(offset: 100, metadata: sample))
        #expect(!OpenParents.isKnown("v2:\(sample)"))
    }

    @Test func aPart() throws {
        let sample = try Sample("part")
        let read = try Self.request(sample.value, at: 1)
        let part = try #require(PartReference(of: read))
        #expect(part.parentID == "news" && part.key == ParentKey(at: Self.origin(4711)) && part.chunks == 1)
        let request = try Self.request(Self.whole, at: 4711)
        let body = try #require(RequestReader().body(of: request.document, headers: RecordHeaders()))
        let writer = PartWriter(
            request, body: body, platforms: PlatformSet(.apple), key: part.key, partition: 0, chunks: 1,
            publishedAt: Self.published)
        let written = Self.text { writer.append(0, to: &$0) { $0.append("{\"categories\":[\"news\"]}") } }
        #expect(written == sample.value)
    }

    @Test func theRecordOfALargeRequest() throws {
        let sample = try Sample("parent")
        let parsed = ParentRecord(sample.bytes.span)
        let read = try #require(parsed)
        #expect(read.id == "news" && read.chunks == 1 && read.calls == 1 && read.origin == Self.origin(4711))
        let request = try Self.request(Self.whole, at: 4711)
        let consumedAt = Timestamp(milliseconds: 1_768_464_000_500)
        let written = Self.text {
            ParentRecord.append(request, chunks: 1, calls: 1, origin: (place: Self.origin(4711), consumedAt: consumedAt), to: &$0)
        }
        #expect(written == sample.value)
        #expect(Self.text { ParentKey(at: Self.origin(4711)).append(.parent, to: &$0) } == sample.key)
    }

    @Test func whatBecameOfAPart() throws {
        let sample = try Sample("tally")
        var tally = PartTally(chunk: 0, state: .sent, outcome: .success)
        (tally.accepted, tally.attempts, tally.hubTime, tally.throttleWait) = (1, 1, 40, 5)
        tally.firstAttemptAt = Timestamp(milliseconds: 1_768_464_000_700)
        #expect(PartTally(sample.bytes.span, chunk: 0) == tally)
        #expect(Self.text { tally.append(to: &$0) } == sample.value)
        #expect(Self.text { ParentKey(at: Self.origin(4711)).append(.part(0), to: &$0) } == sample.key)
    }

    /// With a header of the publisher's that says another version: it is taken away.
    @Test(arguments: [("delayed", Int64(4712)), ("held", 4713)])
    func aRequestThatWaits(_ name: String, _ offset: Int64) throws {
        let sample = try Sample(name)
        let flight = Flight(index: 0)
        flight.begin(
            epoch: 0, slot: 0, origin: Self.origin(offset), now: Timestamp(milliseconds: 1_768_464_000_500), monotonic: 0)
        if let key = sample.key { flight.place.envelope.setKey(Array(key.utf8).span) }
        for (name, value) in [("content-type", "application/json"), ("pushfan-format", "9")] {
            flight.place.envelope.addHeader(Array(name.utf8).span, value: Array(value.utf8).span)
        }
        flight.request = try Self.request(sample.value, at: offset)
        flight.place.valueByteCount = sample.bytes.count
        var history = ByteWriter()
        DeliveryHistory(plan: 0, calls: []).append(flight.report, to: &history)
        var batch = OutcomeBatch()
        let destination = name == "held" ? OutcomeBatch.Destination.held(1) : .delay(0)
        DelayRecorder(group: "pushfan").record(flight, to: destination, due: Self.published, history: history, into: &batch)
        let record = try #require(batch.records.first)
        #expect(batch.text(record.key, of: record) == sample.key ?? "-")
        #expect(batch.text(record.value, of: record) == sample.value)
        #expect(batch.headerTexts(of: record) == sample.headers.map { "\($0.name)=\($0.value)" })
    }

    @Test func aPollThatWaits() throws {
        let sample = try Sample("poll")
        let read = try TrackedCall(sample.bytes.span)
        #expect(read.requestText == "r-1" && read.hubText == "shop" && read.publishedAt == Self.published)
        #expect(Self.text { read.append(to: &$0) } == sample.value, "as it is written for the next poll")
        let request = try Self.request(
            #"{"id":"r-1","audience":{"categories":["a"]},"platforms":["apple"],"message":{"title":"T"}}"#, at: 4714)
        var report = DeliveryReport()
        report.calls = [DeliveryReport.Call(platform: .apple)]
        report.calls[0].attemptCount = 1
        report.calls[0].notificationID = report.keep(Array("8d6f".utf8).span)
        let accepted = Timestamp(milliseconds: 1_768_464_005_000)
        let written = Self.text {
            TrackedCall.append(0, of: report, for: request, origin: Self.origin(4714), hub: "shop", at: accepted, to: &$0)
        }
        #expect(written == Self.dated(sample))
    }

    @Test func aShare() throws {
        let sample = try Sample("share")
        let claim = FleetShare.Claim(weight: 3, most: 9)
        let announcement = FleetShare.Announcement(member: 0x2A, sequence: 7, seen: 41, claim: claim)
        var document = JSONDocument()
        #expect(FleetRecord.announcement(in: sample.bytes.span, using: &document, hub: "shop") == announcement)
        #expect(FleetRecord.value(of: announcement, hub: "shop", worker: "w-1") == sample.bytes)
        #expect(FleetRecord.key(hub: "shop", worker: "w-1") == Array((sample.key ?? "").utf8))
        let newer = Array(sample.value.replacing(#""schema_version":1"#, with: #""schema_version":2"#).utf8)
        #expect(FleetRecord.announcement(in: newer.span, using: &document, hub: "shop") == nil)
    }

    @Test func aCancellation() throws {
        let sample = try Sample("cancel")
        let cancel = CancelRecord(requestID: "r-1", reason: "wrong audience")
        let key = Array((sample.key ?? "").utf8)
        #expect(CancelRecord(key: key.span, value: sample.bytes.span) == cancel)
        #expect(cancel.key == key)
        #expect(cancel.value(at: Self.published) == sample.bytes)
        // Its key says all, in every version: to cancel too much is better than too little.
        #expect(CancelRecord(key: key.span, value: Array("newer".utf8).span)?.requestID == "r-1")
    }

    @Test func aCancellationOfOnesOwn() throws {
        let sample = try Sample("cancel-own")
        let scope = CancelRecord.Scope(source: "shop", tenant: "acme")
        let cancel = CancelRecord(requestID: "r-1", scope: scope, reason: "wrong audience")
        let key = Array((sample.key ?? "").utf8)
        #expect(CancelRecord(key: key.span, value: sample.bytes.span) == cancel)
        #expect(cancel.key == key)
        #expect(cancel.value(at: Self.published) == sample.bytes)
    }

    @Test func anOrder() throws {
        let sample = try Sample("order")
        var scope = OrderScope()
        scope.tenant = "acme"
        scope.labels = [.init("campaign", value: "sale")]
        var order = OrderRecord(
            id: "l-7kq2m9xw4trb3n5c", kind: .limit(callsPerSecond: 100), scope: scope, reason: "flood", author: "ann@desk",
            since: Self.published)
        order.release = .init(at: Self.published.adding(milliseconds: 1_800_000), author: "key k-1", reason: "over")
        let key = Array((sample.key ?? "").utf8)
        #expect(try OrderRecord.read(key: key.span, value: sample.bytes.span) == order)
        #expect(order.key == key && order.value == sample.bytes)
        // What a newer version adds to a key may mean fewer requests.
        let newer = Array((sample.key ?? "").replacing(#""kind""#, with: #""platform":"apple","kind""#).utf8)
        #expect(throws: OrderRecord.Fault.unreadable) { try OrderRecord.read(key: newer.span, value: sample.bytes.span) }
    }

    @Test func aDeadHandle() throws {
        let sample = try Sample("handle")
        var device = RefusedDevice(outcome: PNSOutcome(word: "ExpiredChannel"), platform: "apple", handle: "secret")
        device.installationID = "i-1"
        let fingerprint = Array((sample.key ?? "").utf8)
        let written = Self.text {
            DeadHandle.append(device, fingerprint: fingerprint.span, hub: "shop", at: Self.published, to: &$0)
        }
        #expect(written == sample.value)
    }

    /// `CommandSamplesTests` reads it.
    @Test func aResult() throws {
        let request = try Self.request(
            #"{"id":"r-1","audience":{"categories":["a"]},"platforms":["apple"],"message":{"title":"T"}}"#, at: 4714)
        var report = DeliveryReport()
        report.consumedAt = Timestamp(milliseconds: 1_768_464_000_500)
        var call = DeliveryReport.Call(platform: .apple)
        (call.outcome, call.httpStatus) = (.success, 201)
        report.calls = [call]
        var writer = ResultWriter(workerID: "w-1", version: "1.0.0")
        let written = Self.text {
            writer.append(
                report, of: request, hub: ResultWriter.hub("shop"), origin: Self.origin(4714),
                at: Timestamp(milliseconds: 1_768_464_001_000), to: &$0)
        }
        #expect(try written == Self.dated(Sample("result")))
    }

    /// A dead letter in place of a result has this name.
    @Test func aResultTellsWhichRequestItIsOf() throws {
        let value = try Sample("result").value
        var batch = OutcomeBatch()
        batch.add(.results, of: .init(slot: 0, offset: 4714)) { record in record.setValue { $0.append(value) } }
        #expect(batch.requestName(of: .init(slot: 0, offset: 4714)) == .init(id: "r-1", publishedAt: Self.published))
        #expect(batch.requestName(of: .init(slot: 0, offset: 1)) == .init())
    }

    @Test func everySampleIsOfVersion1AndLeftWhenItsHeaderNamesAnother() throws {
        let names = try Sample.names()
        #expect(names.count == 21)
        for name in names {
            let sample = try Sample(name)
            var format = RecordFormat(of: "pushfan")
            for (name, value) in sample.headers { format.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
            #expect(!format.isNewer, "\(name)")
            format.add(name: Array(RecordFormat.header.utf8).span, value: Array("2".utf8).span)
            #expect(format.isNewer, "\(name)")
        }
    }
}
