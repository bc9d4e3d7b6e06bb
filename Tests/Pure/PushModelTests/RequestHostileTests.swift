import PushModel
import Testing

@Suite struct RequestHostileTests {
    @Test(arguments: [
        ("", "empty"), (" ", "unexpected_end"), ("{", "unexpected_end"), ("[]", "not_an_object"), ("null", "not_an_object"),
        ("\"text\"", "not_an_object"), ("7", "not_an_object"), ("hello", "unexpected_byte"), ("{}{}", "trailing_bytes"),
        ("\u{FEFF}{}", "unexpected_byte"), ("[1,]", "unexpected_byte"),
        ("{\"a\":\"\t\"}", "invalid_string"), (#"{"a":"\ud80"}"#, "invalid_string"),
        (#"{"a":01}"#, "invalid_number"),
    ])
    func whatCannotBeUnderstoodIsUnreadableForAReason(text: String, reason: String) {
        var reading = Reading()
        guard case .unreadable(let failure) = reading.read(text) else { return #expect(Bool(false), "\(text.prefix(40))") }
        #expect(failure.reason == reason)
        #expect(failure.message.hasSuffix("."))
        #expect(reading.request.audience == PushRequest.Audience.none && reading.request.message == nil)
    }

    @Test(arguments: [("[", 500 << 10), ("{\"a\":", 65), ("[{\"\":", 50_000)])
    func bracketsWithoutEndAreUnreadable(piece: String, count: Int) {
        var reading = Reading()
        guard case .unreadable(let failure) = reading.read(String(repeating: piece, count: count)) else {
            return #expect(Bool(false), "\(piece)")
        }
        #expect(failure.reason == "nested_too_deeply")
        #expect(failure.message.utf8.count < 400)
    }

    @Test func badUTF8IsUnreadable() {
        var reading = Reading()
        let text = Array(#"{"message":{"title":""#.utf8) + [0xC3, 0x28] + Array(#""}}"#.utf8)
        let error = JSONError(reason: .invalidUTF8, offset: 21, pointer: "/message/title")
        #expect(reading.read(text) == .unreadable(.notJSON(error)))
        #expect(UnreadableRecord.notJSON(error).reason == "invalid_utf8")
        #expect(UnreadableRecord.notJSON(error).message.contains("/message/title"))
    }

    @Test func aRecordAboveTheLimitIsRejectedAndOneAtTheLimitIsRead() {
        var reading = Reading()
        let limit = RequestReader.maximumRecordByteCount
        let fits = Array(record().utf8) + [UInt8](repeating: 0x20, count: limit - record().utf8.count)
        #expect(reading.read(fits) == .request)
        for giant in [fits + [0x20], [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)] {
            guard case .rejected(let faults) = reading.read(giant) else { return #expect(Bool(false), "\(giant.count)") }
            #expect(faults.map(\.code) == [.recordTooLarge])
            #expect(faults.first?.pointer == "")
            #expect(faults.first?.message == "The record has \(giant.count) bytes; 524288 are allowed.")
            #expect(reading.request.document.bytes.count < 200)
        }
    }

    @Test func duplicateKeysAreRejectedWhereverTheyStand() {
        var reading = Reading()
        let text =
            #"{"audience":{"users":["a"]},"payloads":{"gcm":{"body":{"data":{"a":1,"a":2}}}},"labels":{"x":"","x":""},"id":"a","id":"b"}"#
        let faults = reading.faults(text)
        #expect(faults.map(\.pointer) == ["/payloads/gcm/body/data/a", "/labels/x", "/id"])
        #expect(faults.allSatisfy { $0.message.contains("twice") })
        #expect(reading.request.labels == nil)
    }

    @Test func allFaultsOfOneRecordAreNamedTogether() {
        var reading = Reading()
        let text = #"""
            {"schema_version":9,"id":"good","source":"/s","hub":"BAD","labels":{"ok":"yes"},"audience":{"users":[]},"platforms":["ios"],
             "message":{"title":7,"badge":-1},"ttl_seconds":-1,"priority":"now","options":{"max_attempts":0},"ttl_seconds":1}
            """#
        let pointers = [
            "/schema_version", "/hub", "/audience/users", "/platforms/0", "/message/title", "/message/badge", "/ttl_seconds",
            "/priority", "/options/max_attempts", "/ttl_seconds",
        ]
        #expect(reading.faults(text).map(\.pointer) == pointers)
        #expect(reading.string(reading.request.id) == "good" && reading.string(reading.request.source) == "/s")
        #expect(reading.string(reading.request.labels) == #"{"ok":"yes"}"#)
        #expect(reading.request.hub == nil)
    }

    @Test func faultsBehindTheThirtySecondStillCount() {
        var reading = Reading()
        let many = (0..<40).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let faults = reading.faults(
            record("\"message\":{\"data\":{\(many)}},\"labels\":{\"BAD\":\"\"},\"audience\":{\"users\":[\" a\"]}"))
        #expect(faults.count == 32)
        #expect(reading.request.labels == nil)
        #expect(reading.request.audience == PushRequest.Audience.none)
        #expect(reading.request.message?.data == nil)
    }

    static let unknown: [(String, String)] = [
        (#""mesage":{"title":"x"}"#, "/mesage"), (#""message":{"title":"x","titel":"y"}"#, "/message/titel"),
        (#""options":{"dryrun":true}"#, "/options/dryrun"), (#""dedupe":{"key":"k","window":5}"#, "/dedupe/window"),
        (#""payloads":{"gcm":{"body":{},"header":{}}}"#, "/payloads/gcm/header"),
        (#""audience":{"devices":[{"platform":"gcm","handle":"h","name":"n"}]}"#, "/audience/devices/0/name"),
        (#""replay":{"root_request_id":"r","parent_request_id":"p","generation":1,"job_id":"j","x":0}"#, "/replay/x"),
        (#""":1"#, "/"), (#""Message":{}"#, "/Message"), (#""$schema":"urn:x""#, "/$schema"),
    ]

    @Test(arguments: unknown) func anUnknownFieldIsCountedByATolerantReaderAndAFaultToAStrictOne(
        fragment: String, pointer: String
    ) {
        var tolerant = Reading()
        #expect(tolerant.read(record(fragment)) == .request)
        #expect(tolerant.request.unknownFieldCount == 1)
        var strict = Reading([], .strict)
        let faults = strict.faults(record(fragment))
        #expect(faults.map(\.pointer) == [pointer])
        #expect(faults.first?.message.contains("no field of this name") == true)
    }

    @Test func theContentsOfFreeObjectsAreNoUnknownFields() {
        var reading = Reading([], .strict)
        let payload = #""payloads":{"gcm":{"body":{"anything":{"x":1}},"headers":{"X-Any":"1"}}}"#
        #expect(reading.read(record(#""message":{"data":{"any":"1"}},"labels":{"any":"1"},\#(payload)"#)) == .request)
        #expect(reading.read(record(#""template":{"any":"1"}"#)) == .request)
    }

    @Test func faultsStayShortHoweverLongTheNames() {
        var reading = Reading([], .strict)
        let name = String(repeating: "n/", count: 100_000)
        let doubled = (0..<20).map { "\"k\($0)\":1,\"k\($0)\":2" }.joined(separator: ",")
        let faults = reading.faults(
            record("\"\(name)\":{\(doubled)},\"labels\":{\"\(String(repeating: "é", count: 50_000))\":\"\"}"))
        #expect(faults.count == 18)
        #expect(
            faults.allSatisfy { $0.pointer.utf8.count <= JSONDocument.maximumPointerByteCount + 3 && $0.message.utf8.count < 200 }
        )
        guard case .unreadable(let failure) = reading.read("{\"\(name)\":x}") else { return #expect(Bool(false)) }
        #expect(failure.message.utf8.count < 1000)
    }

    @Test func fortyThousandUnknownFieldsAreRead() {
        let members = (0..<40_000).map { "\"f\($0)\":1" }.joined(separator: ",")
        var tolerant = Reading()
        #expect(tolerant.read(record(members)) == .request)
        #expect(tolerant.request.unknownFieldCount == 40_000)
        var strict = Reading([], .strict)
        #expect(strict.faults(record(members)).count == 32)
        let numbers = "[" + String(repeating: "0,", count: 250_000) + "{\"a\":1,\"a\":2}]"
        #expect(tolerant.faults(record("\"x\":\(numbers)")).map(\.pointer) == ["/x/250000/a"])
    }

    @Test(arguments: 0..<4) func mutationsOfTheFullRecordAreReadOrRefused(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        var reading = Reading([("ce_id", "header")], seed == 3 ? .strict : .tolerant)
        let original = Array(fullRecord.utf8)
        var counts = [0, 0, 0]
        for _ in 0..<25_000 {
            let text = mutated(original, using: &random)
            switch reading.read(text) {
            case .request:
                counts[0] += 1
                if reading.request.audience == PushRequest.Audience.none { Issue.record("No audience: \(text)") }
            case .rejected(let faults):
                counts[1] += 1
                if faults.isEmpty || faults.count > 32 { Issue.record("\(faults.count) faults: \(text)") }
            case .unreadable(let failure):
                counts[2] += 1
                if failure.reason.isEmpty { Issue.record("No reason: \(text)") }
            }
            if reading.request.id.isEmpty { Issue.record("No identity: \(text)") }
            if reading.request.audience == .broadcast { Issue.record("A broadcast out of nothing: \(text)") }
        }
        #expect(counts.allSatisfy { $0 > 500 }, "\(counts)")
    }
}
