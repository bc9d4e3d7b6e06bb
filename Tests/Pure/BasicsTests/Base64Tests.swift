import Basics
import Testing

@Suite struct Base64Tests {
    /// RFC 4648 section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"), ("\u{ff}\u{3f}\u{fe}", "w78/w74="), ("ûï~", "w7vDr34="),
    ])
    func base64FollowsTheRFC(_ text: String, encoded: String) {
        #expect(String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self) == encoded)
        #expect(Base64.decode(Array(encoded.utf8)) == Array(text.utf8))
    }

    @Test func everyByteSurvivesBase64() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 251 &+ length) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 9v", "Zm9v\n", "Zm-_", "=Zg=", "Zg=a"])
    func base64ThatIsNotTheOneSpellingIsRefused(_ text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}
