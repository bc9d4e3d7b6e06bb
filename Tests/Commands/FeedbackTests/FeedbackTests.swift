import Testing

@testable import Feedback

@Suite struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 0-99/1234", 0, 1234), ("bytes 5-5/*", 5, nil),
        ] as [(String, Int64, Int64?)])
    func aRangeIsRead(text: String, start: Int64, total: Int64?) {
        let range = ContentRange(text)
        #expect(range?.start == start && range?.total == total)
    }

    @Test(arguments: [
        "", "bytes */10", "bytes 9-3/10", "bytes -1-3/10", "items 0-1/2", "bytes 0-1", "bytes 0-1/2/3", "bytes 0-x/2",
    ])
    func whatIsNoneIsNot(text: String) {
        #expect(ContentRange(text) == nil)
    }
}

@Suite struct FeedbackMarksTests {
    private static func take(_ marks: inout FeedbackMarks, _ key: [UInt8], _ value: [UInt8], at moment: Int64 = 5) {
        marks.take(key: key.span, value: value.span, at: moment)
    }

    @Test func theLatestMarkOfABlobCountsAndThoseOfOthersDoNot() {
        var marks = FeedbackMarks(of: "ns/hub")
        Self.take(&marks, FeedbackMarks.key("ns/hub", "a/b.xml"), FeedbackMarks.value("a/b.xml", 7))
        Self.take(&marks, FeedbackMarks.key("ns/hub", "a/b.xml"), FeedbackMarks.value("a/b.xml", 9), at: 8)
        Self.take(&marks, FeedbackMarks.key("ns/hub2", "c"), FeedbackMarks.value("c", 9))
        Self.take(&marks, FeedbackMarks.key("other/hub", "d"), FeedbackMarks.value("d", 9))
        Self.take(&marks, FeedbackMarks.claimKey("ns/hub"), FeedbackMarks.claim(of: "me"))
        #expect(marks.marks == ["a/b.xml": .init(position: 9, at: 8)] && marks.runner == "me")
    }

    @Test(arguments: [
        "", "{}", "null", #"{"kind":"feedback"}"#, #"{"kind":"feedback","blob":"a","read":-1}"#, #"{"kind":"feedback","blob":1}"#,
        #"{"kind":"feedback","blob":"a","read":9223372036854775807}"#,
    ])
    func whatIsNoMarkIsPassedOver(value: String) {
        var marks = FeedbackMarks(of: "ns/hub")
        Self.take(&marks, FeedbackMarks.key("ns/hub", "a"), Array(value.utf8))
        #expect(marks.marks.isEmpty && marks.runner == nil)
    }
}
