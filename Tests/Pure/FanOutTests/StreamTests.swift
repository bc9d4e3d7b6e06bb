import FanOut
import PushModel
import Testing

struct StreamTests {
    private let planner = FanOutPlanner()

    private func text(_ span: borrowing Span<UInt8>) -> String {
        String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
    }

    @Test(arguments: [0, 1, 2, 19, 20, 21, 40, 41, 1000])
    func aStreamOfNamesGivesTheCallsOfTheList(count: Int) throws {
        for (kind, field) in [
            (FanOutPlanner.NameKind.users, "users"), (.installations, "installations"), (.categories, "categories"),
        ] {
            let names = (0..<min(count, kind == .categories ? 200 : count)).map { "n\($0)" }
            var stream = planner.stream(of: kind)
            var calls: [String] = []
            for name in names where try stream.add(Array(name.utf8).span) {
                #expect(stream.chunk == calls.count)
                calls.append(text(stream.tags))
            }
            while stream.finish() {
                #expect(stream.chunk == calls.count)
                calls.append(text(stream.tags))
            }
            guard !names.isEmpty else {
                #expect(calls.isEmpty)
                continue
            }
            var configuration = FanOutPlanner.Configuration.generous
            configuration.defaultPlatforms = PlatformSet(.apple)
            var planning = Planning(configuration)
            try planning.plan(#""audience":{"\#(field)":\#(list(names))}"#)
            #expect(calls == (try planning.tags()))
        }
    }

    @Test(
        arguments: [
            (.categories, ""), (.categories, "a b"), (.categories, "a) || everyone"), (.categories, "a\r\nX: y"),
            (.categories, "é"),
            (.categories, "$UserId:{x}"), (.categories, "a=b"), (.categories, String(repeating: "x", count: 121)), (.users, ""),
            (.users, "a\r\nX: y"), (.users, " a"), (.users, "a "), (.users, String(repeating: "x", count: 256)),
        ] as [(FanOutPlanner.NameKind, String)])
    func whatMakesNoTagIsRefusedAndTheCallStaysAsItWas(kind: FanOutPlanner.NameKind, name: String) throws {
        var stream = planner.stream(of: kind)
        _ = try stream.add(Array("alice".utf8).span)
        #expect(throws: RequestFault.self) { _ = try stream.add(Array(name.utf8).span) }
        let isComplete = stream.finish()
        #expect(isComplete)
        #expect(text(stream.tags) == (kind == .users ? "username:alice" : "alice"))
    }

    @Test func bytesThatAreNoTextAreNoName() {
        var stream = planner.stream(of: .users)
        #expect(throws: RequestFault.self) { _ = try stream.add([0x61, 0xFF].span) }
    }
}
