@testable import OperatorAPI
@testable import PublishAPI
@testable import AppAPI
@testable import GatewayAPI
import Foundation
import Results
import TestSupport
import Testing

/// The secret of an encrypted index comes from a file.
@Suite struct RequestIndexTermsTests {
    private static let secret = String(repeating: "k", count: 32)

    private static func settings(_ content: String?) throws -> RequestIndexSettings {
        let folder = try TemporaryFolder()
        let path = folder.path("key")
        if let content { try Data(content.utf8).write(to: URL(fileURLWithPath: path)) }
        var terms = RequestIndexTerms()
        terms.names = .encrypted(keyFile: path)
        return try RequestIndexSettings(terms, folder: folder.path("index"))
    }

    @Test(arguments: [secret, secret + "\n", secret + "\r\n"]) func lineBreaksAtTheEndDoNotCount(content: String) throws {
        #expect(try Self.settings(content).names == .encrypted(secret: Array(Self.secret.utf8)))
    }

    @Test(arguments: [nil, "", String(repeating: "k", count: 31)]) func aFileThatIsMissingOrShortIsRefused(content: String?) {
        let failure = #expect(throws: GatewayFailure.self) { try Self.settings(content) }
        #expect(failure?.description.hasPrefix("gateway.index.key_file: ") == true)
    }
}
