import Foundation
import Settings
import TestSupport
import Testing

@testable import Console
@testable import KafkaCare

/// What `doctor --role gateway` finds of the keys of tokens.
@Suite struct DoctorTokenTests {
    private static let issuer = ["PUSHFAN_GATEWAY_JWT_ISSUER": "me", "PUSHFAN_GATEWAY_JWT_AUDIENCE": "a"]

    private func findings(_ more: [String: String], timeout: Duration = .milliseconds(1)) throws -> [Finding] {
        let environment = Self.issuer.merging(more.map { ("PUSHFAN_GATEWAY_JWT_" + $0.key, $0.value) }) { $1 }
        return TokenProbe.findings(try Settings.load(environment: environment), timeout: timeout)
    }

    @Test func withoutAnIssuerNothingIsSaid() throws {
        #expect(TokenProbe.findings(try Settings.load(environment: [:]), timeout: .zero).isEmpty)
    }

    @Test func aFileThatCannotBeReadIsNamed() throws {
        let found = try findings(["KEYS_FILE": "/no/such/file"])
        #expect(found.map(\.state) == [.failed] && found.first?.cause == .configuration)
        #expect(found.first?.subject == "gateway.jwt.keys_file" && found.first?.text.contains("'/no/such/file'") == true)
    }

    @Test(arguments: ["", "{}", #"{"keys":"x"}"#, "no JSON"]) func aFileWithoutASetIsAFailure(text: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("jwks")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        #expect(try findings(["KEYS_FILE": path]).map(\.state) == [.failed])
    }

    @Test func anAddressThatDoesNotAnswerIsUnreachable() throws {
        let found = try findings(["KEYS_URL": "http://127.0.0.1:1/keys"])
        #expect(found.map(\.state) == [.failed] && found.first?.cause == .unreachable)
        #expect(found.first?.subject == "gateway.jwt.keys_url")
    }

    @Test func settingsThatDoNotGoTogetherAreNamed() throws {
        let found = try findings([:])
        #expect(found.map(\.state) == [.failed] && found.first?.text.contains("gateway.jwt.keys_file: is not set") == true)
    }

    @Test func aSetWithoutAKeyThatCanBeUsedIsAFailure() {
        #expect(TokenFindings.of(.read(0), at: "s").state == .failed)
        #expect(
            TokenFindings.of(.read(2), at: "s")
                == .ok("tokens", of: "s", text: "the issuer's keys can be read, and 2 can check tokens"))
    }
}
