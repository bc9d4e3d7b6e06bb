import Foundation
import Payloads
import PushModel
import Testing

/// What every request becomes, byte for byte, in files that a person can read: `Golden/*.txt`.
///
/// With `PUSHFAN_UPDATE_GOLDEN=1` in the environment the files are written anew; read the difference before you commit it.
struct GoldenTests {
    @Test(arguments: [Platform.apple, .fcmv1, .gcm, .windows])
    func messagesBecomeTheBodiesOfTheGoldenFile(_ platform: Platform) throws {
        var text = ""
        for (title, members) in Self.messageCases {
            text += try section(title, members, try? broadcast(members)) { try rendered($0, platform) }
        }
        var plain = PayloadFormatter.Configuration()
        plain.derivesCollapseID = false
        plain.defaultLifetimeSeconds = 60
        let members = #""message":{"title":"Hi"}"#
        text += try section("no identity of its own, a default life of 60 s", members, try? broadcast(members)) {
            try rendered($0, platform, plain)
        }
        try compare(text, with: "\(platform.name)")
    }

    @Test func nativePayloadsBecomeTheBodiesOfTheGoldenFile() throws {
        var text = ""
        for (title, platform, members) in Self.nativeCases {
            text += try section("\(platform.name): \(title)", members, try? broadcast(members)) { try rendered($0, platform) }
        }
        try compare(text, with: "native")
    }

    @Test func templatesBecomeTheBodiesOfTheGoldenFile() throws {
        var text = ""
        for (title, members) in Self.templateCases {
            text += try section(title, members, try? broadcast(members)) { try renderedTemplate($0) }
        }
        try compare(text, with: "template")
    }

    @Test func refusalsReadAsInTheGoldenFile() throws {
        var text = ""
        for (title, platform, members) in Self.refusalCases {
            text += try section("\(platform.name): \(title)", members, try? broadcast(members)) { try rendered($0, platform) }
        }
        try compare(text, with: "refusals")
    }

    private func section(
        _ title: String, _ members: String, _ request: PushRequest?, _ render: (PushRequest) throws -> RenderedPayload
    ) throws -> String {
        let shown = members.count > 400 ? "\(members.prefix(60))… (\(members.utf8.count) bytes)" : members
        var text = "## \(title)\n\(shown)\n\n"
        guard let request else { return text + "NOT A REQUEST\n\n\n" }
        do {
            let payload = try render(request)
            text += payload.headers.text.replacingOccurrences(of: "\r\n", with: "\n")
            text += "Content-Type: \(payload.contentType.name)\n\n"
            text += payload.body.text + "\n(\(payload.body.count) bytes, from \(payload.origin))\n\n\n"
        } catch let error as PayloadError {
            text += "\(error.code.rawValue) at \"\(error.pointer)\"\n\(error.sentence)\n\n\n"
        }
        return text
    }

    private func compare(_ text: String, with name: String, _ source: String = #filePath) throws {
        #expect(!text.contains("NOT A REQUEST"))
        let file = URL(fileURLWithPath: source).deletingLastPathComponent().appendingPathComponent("Golden/\(name).txt")
        if ProcessInfo.processInfo.environment["PUSHFAN_UPDATE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
            return
        }
        let golden = try String(contentsOf: file, encoding: .utf8)
        guard Array(golden.utf8) != Array(text.utf8) else { return }
        let expected = golden.split(separator: "\n", omittingEmptySubsequences: false)
        let found = text.split(separator: "\n", omittingEmptySubsequences: false)
        let line =
            zip(expected, found).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(expected.count, found.count)
        Issue.record(
            """
            \(name).txt differs at line \(line + 1):
            expected \(line < expected.count ? expected[line] : "the end")
            found    \(line < found.count ? found[line] : "the end")
            """)
    }
}
