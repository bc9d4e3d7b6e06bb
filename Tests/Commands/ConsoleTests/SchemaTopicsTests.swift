import Delivery
import PushModel
import TestSupport
import Testing

@testable import Console

/// The description of the topics (AsyncAPI).
@Suite struct SchemaTopicsTests {
    private static func printed(_ flags: String = "") throws -> JSONDocument {
        let printed = Harness().run("schema asyncapi" + flags)
        #expect(printed.code == .done && printed.messages.isEmpty)
        var document = JSONDocument()
        try document.read(Array(printed.output.utf8).span)
        return document
    }

    private static func addresses(_ document: JSONDocument) throws -> [String] {
        var addresses: [String] = []
        document.forEachMember(of: try #require(document.member("channels", of: document.root))) { _, channel in
            if let address = document.member("address", of: channel) {
                addresses.append(document.string(document.text(of: address)))
            }
        }
        return addresses
    }

    @Test func eachTopicThatOthersUseIsDescribedUnderItsDefaultName() throws {
        let addresses = try Self.addresses(Self.printed())
        #expect(
            addresses == [
                "push.requests-high.v1", "push.requests.v1", "push.requests-bulk.v1", "push.control.v1", "push.results.v1",
                "push.deadletter.v1", "push.handles.v1",
            ])
    }

    @Test func topicsHaveTheNamesOfTheSettings() throws {
        let addresses = try Self.addresses(
            Self.printed(" --kafka.topics.requests shop.requests --kafka.topics.results shop.results"))
        #expect(addresses.contains("shop.requests") && addresses.contains("shop.results"))
        #expect(!addresses.contains("push.requests.v1"))
    }

    @Test func theControlTopicHasCancellationsAndOrders() throws {
        let document = try Self.printed()
        let channels = try #require(document.member("channels", of: document.root))
        let messages = try #require(document.member("control", of: channels).flatMap { document.member("messages", of: $0) })
        var names: [String] = []
        document.forEachMember(of: messages) { name, _ in names.append(document.string(name)) }
        #expect(names == ["cancellation", "order"])
    }

    @Test func aResultHasTheHeadersThatAreWritten() throws {
        let document = try Self.printed()
        let text = String(decoding: document.bytes, as: UTF8.self)
        for header in ResultHeader.allCases { #expect(text.contains("\"\(header.rawValue)\"")) }
        for header in DeadLetterHeader.allCases { #expect(text.contains("\"\(header.name)\"")) }
        for header in RecordHeaders.Name.allCases { #expect(text.contains("\"\(header.spelling)\"")) }
    }

    @Test func aResultHasNoHeaderWhereTheSettingsLeaveThemOut() throws {
        let text = String(decoding: try Self.printed(" --results.headers none").bytes, as: UTF8.self)
        for header in [ResultHeader.specificationVersion, .subject, .dataSchema, .type] {
            #expect(!text.contains("\"\(header.rawValue)\""))
        }
        for header in DeadLetterHeader.allCases { #expect(text.contains("\"\(header.name)\"")) }
        for header in RecordHeaders.Name.allCases { #expect(text.contains("\"\(header.spelling)\"")) }
    }
}
