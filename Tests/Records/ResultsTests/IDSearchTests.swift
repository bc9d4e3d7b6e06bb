import Delivery
import Kafka
import PushModel
import Testing

@testable import Results

/// Records say under which ids there are requests.
@Suite struct IDSearchTests {
    private static let topic = "push.requests.v1"

    private static func matcher(_ ids: String...) -> IDMatcher { IDMatcher(Set(ids)) }

    private static func take(_ json: String, at offset: Int64 = 5, in matcher: inout IDMatcher) {
        let origin = RecordOrigin(topic: topic, partition: 1, offset: offset, timestamp: Timestamp(milliseconds: 0))
        matcher.takeRequest(Array(json.utf8).span, headers: RecordHeaders(), at: origin)
    }

    @Test func aRequestIsKnownByItsIdItsPlaceAndItsWhole() {
        var matcher = Self.matcher("a", "whole", "\(Self.topic):1:5", "\(Self.topic):1:6", "b")
        Self.take(#"{"id":"a"}"#, in: &matcher)
        #expect(matcher.missing == ["whole", "\(Self.topic):1:6", "b"], "a faulty one, too")
        Self.take(
            #"{"id":"whole.0","audience":{"users":["u"]},"message":{"title":"T"},"parent":{"id":"whole","key":"k","partition":0,"chunk":0,"chunks":2,"published_at":"2026-01-01T00:00:00Z"}}"#,
            at: 9, in: &matcher)
        #expect(matcher.missing == ["\(Self.topic):1:6", "b"])
        matcher.take(0..<6, of: TopicPartition(topic: Self.topic, partition: 1))
        matcher.take(0..<9, of: TopicPartition(topic: Self.topic, partition: 0))
        #expect(matcher.missing == ["\(Self.topic):1:6", "b"])
        matcher.take(0..<7, of: TopicPartition(topic: Self.topic, partition: 1))
        #expect(matcher.missing == ["b"])
    }

    @Test func resultsAndTheTopicOfParentsTellOfIds() {
        var matcher = Self.matcher("a", "file", "whole", "b")
        matcher.takeResult(key: Array("a".utf8).span)
        matcher.takeResult(key: Array("ab".utf8).span)
        #expect(matcher.missing == ["file", "whole", "b"])
        let record = #"{"schema_version":1,"id":"whole","chunks":4,"calls":9}"#
        for (key, value) in [(":file:file/1", "{}"), ("lane:0:3", record), ("odd", record), ("lane:0:4/1", "{}")] {
            matcher.takeParent(key: Array(key.utf8).span, value: Array(value.utf8).span)
        }
        #expect(matcher.missing == ["b"])
    }
}
