import Publishing
import Testing

@testable import Audiences

@Suite struct RequestInputTests {
    private static let good = #"{"audience":{"users":["a"]},"message":{"title":"x"}}"#

    private func read(_ text: String) -> RequestChecker {
        var checker = RequestChecker(now: 0)
        RequestInput.read(Array(text.utf8), named: "f", into: &checker)
        return checker
    }

    @Test(arguments: [
        (good, 1), ("\u{FEFF}" + good, 1), ("\n \(good)\n\n", 1), ("[\(good), \(good)]", 2), ("\(good)\n\(good)\n", 2),
        ("\(good)\r\n\r\n\(good)", 2),
        ("{\n\"audience\":{\"users\":[\"a\"]},\n\"message\":{\"title\":\"x\"}\n}\n\(good) \(good)", 3),
    ])
    func requestsAreFoundInEveryShape(text: String, count: Int) {
        let checker = read(text)
        #expect(checker.faults.isEmpty)
        #expect(checker.valid.count == count)
    }

    @Test(arguments: [
        ("", "f:1: The value is empty."), ("[]", "f: There is no request in it."),
        ("7", "f: The value is JSON, but not an object."),
        ("{\n\"audience\": \u{1},\n}", "f:2:13: "),
    ])
    func whatIsNoRequestIsNamedWithItsPlace(text: String, fault: String) {
        let faults = read(text).faults
        #expect(faults.count == 1)
        #expect(faults.first.map { "\($0.place): \($0.message)".hasPrefix(fault) } == true)
    }

    @Test func everyFaultOfEveryLineIsNamed() {
        let checker = read("\(Self.good)\n{\"mesage\":{},\"audience\":{}}\nnonsense\n\(Self.good)")
        #expect(checker.valid.count == 2)
        #expect(checker.faults.map(\.place) == ["f:2", "f:2", "f:2", "f:3:1"])
        #expect(checker.faults.contains { $0.message.hasPrefix("/mesage: ") })
    }

    @Test func anIdIsAddedOnlyWhereNoneIs() {
        let checker = read("\(Self.good)\n{\"id\":\"own\",\"audience\":{\"users\":[\"a\"]},\"message\":{\"title\":\"x\"}}")
        #expect(checker.valid.map(\.id) == [nil, "own"])
        let texts = checker.valid.map { String(decoding: $0.json(withID: "new"), as: UTF8.self) }
        #expect(texts.first == #"{"id":"new","audience":{"users":["a"]},"message":{"title":"x"}}"#)
        #expect(texts.dropFirst().first?.hasPrefix(#"{"id":"own","audience""#) == true)
    }

    @Test func anIdThatIsNullIsNone() {
        let checker = read(#"{"id":null,"hub":null,"audience":{"users":["a"]},"message":{"title":"x","body":null}}"#)
        #expect(checker.faults.isEmpty && checker.valid.map(\.id) == [nil])
        let text = checker.valid.first.map { String(decoding: $0.json(withID: "new"), as: UTF8.self) }
        #expect(text == #"{"id":"new","audience":{"users":["a"]},"message":{"title":"x"}}"#)
    }

    @Test(arguments: [
        ("", nil), (#""id":"i","#, "i"), (#""id":"i","dedupe":{"key":"d"},"#, "d"),
        (#""id":"i","dedupe":{"key":"d"},"ordering_key":"o","#, "o"),
    ])
    func whatMayComeAgainHasAKeyThatKeepsItInItsPartition(fields: String, key: String?) {
        let checker = read("{\(fields)\"audience\":{\"users\":[\"a\"]},\"message\":{\"title\":\"x\"}}")
        #expect(checker.valid.map(\.recordKey) == [key])
    }
}
