import Foundation
import Pages
import TestSupport
import Testing

@testable import Console

@Suite struct HelpTopicsTests {
    private static let folder = Repository.root.appendingPathComponent("Sources/Commands/PushFan/PushFan.docc")

    @Test func everyPageIsATopic() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0.hasSuffix(".md") }
        #expect(files.sorted() == Page.all.map { $0.name + ".md" }.sorted())
    }

    @Test(arguments: Page.all.map(\.name))
    func aPageIsShownByteForByte(name: String) throws {
        let file = try Data(contentsOf: Self.folder.appendingPathComponent(name + ".md"))
        let shown = Harness().run("help --page " + name)
        #expect(shown.code == .done)
        #expect(Array(shown.output.utf8) == Array(file))
    }

    @Test(arguments: [
        "large-requests", "LargeRequests", "largerequests", "LARGE-R", "--page large", "large --page",
    ])
    func aTopicIsFoundInAnyCaseAndByItsBeginning(words: String) {
        let shown = Harness().run("help " + words)
        #expect(shown.code == .done)
        #expect(shown.lines.first == "# Large requests")
    }

    @Test(arguments: ["PushfanHoldStands", "pushfanholdstands", "--page PushfanHoldStands"])
    func anAlertIsATopic(words: String) {
        let shown = Harness().run("help " + words)
        #expect(shown.code == .done && shown.lines.first == "PushfanHoldStands" && shown.output.contains("- **Wake.**"))
        #expect(!shown.output.contains("### ") && shown.lines.count < 14, "no other entry")
        #expect(Harness().run("help PushfanHold").code == .usage)
    }

    @Test func aCommandComesBeforeATopic() {
        #expect(Harness().run("help emulator").output.contains("\nUsage: pushfan emulator"))
        #expect(Harness().run("help replay").lines.last?.hasSuffix("pushfan help --page replay.") == true)
        #expect(Harness().run("help --page emulator").lines.first == "# The emulator")
    }

    @Test(arguments: [
        ("confguration", "did you mean 'configuration'?"), ("--page confguration", "did you mean 'configuration'?"),
        ("re", "`pushfan help` lists"), ("nonsense", "`pushfan help` lists"), ("large requests", "did you mean 'largerequests'?"),
        ("--page", "`pushfan help` lists"),
    ])
    func anUnknownTopicIsAUsageFailure(words: String, hint: String) {
        let shown = Harness().run("help " + words)
        #expect(shown.code == .usage)
        #expect(shown.output.isEmpty)
        #expect(shown.messages.contains(hint))
    }

    @Test func helpListsTheTopicsWithTheirFirstSentences() throws {
        let overview = Harness().run("help").lines
        for page in Page.all {
            let row = try #require(overview.first { $0.hasPrefix("  \(page.topic) ") && $0.contains(page.summary.prefix(40)) })
            #expect(row.count <= 100)
            #expect(page.summary.hasSuffix("."))
        }
    }

    @Test func whereToReadOnIsAlwaysThere() throws {
        var texts = Command.builtIn.map(\.readOn)
        for folder in ["Sources/Commands/PushFan", "Sources/Commands/Bench"] {
            let path = Repository.root.appendingPathComponent(folder).path
            for file in try FileManager.default.subpathsOfDirectory(atPath: path) where file.hasSuffix(".swift") {
                let source = try String(contentsOfFile: path + "/" + file, encoding: .utf8)
                texts += source.matches(of: #/readOn: "([^"]*)"/#).map { String($0.output.1) }
            }
        }
        #expect(texts.count >= Command.builtIn.count + 4)
        // Those of the program's own, which the harness does not have.
        let others = ["worker", "gateway", "demo", "bench"]
        for text in texts {
            let list = try #require(text.split(separator: ";").first)
            #expect(list.hasPrefix("pushfan help"), "\(text)")
            for item in list.replacing("pushfan help", with: "").split(separator: ",") {
                let words = item.split(separator: " ").map(String.init)
                #expect(others.contains(words.joined(separator: " ")) || Harness().run(["help"] + words).code == .done, "\(text)")
            }
        }
    }
}
