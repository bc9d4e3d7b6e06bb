import PushModel
import Testing

@testable import Console

@Suite struct SchemaCommandTests {
    @Test func withoutANameTheNamesAreListed() {
        let listed = Harness().run("schema")
        #expect(listed.code == .done && listed.messages.isEmpty)
        for schema in MessageSchema.allCases { #expect(listed.lines.contains { $0.hasPrefix(schema.rawValue + " ") }) }
    }

    @Test func eachNameThatIsListedPrintsJSON() throws {
        let lines = Harness().run("schema").lines.dropFirst()
        #expect(lines.count >= MessageSchema.allCases.count)
        for line in lines {
            let name = try #require(line.split(separator: " ").first)
            let printed = Harness().run("schema \(name)")
            #expect(printed.code == .done && printed.messages.isEmpty)
            var document = JSONDocument()
            try document.read(Array(printed.output.utf8).span)
            #expect(document.kind(of: document.root) == .object && document.duplicateKeys.isEmpty, "\(name)")
        }
    }

    @Test(arguments: MessageSchema.allCases) func aSchemaIsPrintedWithItsIdentity(schema: MessageSchema) {
        let printed = Harness().run("schema \(schema.rawValue)")
        #expect(Array(printed.output.utf8) == schema.document.json)
        #expect(printed.output.contains(schema.identifier))
    }

    @Test(arguments: [("reqest", "did you mean 'request'?"), ("nothing", "`pushfan schema` lists the names")])
    func anotherNameIsAUsageFailure(name: String, hint: String) {
        let printed = Harness().run("schema \(name)")
        #expect(printed.code == .usage && printed.output.isEmpty)
        #expect(printed.messages.contains(hint))
    }
}
