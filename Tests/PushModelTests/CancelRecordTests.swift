import PushModel
import Testing

struct CancelRecordTests {
    private static func read(_ key: String, _ value: String) -> CancelRecord? {
        CancelRecord(key: Array(key.utf8).span, value: Array(value.utf8).span)
    }

    @Test(
        arguments: [
            ("a", nil), ("push.requests.v1:0:17", ""), ("01J8Z6Q7X1J3N5V7B9D1F3H5K7", "wrong audience"),
            ("ü/\"", "line\nbreak \"quoted\""),
            (String(repeating: "x", count: 288), "why"),
        ] as [(String, String?)])
    func whatIsWrittenIsRead(_ id: String, _ reason: String?) throws {
        let record = CancelRecord(requestID: id, reason: reason)
        let value = record.value(at: Timestamp(milliseconds: 1_795_262_400_000))
        #expect(record.key == Array("cancel/\(id)".utf8))
        #expect(String(decoding: value, as: UTF8.self).hasSuffix(#","at":"2026-11-21T12:00:00.000Z"}"#))
        var document = JSONDocument()
        try document.read(value.span)
        #expect(CancelRecord(key: record.key.span, value: value.span) == record)
    }

    @Test(arguments: [
        "", "cancel", "cancel/", "Cancel/a", "pause/a", "a", "cancel/" + String(repeating: "x", count: 289),
    ])
    func otherKeysAreAboutSomethingElse(_ key: String) {
        #expect(Self.read(key, #"{"reason":"r"}"#) == nil)
    }

    @Test func aKeyThatIsNoTextIsNone() {
        let key = Array("cancel/".utf8) + [0xFF]
        #expect(CancelRecord(key: key.span, value: [UInt8]().span) == nil)
    }

    @Test(arguments: ["", "{", "null", "[]", "{}", #"{"reason":1}"#, #"{"reason":null}"#, "\u{0}"])
    func aValueThatGivesNoReasonCancelsAsWell(_ value: String) {
        #expect(Self.read("cancel/a", value) == CancelRecord(requestID: "a"))
    }
}
