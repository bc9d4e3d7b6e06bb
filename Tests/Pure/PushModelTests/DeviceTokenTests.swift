import PushModel
import TestSupport
import Testing

struct DeviceTokenTests {
    private func problem(_ handle: String, on platform: Platform) throws -> DeviceToken.Problem {
        try #require(throws: DeviceToken.Problem.self) { try DeviceToken.normalForm(handle, on: platform) }
    }

    @Test(arguments: [
        ("6f2a", "6F2A"), ("6F2A", "6F2A"), ("<6f2a 01FF>", "6F2A01FF"), (" 6f\t2a\r\n", "6F2A"), ("00", "00"),
    ])
    func appleTokensAreUpperCaseWithoutBracketsAndBlanks(_ handle: String, form: String) throws {
        #expect(try DeviceToken.normalForm(handle, on: .apple) == form)
    }

    @Test(
        arguments: [
            ("", .empty), ("<>", .empty), (" ", .empty), ("6", .oddDigitCount), ("6f2", .oddDigitCount), ("6g", .notHexadecimal),
            ("6f2a-01", .notHexadecimal), ("６f", .notHexadecimal), (String(repeating: "a", count: 514), .tooLong),
            (String(repeating: "a", count: 513), .tooLong), (String(repeating: " ", count: 5000), .tooLong),
            ("{length = 32, bytes = 0x740f4707 bebcf74f ... e6a1 }", .elided),
            ("{LENGTH=32,BYTES=0X740F4707BEBCF74F...E6A1}", .elided),
            ("{length=32,bytes=0x740f…e6a1}", .elided),
        ] as [(String, DeviceToken.Problem)])
    func whatIsNoAppleTokenIsRefused(_ handle: String, expected: DeviceToken.Problem) throws {
        #expect(try problem(handle, on: .apple) == expected)
    }

    /// Whatever an app does to a token of 1 to 256 bytes on the way, it stays the same token.
    @Test(arguments: 0..<500) func everySpellingOfATokenIsOneToken(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        let byteCount = 1 + random.below(256)
        let token = String((0..<2 * byteCount).map { _ in Array("0123456789ABCDEF")[random.below(16)] })
        var spelling = ""
        for (index, digit) in token.enumerated() {
            if index % 8 == 0, random.below(3) == 0 { spelling += " " }
            spelling += random.below(2) == 0 ? digit.lowercased() : String(digit)
        }
        if random.below(2) == 0 { spelling = "<\(spelling)>" }
        #expect(try DeviceToken.normalForm(spelling, on: .apple) == token)
        #expect(try DeviceToken.normalForm(token, on: .apple) == token)
        #expect(DeviceToken.hashedForm(of: spelling, on: .apple) == token)
        let elided = "{length = \(byteCount), bytes = 0x\(token.prefix(16)) ... \(token.suffix(4)) }"
        for text in [elided, elided.uppercased(), elided.filter { $0 != " " }] {
            #expect(try problem(text, on: .apple) == .elided)
        }
    }

    @Test(arguments: [Platform.fcmv1, .gcm, .windows, .adm, .baidu, .xiaomi])
    func otherHandlesStayAsTheyAre(on platform: Platform) throws {
        let longest = String(repeating: "x", count: 4096)
        for handle in ["cd:APA91b-_", "https://db5.notify.windows.com/?token=Aw%3d", "6f2a", longest] {
            #expect(try DeviceToken.normalForm(handle, on: platform) == handle)
            #expect(DeviceToken.hashedForm(of: handle, on: platform) == handle)
        }
        #expect(try problem("", on: platform) == .empty)
        #expect(try problem(longest + "x", on: platform) == .tooLong)
        for handle in ["a b", "a\n", "é", "\u{7F}"] { #expect(try problem(handle, on: platform) == .invisibleCharacter) }
    }

    @Test func aBrowsersHandleHasItsMembersInOneOrder() throws {
        let form = #"{"endpoint":"https://push.example/1","p256dh":"BN","auth":"x"}"#
        let other = #"{ "auth": "x", "expirationTime": null, "endpoint": "https:\/\/push.example/1", "p256dh": "BN" }"#
        #expect(try DeviceToken.normalForm(form, on: .browser) == form)
        #expect(try DeviceToken.normalForm(other, on: .browser) == form)
        for handle in [
            "https://push.example/1", "[]", "{}", #"{"endpoint":"e","p256dh":"k"}"#, #"{"endpoint":"","p256dh":"k","auth":"a"}"#,
        ] {
            #expect(try problem(handle, on: .browser) == .noSubscription)
        }
    }

    @Test func whatHasNoFormIsHashedAsItStands() {
        #expect(DeviceToken.hashedForm(of: "handle-1", on: .apple) == "handle-1")
        #expect(DeviceToken.hashedForm(of: "ab", on: nil) == "ab")
    }

    @Test func theRemedyForADescriptionIsTold() {
        #expect(DeviceToken.Problem.elided.description.contains("Hex-encode the bytes"))
        #expect(Set(DeviceToken.Problem.allCases.map(\.description)).count == DeviceToken.Problem.allCases.count)
    }
}
