import PushModel
import Testing

/// Which records a version may read, by their headers.
struct RecordFormatTests {
    private static func isNewer(_ headers: [(String, String?)], of group: String?) -> Bool {
        var format = RecordFormat(of: group)
        for (name, value) in headers {
            let name = Array(name.utf8)
            if let value {
                let bytes = Array(value.utf8)
                format.add(name: name.span, value: bytes.span)
            } else {
                format.add(name: name.span, value: nil)
            }
        }
        return format.isNewer
    }

    @Test(
        arguments: [
            ([], false), ([("pushfan-format", "1")], false), ([("pushfan-format", "2")], true),
            ([("pushfan-format", "10")], true), ([("pushfan-format", "0")], true), ([("pushfan-format", "")], true),
            ([("pushfan-format", nil)], true), ([("pushfan-formats", "2")], false), ([("Pushfan-Format", "2")], false),
            ([("pushfan-format", "1"), ("pushfan-format", "2")], true),
            ([("pushfan-format", "2"), ("pushfan-format", "1")], true),
        ] as [([(String, String?)], Bool)])
    func anyVersionBut1IsNewer(_ headers: [(String, String?)], _ isNewer: Bool) {
        #expect(Self.isNewer(headers, of: nil) == isNewer)
        #expect(Self.isNewer(headers + [("pushfan-group", "ours")], of: "ours") == isNewer)
        #expect(!Self.isNewer(headers + [("pushfan-group", "theirs")], of: "ours"), "it is not for this group")
        #expect(Self.isNewer(headers + [("pushfan-group", "theirs")], of: nil) == isNewer, "no group is looked at")
    }

    @Test func theLastOfSeveralGroupsCounts() {
        let format = [("pushfan-format", "2" as String?)]
        #expect(Self.isNewer(format + [("pushfan-group", "theirs"), ("pushfan-group", "ours")], of: "ours"))
        #expect(!Self.isNewer(format + [("pushfan-group", "ours"), ("pushfan-group", "theirs")], of: "ours"))
        #expect(Self.isNewer(format + [("pushfan-group", nil)], of: "ours"), "it says nothing")
    }
}
