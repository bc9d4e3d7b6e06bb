import EventLoop
import Foundation
import ResultQuery
import TestSupport
import Testing
import Webhooks

@testable import CallbackRecords

/// What a file of receivers says, and what is wrong with one.
@Suite(.tags(.c)) struct ReceiversFileTests {
    private static let (secret, otherSecret) = (SampleSecret.first, SampleSecret.second)

    /// A file with one receiver, which has these lines besides name, address and secret.
    private static func file(_ lines: String...) -> [UInt8] {
        let head = ["receivers:", "- name: orders", "  url: https://example.com/hooks", "  secrets: [\(secret)]"]
        return Array((head + lines.map { "  \($0)" }).joined(separator: "\n").utf8)
    }

    private static func fault(of bytes: [UInt8]) -> ReceiversFault? {
        do throws(ReceiversFault) { _ = try ReceiversFile.read(bytes) } catch { return error }
        return nil
    }

    private static func fault(of text: String) -> ReceiversFault? { fault(of: Array(text.utf8)) }

    @Test func aShortReceiverHasEverythingElseByDefault() throws {
        let set = try ReceiversFile.read(Self.file())
        let receiver = try #require(set.receivers.first)
        let url = try #require(ReceiverURL("https://example.com/hooks"))
        #expect(receiver == Receiver(name: "orders", url: url, secrets: [try #require(WebhookSecret(Self.secret))]))
        #expect(!set.allowsPlain && set.allowedNetworks.isEmpty && set.caFile == nil)
    }

    @Test func aLongReceiverHasWhatItsKeysSay() throws {
        let text = """
            receivers:
              - name: a.b_c-D1
                url: http://10.1.2.3:8080/x?y=z
                secrets:
                  - \(Self.secret)
                  - \(Self.otherSecret)
                filter: "state:failed -label.campaign:spring"
                kinds: [final, interim]
                tenant: acme
                sources: [shop, till]
                form: cloudevent
                rate: 0.5
                in_flight: 1000
                timeout: 500ms
                give_up_after: 72h
            allowed_networks: [10.1.0.0/16, "fd00::/8"]
            allow_plain: true
            ca_file: /etc/ca.pem
            """
        let set = try ReceiversFile.read(Array(text.utf8))
        let receiver = try #require(set.receivers.first)
        #expect(receiver.name == "a.b_c-D1" && "\(receiver.url)" == "http://10.1.2.3:8080" && receiver.url.target == "/x?y=z")
        #expect(receiver.secrets == [WebhookSecret(Self.secret), WebhookSecret(Self.otherSecret)])
        #expect(receiver.filter == (try ResultFilter("state:failed -label.campaign:spring", now: 0)))
        #expect(receiver.kinds == ["final", "interim"] && receiver.tenant == "acme" && receiver.sources == ["shop", "till"])
        #expect(receiver.form == .cloudevent && receiver.rate == 0.5 && receiver.inFlight == 1000)
        #expect(receiver.timeout == 500 && receiver.giveUpAfter == 72 * 3_600_000)
        #expect(set.allowedNetworks.map(\.description) == ["10.1.0.0/16", "fd00::/8"])
        #expect(set.allowsPlain && set.caFile == "/etc/ca.pem")
    }

    @Test(arguments: ["receivers: []", "receivers:", "receivers: ~\n", "allow_plain:\nreceivers: []\n", "\u{FEFF}receivers: []"])
    func aFileMayHaveNoReceiver(_ text: String) throws {
        #expect(try ReceiversFile.read(Array(text.utf8)).receivers.isEmpty)
    }

    @Test(
        arguments: [
            ("name: x", "line 5: the key \"name\" stands in line 2 already"),
            ("filtre: a", "line 5: orders: there is no key \"filtre\"; did you mean filter?"),
            (
                "filter: hello",
                "line 5: orders, filter: a word or text of a request is no part of a result; expected fields such as state:failed"
            ),
            (
                "filter: 'since:1h'",
                "line 5: orders, filter: a receiver gets results as they come, so that no time can be in its filter"
            ),
            ("filter: 'state:waiting'", "line 5: orders, filter: a state of requests that have no result yet"),
            ("tenant:", "line 5: orders, tenant: there is no value"), ("filter: ~", "line 5: orders, filter: there is no value"),
            ("filter: ' '", "line 5: orders, filter: expected text"), ("filter: [a]", "line 5: orders, filter: expected text"),
            ("kinds: [last]", "line 5: orders, kinds: expected a list of final, interim, outcome"),
            ("kinds: []", "line 5: orders, kinds: expected a list of final, interim, outcome"),
            ("tenant: ''", "line 5: orders, tenant: expected 1 to 256 visible characters"),
            ("tenant: [a]", "line 5: orders, tenant: expected 1 to 256 visible characters"),
            ("sources: ['a b']", "line 5: orders, sources: expected 1 to 100 sources of 1 to 256 visible characters"),
            ("sources: [[a]]", "line 5: orders, sources: expected 1 to 100 sources of 1 to 256 visible characters"),
            ("form: json", "line 5: orders, form: expected result or cloudevent"),
            ("rate: 0", "line 5: orders, rate: expected calls per second, 0.1 to 1000000"),
            ("rate: 1e3", "line 5: orders, rate: expected calls per second, 0.1 to 1000000"),
            ("rate: nan", "line 5: orders, rate: expected calls per second, 0.1 to 1000000"),
            ("in_flight: 0", "line 5: orders, in_flight: expected 1 to 1000 calls"),
            ("in_flight: 1001", "line 5: orders, in_flight: expected 1 to 1000 calls"),
            ("in_flight: -1", "line 5: orders, in_flight: expected 1 to 1000 calls"),
            ("timeout: 10", "line 5: orders, timeout: expected 100ms to 5m, a whole number and ms, s, m or h"),
            ("timeout: 99ms", "line 5: orders, timeout: expected 100ms to 5m, a whole number and ms, s, m or h"),
            ("give_up_after: 721h", "line 5: orders, give_up_after: expected 1s to 720h, a whole number and ms, s, m or h"),
            ("secrets_file: /a", "line 5: orders, secrets_file: expected either secrets or secrets_file"),
        ] as [(String, String)])
    func aKeyHasItsFault(_ line: String, _ fault: String) {
        #expect(Self.fault(of: Self.file(line))?.description == fault)
    }

    @Test(arguments: ["state:", "state:nothing", "label.:x", "\"", "attempts:many", String(repeating: "x", count: 9000)])
    func aFilterThatCannotBeReadHasItsPlace(_ filter: String) throws {
        let fault = try #require(Self.fault(of: Self.file("filter: '\(filter)'")))
        #expect(fault.description.hasPrefix("line 5: orders, filter: position "))
    }

    @Test(
        arguments: [
            ("", "the key receivers is missing"), ("[]", "line 1: expected keys such as receivers"),
            ("text", "line 1: expected keys such as receivers"),
            ("receivers: text", "line 1: receivers: expected a list of at most 1000 receivers"),
            ("receivers: {a: b}", "line 1: receivers: expected a list of at most 1000 receivers"),
            ("receivers: [text]", "line 1: expected the keys of a receiver"),
            ("recievers: []\nreceivers: []", "line 1: there is no key \"recievers\"; did you mean receivers?"),
            ("receivers: []\nallow_plain: yes", "line 2: allow_plain: expected true or false"),
            (
                "receivers: []\nallowed_networks: [10.1.2.3/16]",
                "line 2: allowed_networks: expected networks such as 10.1.0.0/16, without a bit behind the length"
            ),
            ("receivers: []\nallowed_networks: {a: b}", "line 2: allowed_networks: expected a list of at most 1000 networks"),
            ("receivers: []\nca_file: ca.pem", "line 2: ca_file: expected the path of a file, from / on"),
            ("receivers: &a []\nallowed_networks: *a", "line 2: aliases (*name) are not supported; repeat the value"),
            ("receivers: []\n---\nreceivers: []", "line 2: a second document begins here; a file has one"),
        ] as [(String, String)])
    func aFileHasItsFault(_ text: String, _ fault: String) {
        #expect(Self.fault(of: text)?.description == fault)
    }

    @Test(arguments: [
        "http://example.com/", "https://127.0.0.1/", "https://10.1.2.3/", "https://[::1]/", "https://[::ffff:169.254.169.254]/",
        "https://user@example.com/", "example.com", "ftp://example.com/", "",
    ])
    func anAddressThatIsNotForCallbacksIsRefused(_ url: String) throws {
        let text = "receivers: [{name: a, secrets: [\(Self.secret)], url: '\(url)'}]"
        let fault = try #require(Self.fault(of: text))
        #expect(fault.items.count == 1 && fault.description.hasPrefix("line 1: a, url: "))
    }

    @Test(arguments: [
        "[]", "[whsec_short]", "[CANARY]", "[\(secret), \(otherSecret), \(secret)]", "{\(secret): \(secret)}", "''",
        "[[\(secret)]]",
        "[\(secret), CANARY]",
    ])
    func aSecretThatIsNoneIsRefusedAndNotShown(_ secrets: String) throws {
        let fault = try #require(Self.fault(of: "receivers: [{name: a, url: 'https://example.com', secrets: \(secrets)}]"))
        #expect(fault.items.count == 1 && fault.description.hasPrefix("line 1: a, secrets: expected "))
        #expect(!fault.description.contains("CANARY") && !fault.description.contains("MfKQ"))
    }

    @Test(arguments: [
        "\(secret): 1\nreceivers: []", "whsec_a: 1\nwhsec_a: 1", "receivers: [{\(secret): CANARY}]",
        "receivers: [{name: \(secret)CANARY/}]", "receivers: [{name: \(secret)}]",
        "receivers: [{name: a, url: \(secret)CANARY}]", "receivers: [{name: a, filter: 'state:\(secret)CANARY'}]",
        "allowed_networks: [\(secret)CANARY]", "? \(secret)\n: 1\n? \(secret)\n: CANARY", "receivers: !CANARY [\(secret)]",
        "receivers: [{name: a, form: \(secret)CANARY, rate: \(secret), kinds: [\(secret)], secrets_file: \(secret)}]",
    ])
    func noFaultShowsWhatMayBeASecret(_ text: String) throws {
        let fault = try #require(Self.fault(of: text))
        let shown = "\(fault) \(fault.items)"
        #expect(!shown.contains("MfKQ") && !shown.contains("CANARY") && !shown.contains("whsec_a"), "\(shown)")
    }

    @Test func allFaultsAreNamedAtOnce() throws {
        let text = """
            receivers:
            - name: a
              url: https://example.com
              secrets: [\(Self.secret)]
              rate: no
            - name: a
              url: https://example.com
              secrets: [\(Self.secret)]
            - url: nothing
            allow_plain: no
            """
        let fault = try #require(Self.fault(of: text))
        #expect(
            fault.items.map(\.description) == [
                "line 5: a, rate: expected calls per second, 0.1 to 1000000",
                "line 6: a: the receiver in line 2 has this name already", "line 9: the key name is missing",
                "line 9: expected either secrets or secrets_file",
                "line 9: url: expected https://, a host, and a path without user, fragment or unescaped characters",
                "line 10: allow_plain: expected true or false",
            ])
        #expect(fault.description.hasSuffix("; and 3 more"))
    }

    @Test func aThousandReceiversAreReadAndOneMoreIsNot() throws {
        func text(_ count: Int) -> [UInt8] {
            let receivers = (0..<count).map { "- {name: r\($0), url: 'https://a.example/\($0)', secrets: [\(Self.secret)]}\n" }
            return Array(("receivers:\n" + receivers.joined()).utf8)
        }
        #expect(try ReceiversFile.read(text(1000)).receivers.count == 1000)
        #expect(Self.fault(of: text(1001))?.description == "line 1: receivers: expected a list of at most 1000 receivers")
        #expect(Self.fault(of: [UInt8](repeating: 0x20, count: ReceiversFile.maximumByteCount + 1)) != nil)
    }

    @Test func noBytesCrashTheReader() {
        var random = SeededRandom(69)
        let whole = Self.file("filter: 'state:failed'", "kinds: [final]", "timeout: 10s", "rate: 5.5")
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let end = Int.random(in: 0...bytes.count, using: &random)
            if let fault = Self.fault(of: Array(bytes[..<end])) { #expect(!fault.items.isEmpty) }
        }
    }

    @Test func secretsMayStandInAFileOfTheirOwn() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("secrets")
        let text = Array("receivers: [{name: a, url: 'https://example.com', secrets_file: \(path)}]".utf8)
        #expect(Self.fault(of: text)?.description == "line 1: a: the file of secrets does not exist")
        let cases: [(String, String?)] = [
            ("\(Self.secret)\n", nil), ("\(Self.secret)\r\n\(Self.otherSecret)", nil), ("", "is not right: there is no secret"),
            ("\n\n", "is not right: there is no secret"),
            ("\(Self.secret)\nCANARY\n", "is not right: line 2: \(ReceiversReader.secretRule)"),
            ("\(Self.secret)\n\(Self.secret)\n\(Self.secret)\n", "is not right: line 3: more than 2 secrets"),
            (String(repeating: "x", count: 5000), "is not right: more than 4096 bytes"),
        ]
        for (content, fault) in cases {
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            #expect(Self.fault(of: text)?.description == fault.map { "line 1: a: the file of secrets \($0)" })
        }
    }
}
