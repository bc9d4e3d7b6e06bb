import Publishing
import Testing

@testable import Console

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
        #expect(faults.first?.text.hasPrefix(fault) == true)
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

    @Test(arguments: [
        ("--user a --user b --title x", #""audience":{"users":["a","b"]}"#),
        ("--user Jürgen --user a+b@example.com --title x", #""audience":{"users":["Jürgen","a+b@example.com"]}"#),
        ("--category World --body x", #""audience":{"categories":["World"]}"#),
        ("--tag-expression a&&b --title x", #""audience":{"tag_expression":"a&&b"}"#),
        ("--installation i --title x", #""audience":{"installations":["i"]}"#),
        ("--broadcast --title x", #""audience":{"broadcast":true}"#),
        ("--device apns:00ff --title x", #""audience":{"devices":[{"platform":"apns","handle":"00ff"}]}"#),
        (
            "--user a --title x --data k=v=w --badge 0 --silent",
            #""message":{"title":"x","badge":0,"silent":true,"data":{"k":"v=w"}}"#
        ),
        (
            "--user a --title x --image https://e.com/a.png --deep-link app://1",
            #""image_url":"https://e.com/a.png","deep_link":"app://1""#
        ),
        ("--user a --template t=v", #""template":{"t":"v"}"#),
        ("--user a --payload wns=<toast/> --platform wns", #""payloads":{"wns":{"body":"<toast/>"}}"#),
        (#"--user a --payload apple={"aps":{}}"#, #""payloads":{"apple":{"body":{"aps":{}}}}"#),
        ("--user a --title x --ttl 1h", #""ttl_seconds":3600"#),
        ("--user a --title x --not-before 10m", #""not_before":"2026-11-21T12:10:00.000Z""#),
        (
            "--user a --title x --option max_attempts=8 --option on_ambiguous=retry --option dry_run=true",
            #""options":{"max_attempts":8,"on_ambiguous":"retry","dry_run":true}"#
        ),
        (
            "--user a --title x --label campaign=mlb --priority high --collapse-key c --ordering-key o --hub h --id i --source /s",
            #""labels":{"campaign":"mlb"}"#
        ),
    ])
    func flagsBecomeARequestOfTheContract(flags: String, part: String) throws {
        let words = flags.split(separator: " ").map(String.init)
        let arguments = try ArgumentParser.parse(words, for: .enqueue)
        let json = try RequestFlags.json(arguments, now: 1_795_262_400_000)
        #expect(String(decoding: json, as: UTF8.self).contains(part))
        var checker = RequestChecker(now: 1_795_262_400_000)
        checker.check(json, at: "the flags")
        #expect(checker.faults.isEmpty)
    }

    @Test(arguments: [
        ("", nil), (#""id":"i","#, "i"), (#""id":"i","dedupe":{"key":"d"},"#, "d"),
        (#""id":"i","dedupe":{"key":"d"},"ordering_key":"o","#, "o"),
    ])
    func whatMayComeAgainHasAKeyThatKeepsItInItsPartition(fields: String, key: String?) {
        let checker = read("{\(fields)\"audience\":{\"users\":[\"a\"]},\"message\":{\"title\":\"x\"}}")
        #expect(checker.valid.map(\.recordKey) == [key])
    }

    @Test func dryRunPrintsTheRecord() {
        let outcome = Harness().run("enqueue --user a --title x --id i --ordering-key k --dry-run -o ndjson")
        #expect(
            outcome.output == """
                {"topic":"push.requests.v1","key":"k","headers":{"content-type":"application/json","ce_specversion":"1.0","ce_id":"i",\
                "ce_source":"/pushfan/enqueue","ce_type":"push.request.v1","ce_time":"2026-11-21T12:00:00.000Z"},\
                "value":{"schema_version":1,"id":"i","audience":{"users":["a"]},"message":{"title":"x"},"ordering_key":"k"}}

                """)
    }
}
