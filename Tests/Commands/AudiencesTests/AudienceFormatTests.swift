import FanOut
import PushModel
import Testing

@testable import Audiences

/// The lines of an audience, in whatever form they come.
struct AudienceFormatTests {
    /// What the lines hold: names, or platforms with handles; `!` for a line at fault, nothing for a line that holds nothing.
    private static func read(_ lines: [String]) -> (kind: AudienceFormat.Kind?, entries: [String]) {
        var format = AudienceFormat()
        var entries: [String] = []
        for line in lines {
            do throws(AudienceFormat.Fault) {
                guard try format.read(Array(line.utf8).span) else { continue }
                entries.append(format.kind == .handles ? "\(format.platform.name) \(format.text.text)" : format.text.text)
            } catch {
                #expect(!error.message.isEmpty && !error.message.contains("secret"))
                entries.append("!")
            }
        }
        return (format.kind, entries)
    }

    @Test(
        arguments: [
            (["alice", "", "  ", " bob ", "carol"], .names(.users), ["alice", "bob", "carol"]),
            (["user", "alice"], .names(.users), ["alice"]),
            (["name,User,city", "A,alice,x", "B,bob,y"], .names(.users), ["alice", "bob"]),
            (["installation_id", "i-1"], .names(.installations), ["i-1"]),
            (["\"category\",n", "World,1"], .names(.categories), ["World"]),
            (["\"al,ice\",x", "b,ob"], nil, ["!", "!"]),
            (["user,city", "\"al,ice\",x", "b,ob"], .names(.users), ["al,ice", "b"]),
            (["alice", "\"a\"\"b\"", "\"open"], .names(.users), ["alice", "a\"b", "!"]),
            (["apns,aa11", "wns,https://x"], .handles, ["apple AA11", "windows https://x"]),
            (["handle;platform"], .names(.users), ["handle;platform"]),
            (["handle,platform", "aa,apple", "bb,nowhere", "cc"], .handles, ["apple AA", "!", "!"]),
            (["a,b"], nil, ["!"]), (["apns,<aa 11>", "apns,secret", "wns,a b"], .handles, ["apple AA11", "!", "!"]),
            (["{\"user\":\"alice\"}", "\"bob\"", "{\"user\":7}", "{"], .names(.users), ["alice", "bob", "!", "!"]),
            (["\"bob\"", "{\"installation\":\"secret\"}"], .names(.users), ["bob", "!"]),
            (["{\"platform\":\"fcm\",\"handle\":\"t\"}", "{\"handle\":\"secret\"}"], .handles, ["fcmv1 t", "!"]),
            (["{\"user\":null,\"installation\":\"i-1\"}", "{\"user\":null}"], .names(.installations), ["i-1", "!"]),
            (["{\"nobody\":1}", "[1]"], nil, ["!", "!"]), ([], nil, []),
        ] as [([String], AudienceFormat.Kind?, [String])])
    func linesAreReadInTheFormOfTheFirst(_ lines: [String], _ kind: AudienceFormat.Kind?, _ entries: [String]) {
        let found = Self.read(lines)
        #expect(found.kind == kind && found.entries == entries, "\(lines): \(found)")
    }
}
