import PushModel
import Testing

/// An order concerns the requests that have all that its scope names, with their parts and replays.
struct OrderScopeTests {
    /// A change of everything, and whether it concerns the sample.
    struct Row: Sendable, CustomTestStringConvertible {
        let change: @Sendable (inout OrderScope) -> Void
        let isMeant: Bool
        let line: Int

        init(_ isMeant: Bool, line: Int = #line, _ change: @escaping @Sendable (inout OrderScope) -> Void) {
            (self.isMeant, self.change, self.line) = (isMeant, change, line)
        }

        var scope: OrderScope {
            var scope = OrderScope()
            change(&scope)
            return scope
        }
        var testDescription: String { "line \(line): \(scope.text)" }
    }

    private static let sample =
        #""id":"a","source":"shop","tenant":"acme","labels":{"campaign":"sale","wave":"2"},"audience":{"users":["ann","bob"]}"#

    private static func concerns(_ scope: OrderScope, _ fields: String, hub: String? = "north", lane: String = "bulk") -> Bool {
        var reading = Reading()
        #expect(reading.read(record(fields)) == .request)
        return scope.concerns(reading.request, hub: hub, lane: lane)
    }

    static let rows: [Row] = [
        Row(true) { _ in }, Row(true) { $0.hub = "north" }, Row(false) { $0.hub = "south" }, Row(true) { $0.tenant = "acme" },
        Row(false) { $0.tenant = "acm" }, Row(true) { $0.source = "shop" }, Row(false) { $0.source = "shop2" },
        Row(true) { $0.lane = "bulk" }, Row(false) { $0.lane = "high" }, Row(true) { $0.request = "a" },
        Row(false) { $0.request = "b" }, Row(true) { $0.user = "bob" }, Row(false) { $0.user = "eve" },
        Row(true) { $0.labels = [.init("campaign", value: "sale")] },
        Row(false) { $0.labels = [.init("campaign", value: "spring")] },
        Row(false) { $0.labels = [.init("wave", value: "sale")] },
        Row(true) { $0.labels = [.init("wave", value: "2"), .init("campaign", value: "sale")] },
        Row(false) { $0.labels = [.init("wave", value: "3"), .init("campaign", value: "sale")] },
        Row(true) { ($0.hub, $0.tenant, $0.source, $0.lane) = ("north", "acme", "shop", "bulk") },
        Row(false) { ($0.hub, $0.tenant, $0.source, $0.lane) = ("north", "acme", "bank", "bulk") },
        Row(false) { ($0.request, $0.user) = ("a", "eve") },
    ]

    @Test(arguments: rows) func allThatIsNamedMustMatch(_ row: Row) {
        #expect(Self.concerns(row.scope, Self.sample) == row.isMeant)
    }

    /// Which names nothing of what a scope may name.
    @Test(arguments: rows) func whatARequestLacksMatchesNothing(_ row: Row) {
        let isMeant = Self.concerns(row.scope, #""audience":{"broadcast":true}"#, hub: nil, lane: "")
        #expect(isMeant == row.scope.isEverything)
    }

    private static let part =
        #""id":"whole.3","parent":{"id":"whole","key":"k","partition":0,"chunk":3,"chunks":9,"published_at":"2026-01-01T00:00:00Z"}"#
    private static let replay =
        #""id":"j:1","replay":{"root_request_id":"first","parent_request_id":"second","parent_origin":"t:0:1","generation":2,"job_id":"j"}"#

    @Test(
        arguments: [
            (part, "whole", true), (part, "whole.3", true), (part, "whole.4", false), (part, "who", false),
            (replay, "first", true),
            (replay, "second", true), (replay, "j:1", true), (replay, "j", false), (sample, "whole", false),
        ] as [(String, String, Bool)])
    func anIdMeansPartsAndReplays(_ fields: String, _ id: String, _ isMeant: Bool) {
        var scope = OrderScope()
        scope.request = id
        #expect(Self.concerns(scope, fields) == isMeant)
    }

    @Test func itsTextNamesAll() {
        var scope = OrderScope()
        #expect(scope.text == "everything" && scope.isEverything)
        (scope.hub, scope.user) = ("north", #"a "b""#)
        scope.labels = [.init("wave", value: "2"), .init("campaign", value: "new year")]
        #expect(scope.text == #"hub:north user:"a \"b\"" label.campaign:"new year" label.wave:2"#)
    }

    @Test func whatIsEmptyTooLongOrTooManyIsNotSound() {
        #expect(OrderScope.everything.isSound)
        for (length, isSound) in [
            (0, false), (1, true), (OrderScope.maximumByteCount, true), (OrderScope.maximumByteCount + 1, false),
        ] {
            let text = String(repeating: "x", count: length)
            for row in [\OrderScope.hub, \.tenant, \.source, \.lane, \.request, \.user] as [WritableKeyPath<OrderScope, String?>]
            {
                var scope = OrderScope()
                scope[keyPath: row] = text
                #expect(scope.isSound == isSound, "\(length)")
            }
        }
        var scope = OrderScope()
        scope.labels = (0...OrderScope.maximumLabels).map { .init("l\($0)", value: "v") }
        #expect(!scope.isSound)
        scope.labels.removeLast()
        #expect(scope.isSound)
    }
}
