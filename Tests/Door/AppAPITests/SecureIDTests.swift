@testable import AppAPI
import Crypto
import FanOut
import TestSupport
import Testing

/// Ids of secure push, and what they open.
@Suite struct SecureIDTests {
    private static let secret = [UInt8](0...15)

    private func user(_ name: String) throws -> UserTag { try UserTag.Pattern("username:{user}").tag(of: name) }

    @Test func anIDHasOneSpelling() throws {
        let id = SecureID(secret: Self.secret, partition: 1, offset: 2)
        #expect(id.text == "AAECAwQFBgcICQoLDA0ODwAAAAEAAAAAAAAAAg")
        #expect(SecureID(id.text) == id)
        let dashes = SecureID(secret: [UInt8](repeating: 0xFF, count: 16), partition: .max, offset: .max)
        #expect(dashes.text.hasPrefix("____") && SecureID(dashes.text) == dashes)
    }

    @Test(arguments: [(0, 0), (0, 1), (11, 4_294_967_296), (.max, .max)] as [(Int32, Int64)])
    func everyPlaceSurvives(partition: Int32, offset: Int64) throws {
        let id = SecureID(secret: try randomBytes(16), partition: partition, offset: offset)
        #expect(SecureID(id.text) == id)
        #expect(id.text.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") })
    }

    @Test(
        arguments: [
            "", "1", "AAECAwQFBgcICQoLDA0ODwAAAAEAAAAAAAAAA", "AAECAwQFBgcICQoLDA0ODwAAAAEAAAAAAAAAAgA",
            // Bits that mean nothing, other alphabets, a partition and an offset below zero.
            "AAECAwQFBgcICQoLDA0ODwAAAAEAAAAAAAAAAh", "++++AwQFBgcICQoLDA0ODwAAAAEAAAAAAAAAAg",
            "////AwQFBgcICQoLDA0ODwAAAAEAAAAAAAAAAg", "AAECAwQFBgcICQoLDA0OD\u{fc}AAAEAAAAAAAAAAg",
            "AAECAwQFBgcICQoLDA0OD4AAAAEAAAAAAAAAAg", "AAECAwQFBgcICQoLDA0ODwAAAAGAAAAAAAAAAg",
        ])
    func whatIsNoIDIsRefused(text: String) {
        #expect(SecureID(text) == nil)
    }

    @Test func aTextIsOpenedByItsRandomBitsAlone() throws {
        let text = SecureText("line one\nline two \u{1F389}", for: try user("Alice"))
        let value = try text.sealed(by: Self.secret)
        #expect(try SecureText.opened(value, by: Self.secret) == text)
        #expect(text.user == "username:alice")
        for place in Self.secret.indices {
            var other = Self.secret
            other[place] ^= 1
            #expect(try SecureText.opened(value, by: other) == nil)
        }
        #expect(try SecureText.opened([], by: Self.secret) == nil)
        #expect(try SecureText.opened(Array("{}".utf8), by: Self.secret) == nil)
    }

    @Test func nothingOfItIsSeenWithoutThem() throws {
        let value = try SecureText("CANARYtext", for: try user("CANARYalice")).sealed(by: Self.secret)
        #expect(!String(decoding: value, as: UTF8.self).lowercased().contains("canary"))
    }

    @Test func noDescriptionShowsThem() throws {
        let id = SecureID(secret: Self.secret, partition: 1, offset: 2)
        let text = SecureText("CANARYtext", for: try user("CANARYalice"))
        var dumped = ""
        dump(id, to: &dumped)
        dump(text, to: &dumped)
        let shown = "\(id) \(text) \(String(reflecting: id)) \(String(reflecting: text)) \(dumped)"
        #expect(!shown.lowercased().contains("canary") && !shown.contains(id.text))
    }
}
