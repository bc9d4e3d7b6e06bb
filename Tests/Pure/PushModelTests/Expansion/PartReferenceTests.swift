import PushModel
import Testing

/// The `parent` block of a request.
struct PartReferenceTests {
    private static let block =
        #""id":"news","key":"push.requests.v1:3:4711","partition":5,"chunk":2,"chunks":7,"published_at":"2026-11-20T12:00:00.000Z""#

    @Test func theBlockSaysWhereAPartBelongs() throws {
        var reading = Reading()
        #expect(reading.read(record(#""parent":{\#(Self.block)}"#)) == .request)
        let part = try #require(PartReference(of: reading.request))
        #expect(part.parentID == "news" && part.key.text == "push.requests.v1:3:4711")
        #expect(part.partition == 5 && part.chunk == 2 && part.chunks == 7)
        #expect(part.publishedAt == moment("2026-11-20T12:00:00.000Z"))
        #expect(reading.read(record()) == .request)
        #expect(PartReference(of: reading.request) == nil)
    }

    @Test(
        arguments: [
            (#"[]"#, "/parent", "an object"), (#"{}"#, "/parent", "needs id"),
            (#"{"id":"a b"}"#, "/parent/id", "letters"), (#"{"key":""}"#, "/parent/key", "at least 1"),
            (#"{"key":"a/1"}"#, "/parent/key", "letters"), (#"{"partition":-1}"#, "/parent/partition", "from 0"),
            (#"{"chunk":"1"}"#, "/parent/chunk", "whole number"), (#"{"chunk":10000000}"#, "/parent/chunk", "to 9999999"),
            (#"{"chunks":0}"#, "/parent/chunks", "from 1"), (#"{"published_at":7}"#, "/parent/published_at", "date"),
            (#"{"remaining":{}}"#, "/parent/remaining", "an array"), (#"{"remaining":[7]}"#, "/parent/remaining/0", "an object"),
            (#"{"remaining":[{}]}"#, "/parent/remaining/0", "an audience"),
            (#"{"remaining":[{"audience":[]}]}"#, "/parent/remaining/0/audience", "an object"),
            (#"{"remaining":[{"audience":{},"hub":"A B"}]}"#, "/parent/remaining/0/hub", "only"),
        ])
    func whatIsNoBlockIsRefused(_ block: String, _ pointer: String, _ words: String) {
        var reading = Reading()
        let faults = reading.faults(record(#""parent":\#(block)"#))
        #expect(faults.contains { $0.pointer == pointer && $0.message.contains(words) }, "\(faults)")
        #expect(PartReference(of: reading.request) == nil)
    }

    @Test(arguments: ["parent", "replay"], ["{}", "[]", "{\(block)}"])
    func whereAnybodyPublishesNoBlockIsTakenWhateverItSays(_ name: String, _ block: String) {
        var reading = Reading()
        reading.topic = .open
        let faults = reading.faults(record("\"\(name)\":\(block)"))
        #expect(faults.map(\.pointer) == ["/\(name)"] && faults.first?.code == .schemaInvalid)
        #expect(reading.request.parent == nil && reading.request.replay == nil)
    }

    @Test func aResultCarriesTheBlock() throws {
        var reporting = Reporting(record(#""id":"r-1","parent":{\#(Self.block)}"#))
        reporting.add(.apple, .success, status: 201)
        let result = try reporting.result()
        #expect(text("parent/id", in: result) == "news" && number("parent/chunk", in: result) == 2)
    }
}
