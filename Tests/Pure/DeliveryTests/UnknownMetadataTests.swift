import Delivery
import Testing

/// What a person is told of a position that another program, or a newer version, may have written.
struct UnknownMetadataTests {
    @Test(
        arguments: [
            ("x", nil, "metadata “x” (1 byte), which is not pushfan's"),
            (
                "{\"owner\":\"billing\",\"secret\":1}", nil,
                "metadata “{\"owner\":\"billing\",\"…” (30 bytes), which is not pushfan's"
            ),
            ("3::not base64", nil, "metadata “3::not base64” (13 bytes), which is not pushfan's"),
            ("1", nil, "metadata “1” (1 byte), which is not pushfan's"),
            ("5:", "5", "metadata “5:” (2 bytes), written by a newer pushfan (form 5) or by another program"),
            ("\u{1B}[31mé", nil, "metadata “\u{FFFD}[31m\u{FFFD}” (7 bytes), which is not pushfan's"),
        ] as [(String, Unicode.Scalar?, String)])
    func itSaysWhatItFoundAndWhoseItMayBe(_ text: String, _ form: Unicode.Scalar?, _ beginning: String) {
        let metadata = UnknownMetadata(text)
        #expect(metadata.form == form)
        #expect(metadata.description.hasPrefix(beginning), "\(metadata)")
        #expect(metadata.description.contains("commits with this group id"))
    }

    /// Whoever commits with the group's id chooses the text: its form is one sign that can be shown, however many marks follow it.
    @Test(arguments: ["7" + String(repeating: "\u{301}", count: 900), "\u{1B}[31mx", "\n", "é"])
    func theFormIsOneSignThatCanBeShown(_ text: String) {
        for isOfParents in [false, true] {
            let metadata = UnknownMetadata(text, isOfParents: isOfParents)
            #expect(metadata.form == (text.unicodeScalars.first == "7" ? "7" : nil))
            #expect(metadata.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{301}" })
        }
    }

    @Test(arguments: [("x", false), ("7AAAA", true)]) func bothRemediesAreNamed(_ text: String, _ mayBeNewer: Bool) {
        let remedy = UnknownMetadata(text).remedy(for: (0..<7).map { "t:\($0)" })
        #expect(remedy.contains("`pushfan group start --at finished --replace t:0 t:1 t:2 t:3 t:4 …`"))
        #expect(remedy.contains("stop the group's workers, then: ") && remedy.contains("another kafka.group_id"))
        #expect(remedy.hasPrefix("start that newer version; if there is none, ") == mayBeNewer)
    }
}
