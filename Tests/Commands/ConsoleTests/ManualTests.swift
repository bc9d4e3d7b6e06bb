import Settings
import Testing
import TestSupport

@testable import Console

@Suite struct ManualTests {
    private static let manual = Manual(commands: Command.builtIn, build: Build(commit: "0123abc", date: "2026-11-27"))

    private static func text(_ fileName: String) throws -> String {
        try #require(manual.leaves.first { $0.fileName == fileName }).text
    }

    @Test func everyCommandHasAPage() {
        let names = Command.builtIn.map { "pushfan-\($0.name.replacing(" ", with: "-")).1" }
        #expect(Self.manual.leaves.map(\.fileName) == ["pushfan.1"] + names + ["pushfan.yaml.5"])
    }

    @Test(arguments: manual.leaves.map(\.fileName))
    func aPageHasTheDayOfTheBuildAndNoLineIsTooLong(fileName: String) throws {
        let text = try Self.text(fileName)
        #expect(text.hasPrefix(".TH \"PUSHFAN"))
        #expect(text.prefix { $0 != "\n" }.contains(#""2026-11-27" "pushfan \#(Program.version)""#))
        let words = text.split(separator: "\n").filter { $0.contains(" ") && !$0.hasPrefix(".TH") }
        let examples = Set(Command.builtIn.flatMap(\.examples).map { Roff.escaped($0) })
        #expect(words.filter { $0.utf8.count > 80 && !examples.contains(String($0)) && !$0.hasPrefix("\\f") }.isEmpty)
    }

    @Test func aBuildWithoutADateNamesNone() {
        let leaves = Manual(commands: [.help], build: Build()).leaves
        #expect(leaves.allSatisfy { $0.text.hasPrefix(".TH \"") && $0.text.contains(#"" "" "pushfan"#) })
    }

    @Test(arguments: [
        ("a-b", "a\\-b"), ("'x'", "\\(aqx\\(aq"), ("C:\\d", "C:\\ed"), ("`~^`", "\\(ga\\(ti\\(ha\\(ga"), ("…", "\\[u2026]"),
        ("ü", "\\[u00FC]"),
        ("😀", "\\[u1F600]"), ("a.b", "a.b"),
    ])
    func marksOfRoffAreEscaped(text: String, escaped: String) {
        #expect(Roff.escaped(text) == escaped)
    }

    @Test func noLineOfTextIsARequest() {
        var roff = Roff("x", section: "1", date: "", source: "x")
        roff.add(examples: [".hidden", "'quoted", "plain"])
        roff.add(paragraph: ".so /etc/passwd is text. Another sentence with `code --x` in it.")
        let lines = roff.text.split(separator: "\n").suffix(8)
        #expect(
            lines == [
                ".EX", "\\&.hidden", "\\(aqquoted", "plain", ".EE", ".PP", "\\&.so /etc/passwd is text.",
                "Another sentence with \\fBcode \\-\\-x\\fR in it.",
            ])
    }

    @Test func theSettingsPageNamesEveryKeyUnderItsSection() throws {
        let lines = try Self.text("pushfan.yaml.5").split(separator: "\n").map { String($0) }
        for definition in SettingsSchema.all {
            let place = try #require(lines.firstIndex(of: Roff.bold(definition.name)))
            let section = definition.name.contains(".") ? String(definition.name.prefix { $0 != "." }) : "At the top"
            #expect(lines[..<place].last { $0.hasPrefix(".SS ") } == ".SS " + section)
        }
        #expect(lines.filter { $0.hasPrefix(".SS ") }.count == Set(lines.filter { $0.hasPrefix(".SS ") }).count)
    }

    @Test func helpWritesThePagesIntoAFolder() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("man")
        for _ in 0..<2 {
            let said = Harness().run(["help", "--man", path])
            #expect(said.code == .done && said.output.isEmpty && said.messages.isEmpty)
        }
        let page = try InputFile.read(path + "/pushfan-topics-create.1")
        #expect(String(decoding: page, as: UTF8.self).contains("\\fB\\-\\-partitions\\fR \\fIN\\fR"))
        let refused = Harness().run(["help", "--man", path + "/pushfan.1"])
        #expect(refused.code == .failed)
        #expect(refused.messages.contains("cannot be written"))
    }
}
