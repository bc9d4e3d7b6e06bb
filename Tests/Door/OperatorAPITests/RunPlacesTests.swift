@testable import OperatorAPI
import Testing

/// Which replay may begin beside others.
struct RunPlacesTests {
    /// A replay for all tenants is of "-". One with a star is paused.
    private static func places(_ words: String) -> RunPlaces {
        var places = RunPlaces()
        for (number, word) in words.split(separator: " ").enumerated() {
            let tenant = word.hasSuffix("*") ? word.dropLast() : word
            places.taken["\(number)"] = RunPlaces.Place(
                tenant: tenant == "-" ? nil : String(tenant), isPaused: word.hasSuffix("*"))
        }
        return places
    }

    @Test(
        arguments: [
            ("", "a", .begins()), ("", nil, .begins()), ("a", "b", .begins()), ("a", "a", .excluded(by: "0")),
            ("a", nil, .excluded(by: "0")), ("-", "a", .excluded(by: "0")), ("b a", "a", .excluded(by: "1")),
            ("a*", "a", .begins()), ("a*", nil, .begins()), ("-*", "b", .begins()), ("-* a* b", "c", .begins()),
            ("a* a* a* a* a* a* a* a*", "b", .begins(interrupting: "0")),
            ("b* a* a* a* a* a* a* a*", "c", .begins(interrupting: "1")),
            ("a* b* b* a* a* c d e", "f", .begins(interrupting: "0")),
            ("a* b* b* b* c d e f", "b", .begins(interrupting: "1")), ("a b c d e f g h", "i", .full),
            ("a b c d e f g h*", "i", .begins(interrupting: "7")), ("a b c d e f g h", "a", .excluded(by: "0")),
        ] as [(String, String?, RunPlaces.Admission)])
    func whoBegins(taken: String, tenant: String?, admission: RunPlaces.Admission) {
        #expect(Self.places(taken).admit("new", of: tenant) == admission)
    }

    @Test func theSameReplayDoesNotRunTwice() {
        #expect(Self.places("a*").admit("0", of: "a") == .excluded(by: "0"))
    }
}
