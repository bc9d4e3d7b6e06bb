import Testing

@testable import HubServer
@testable import HubStore

/// Values as the file has them.
struct PackedTests {
    @Test(arguments: [
        "1-2-3", "18446744073709551615-0-255", "18446744073709551616-0-1", "1-2-256", "01-2-3", "1-2", "1-2-3-4", "+1-2-3",
        "", "-", "a-b-c", "ü",
    ])
    func anIDIsReadAsItWasWritten(_ id: String) {
        #expect(RegistrationID.text(of: RegistrationID.bytes(of: id)) == id)
    }

    @Test func idsThatHubsMakeAreShort() {
        var identifiers = HubIdentifiers(seed: 1)
        let id = identifiers.registrationID()
        #expect(RegistrationID.bytes(of: id).count == 18 && id.utf8.count > 36)
    }

    @Test(arguments: [0, 1, 127, 128, 16_383, 16_384, Int.max])
    func aNumberIsReadAsItWasWritten(_ number: Int) throws {
        var writer = PackedWriter()
        writer.append(number)
        var reader = PackedReader(writer.bytes)
        #expect(try reader.number() == number)
    }

    @Test func textsAreReadAsTheyWereWritten() throws {
        let texts = [nil, "", "a", "ü\0", String(repeating: "x", count: 1000)]
        var writer = PackedWriter()
        for text in texts { writer.append(text) }
        var reader = PackedReader(writer.bytes)
        for text in texts { #expect(try reader.optionalText() == text) }
        #expect(throws: RefusedCall.self) { try reader.number() }
    }

    @Test func everyBeginningOfAListIsRefused() throws {
        var writer = PackedWriter()
        writer.append([(name: "a", value: "b"), (name: "c", value: "")])
        for count in writer.bytes.indices {
            #expect(throws: RefusedCall.self, "\(count) bytes") {
                var reader = PackedReader(Array(writer.bytes.prefix(count)))
                _ = try reader.pairs()
            }
        }
    }
}
