import Audiences
import Testing

@testable import Console

@Suite struct RequestFlagsTests {
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
