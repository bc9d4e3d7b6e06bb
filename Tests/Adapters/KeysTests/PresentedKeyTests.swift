import Crypto
import Keys
import TestSupport
import Testing

@Suite(.tags(.c)) struct PresentedKeyTests {
    private static let secret = String(repeating: "Az09-_x", count: 6) + "Q"
    private static let key = "pf_k3v9x2ab_" + secret

    @Test(arguments: ["Bearer \(key)", "bearer \(key)", "BEARER   \(key)", "  Bearer \(key) "])
    func aKeyIsReadOfAHeader(_ header: String) throws {
        #expect(try #require(PresentedKey(authorization: header)).id == "k3v9x2ab")
    }

    @Test(
        arguments: [
            nil, "", "Bearer", "Bearer ", key, "Basic \(key)", "Bearer \(key) x", "Bearer \(key)x", "Bearer \(key.dropLast())",
            "Bearer pf_k3v9x2a_\(secret)x", "Bearer pf_K3V9X2AB_\(secret)", "Bearer pf_k3v9x2il_\(secret)",
            "Bearer pg_k3v9x2ab_\(secret)",
            "Bearer pf_k3v9x2ab-\(secret)", "Bearer pf_k3v9x2ab_\(secret.dropLast())=",
            "Bearer pf_k3v9x2ab_\(secret.dropLast())+",
            "Bearer pf_k3v9x2ab_\(secret.dropLast())é", "Bearer,\(key)", "Bearer " + String(repeating: "x", count: 100_000),
        ] as [String?])
    func whatIsNoKeyIsNotRead(_ header: String?) { #expect(PresentedKey(authorization: header) == nil) }

    @Test func aNewKeyHasTheFormAndIsOfItsOwn() throws {
        let keys = try (0..<200).map { _ in try newKey() }
        for key in keys {
            #expect(key.text.utf8.count == 55)
            #expect(try presented(key.text).id == key.key.id)
        }
        #expect(Set(keys.map(\.key.id)).count == 200 && Set(keys.map(\.text)).count == 200)
    }

    @Test func noSecretIsInADescriptionOrADump() throws {
        let new = try newKey()
        let secret = String(new.text.suffix(43))
        var text = "\(new) \(try presented(new.text)) \(String(reflecting: new)) \(new.key)"
        dump(new, to: &text)
        dump(try presented(new.text), to: &text)
        dump(new.key, to: &text)
        #expect(!text.contains(secret))
    }
}
