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
        ] as [(String, Character?, String)])
    func itSaysWhatItFoundAndWhoseItMayBe(_ text: String, _ form: Character?, _ beginning: String) {
        let metadata = UnknownMetadata(text)
        #expect(metadata.form == form)
        #expect(metadata.description.hasPrefix(beginning), "\(metadata)")
        #expect(metadata.description.contains("commits with this group id"))
    }

    @Test(arguments: [("x", false), ("7AAAA", true)]) func bothRemediesAreNamed(_ text: String, _ mayBeNewer: Bool) {
        let remedy = UnknownMetadata(text).remedy(for: (0..<7).map { "t:\($0)" })
        #expect(remedy.contains("`pushfan group start --at finished --replace t:0 t:1 t:2 t:3 t:4 …`"))
        #expect(remedy.contains("another kafka.group_id"))
        #expect(remedy.hasPrefix("start that newer version; if there is none, ") == mayBeNewer)
    }
}
