import Console
import Testing

struct ExplainTests {
    private func explain(_ records: [String], _ flags: String = "") -> Outcome {
        var harness = Harness()
        harness.input = records.joined(separator: "\n")
        return harness.run("explain - " + flags)
    }

    private func request(_ audience: String, _ id: String) -> String {
        #"{"id":"\#(id)","audience":\#(audience),"message":{"title":"Hi"}}"#
    }

    private var users: String { "[" + (0..<45).map { "\"u\($0)\"" }.joined(separator: ",") + "]" }

    @Test func thePlanIsPrintedWithCallsBytesAndTime() throws {
        let outcome = explain([request(#"{"users":\#(users)}"#, "r1")])
        #expect(outcome.code == .done)
        let first = try #require(outcome.lines.first)
        #expect(first.hasPrefix("request r1: 9 calls, "))
        #expect(first.hasSuffix(" bytes, about 100 ms (64 at once, 100 ms each)"))
        #expect(outcome.output.contains("call 3 of 9: apple, part 3, to tags"))
        #expect(outcome.output.contains("rings once for each"))
        #expect(!outcome.output.contains("in all:"))
    }

    /// The tag is the one with which a gateway registers the user's devices.
    @Test func aNameThatIsNoTagIsShownByTheTagThatIsMadeOfIt() {
        let outcome = explain([request(#"{"users":["Jürgen"]}"#, "r1")])
        #expect(outcome.code == .done && outcome.output.contains("username:x.4ac3bc7267656e"), "\(outcome.output)")
    }

    @Test func theLimitOfTheWorkerAndTheTimeOfACallAreTheCallers() throws {
        let outcome = explain([request(#"{"users":\#(users)}"#, "r1")], "--max-in-flight 2 --call-time 300ms")
        #expect(try #require(outcome.lines.first).hasSuffix("about 1.5 s (2 at once, 300 ms each)"))
        #expect(explain([request(#"{"users":\#(users)}"#, "r1")], "--call-time soon").code == .usage)
    }

    @Test func aRateLimitMakesItLonger() throws {
        let outcome = explain([request(#"{"users":\#(users)}"#, "r1")], "--hub.rate_limit 2")
        #expect(try #require(outcome.lines.first).hasSuffix("about 4.5 s (64 at once, 100 ms each, 2 a second)"))
    }

    @Test func bytesAreThoseOfTheCallsThemselves() throws {
        let outcome = explain([request(#"{"broadcast":true}"#, "r1")], "-o ndjson")
        let one = explain([request(#"{"broadcast":true}"#, "r1").replacingPlatforms("apple")], "-o ndjson")
        #expect(outcome.output.contains(#""plan":{"calls":3,"bytes":"#))
        #expect(one.output.contains(#""plan":{"calls":1,"bytes":"#))
        let counts = [outcome, one].map { text in text.output.firstMatch(of: /"bytes":([0-9]+)/).flatMap { Int($0.1) } ?? 0 }
        #expect(counts[0] > 2 * counts[1] && counts[1] > 300)
        #expect(one.output.contains(#""calls_at_once":64,"estimated_ms":100,"may_reach_twice":false}"#))
    }

    @Test func severalRequestsAreAddedUp() throws {
        let outcome = explain([request(#"{"users":["a"]}"#, "r1"), request(#"{"categories":["b"]}"#, "r2")], "--max-in-flight 4")
        #expect(try #require(outcome.lines.last).hasPrefix("in all: 6 calls, "))
        #expect(try #require(outcome.lines.last).contains("about 200 ms (4 at once"))
    }

    @Test func anExpressionIsShownAsItWouldBeSplitOrWhyItCannotBe() {
        let tags = (0..<21).map { "t\($0)" }.joined(separator: " || ")
        let outcome = explain([request(#"{"tag_expression":"\#(tags)"}"#, "r1").replacingPlatforms("apple")])
        #expect(outcome.output.contains("request r1: 2 calls, "))
        #expect(outcome.output.contains("ServiceBusNotification-Tags: t20"))
        let refused = explain([request(#"{"tag_expression":"a && b && c && d && e && f && g"}"#, "r1")])
        #expect(refused.code == .failed)
        #expect(refused.output.contains("nothing would be sent: tag_limit_exceeded"))
        #expect(refused.output.contains("joins 7 tags by '&&'"))
    }

    @Test func aLargeRequestIsShownAsItsPartsWithOneCallOfEachPlatform() throws {
        let many = "[" + (0..<201).map { "\"u\($0)\"" }.joined(separator: ",") + "]"
        let outcome = explain([request(#"{"users":\#(many)}"#, "r1")])
        #expect(outcome.code == .done)
        #expect(outcome.output.contains("request r1: 33 calls in 3 parts, about "))
        #expect(outcome.output.contains("call 3 of 33: windows") && !outcome.output.contains("call 4 of 33"))
        let json = explain([request(#"{"users":\#(many)}"#, "r1")], "-o json")
        #expect(json.output.contains(#""calls":33,"parts":3,"#))
    }
}

extension String {
    /// The same request for one platform.
    fileprivate func replacingPlatforms(_ platform: String) -> String {
        #"{"platforms":["\#(platform)"],"# + dropFirst()
    }
}
