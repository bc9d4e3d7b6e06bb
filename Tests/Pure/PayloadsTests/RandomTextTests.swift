import Foundation
import FoundationXML
import Payloads
import PushModel
import Testing

/// Random Unicode in every text field comes out of independent parsers as it went in.
struct RandomTextTests {
    @Test(arguments: 0..<300)
    func jsonPayloadsHoldEveryTextAsItWas(_ seed: Int) throws {
        let sample = RandomMessage(seed: UInt64(seed))
        let request = try broadcast(sample.json)

        let apple = try object(rendered(request, .apple))
        let aps = try #require(apple["aps"] as? [String: Any])
        let alert = try #require(aps["alert"] as? [String: Any])
        expect(alert["title"], sample.title)
        expect(alert["subtitle"], sample.subtitle)
        expect(alert["body"], sample.body)
        expect(aps["sound"], sample.sound)
        expect(aps["thread-id"], sample.threadID)
        expect(aps["category"], sample.actionCategory)
        expect(apple, sample.data, besides: ["aps", "deep_link"])
        expect(apple["deep_link"], sample.deepLink)

        let message = try #require(object(rendered(request, .fcmv1))["message"] as? [String: Any])
        let android = try #require((message["android"] as? [String: Any])?["notification"] as? [String: Any])
        for notification in [message["notification"], try object(rendered(request, .gcm))["notification"]] {
            let notification = try #require(notification as? [String: Any])
            expect(notification["title"], sample.title)
            expect(notification["body"], sample.subtitle + "\n" + sample.body)
        }
        expect(android["sound"], sample.sound)
        let data = try #require(message["data"] as? [String: Any])
        expect(data, sample.data, besides: ["deep_link", "thread_id", "action_category"])
        expect(data["deep_link"], sample.deepLink)
    }

    @Test(arguments: 0..<300)
    func toastHoldsEveryTextThatXMLCanHold(_ seed: Int) throws {
        let sample = RandomMessage(seed: UInt64(seed))
        let payload = try rendered(broadcast(sample.json), .windows)
        let toast = ToastReader()
        let parser = XMLParser(data: Data(payload.body.bytes))
        parser.delegate = toast
        try #require(parser.parse(), "\(payload.body.text)")
        #expect(toast.texts.map(scalars) == [sample.title, sample.subtitle, sample.body].map(inXML).map(scalars))
        #expect(toast.root == "toast" && toast.images.count == 0)
        // The launch argument is percent-encoded, so nothing in it is replaced.
        var pairs: [String: String] = [:]
        for pair in toast.launch.split(separator: "&") {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            try #require(parts.count == 2)
            let name = try percentDecoded(parts[0])
            pairs[name] = try percentDecoded(parts[1])
        }
        expect(pairs, sample.data, besides: ["deep_link", "thread_id", "action_category"])
        expect(pairs["deep_link"], sample.deepLink)
        expect(pairs["thread_id"], sample.threadID)
    }

    @Test(arguments: 0..<300)
    func silentMessagesAndTemplatesHoldEveryTextAsItWas(_ seed: Int) throws {
        let sample = RandomMessage(seed: UInt64(seed))
        let silent = try broadcast(sample.json.replacing("\"message\":{", with: "\"message\":{\"silent\":true,"))
        let texts = ["title": sample.title, "subtitle": sample.subtitle, "body": sample.body, "sound": sample.sound]
        let names = Set(texts.keys).union(["deep_link", "thread_id", "action_category"])
        let raw = try object(rendered(silent, .windows))
        expect(raw, sample.data, besides: names)
        for (name, text) in texts { expect(raw[name], text) }
        expect(try object(rendered(silent, .apple)), sample.data, besides: names.union(["aps"]))
        let properties = try object(renderedTemplate(broadcast("\"template\":\(sample.dataJSON)")))
        expect(properties, sample.data, besides: [])
    }

    @Test(arguments: 0..<300)
    func headersAreCleanLinesWhateverTheSourceIs(_ seed: Int) throws {
        var sample = RandomMessage(seed: UInt64(seed))
        let source = sample.text(1...30)
        let request = try broadcast(sample.json + ",\"source\":\(sample.literal(source)),\"ttl_seconds\":60")
        for platform in [Platform.apple, .fcmv1, .gcm, .windows] {
            let payload = try rendered(request, platform)
            let names = try payload.headerLines().map(\.name)
            switch platform {
            case .apple:
                #expect(
                    names == [
                        "apns-push-type", "apns-priority", "apns-expiration", "ServiceBusNotification-Apns-Expiry",
                        "apns-collapse-id",
                    ])
                #expect(try #require(try payload.header("apns-collapse-id")).utf8.count <= 64)
            case .windows:
                #expect(
                    names == ["X-WNS-Type", "X-WNS-Cache-Policy", "X-WNS-TTL", "X-WNS-Tag", "X-WNS-RequestForStatus"])
            default: #expect(names.isEmpty)
            }
        }
    }

    @Test(arguments: 0..<300)
    func randomKeysAreNeverMoreThanTheHeadersAllow(_ seed: Int) throws {
        var sample = RandomMessage(seed: UInt64(seed))
        let key = sample.text(1...12)
        let request = try unread("{\"message\":{\"data\":{\"k\":\"v\"}},\"collapse_key\":\(sample.literal(key))}")
        let id = try #require(try rendered(request, .apple).header("apns-collapse-id"))
        #expect((1...64).contains(id.utf8.count))
        expect(try object(rendered(request, .gcm))["collapse_key"], key)
    }

    /// Parsed by Foundation, which drops a byte order mark at the start of a string's piece unless it is written as an escape;
    /// outside of a string the escape is an error.
    private func object(_ payload: RenderedPayload) throws -> [String: Any] {
        let bytes = payload.body.bytes.replacing([0xEF, 0xBB, 0xBF], with: Array("\\uFEFF".utf8))
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any], "\(payload.body.text)")
    }

    /// Foundation's own decoding drops a byte order mark at the start.
    private func percentDecoded(_ text: Substring) throws -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            bytes.append(try #require(UInt8(Substring(rest.prefix(2)), radix: 16)))
            rest = rest.dropFirst(2)
        }
        return try #require(String(validating: bytes, as: UTF8.self))
    }

    private func expect(_ found: Any?, _ expected: String, _ place: SourceLocation = #_sourceLocation) {
        #expect((found as? String).map(scalars) == scalars(expected), sourceLocation: place)
    }

    /// Compares keys and values scalar by scalar, because equal strings may differ in how they are composed.
    private func expect(
        _ found: [String: Any], _ expected: [String: String], besides names: Set<String>,
        _ place: SourceLocation = #_sourceLocation
    ) {
        let rest = found.filter { !names.contains($0.key) }
        let foundPairs = Set(rest.map { [scalars($0.key), scalars($0.value as? String ?? "no string")] })
        #expect(foundPairs == Set(expected.map { [scalars($0.key), scalars($0.value)] }), sourceLocation: place)
    }

    private func scalars(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }

    /// `text` with U+FFFD for what XML 1.0 has no way to write.
    private func inXML(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 && ![0x09, 0x0A, 0x0D].contains(scalar.value)
            result.append(isControl || scalar.value == 0xFFFE || scalar.value == 0xFFFF ? "\u{FFFD}" : scalar)
        }
        return String(result)
    }
}

/// A message whose texts are drawn from what breaks escaping.
private struct RandomMessage {
    var numbers: SeededNumbers
    var title = "", subtitle = "", body = "", sound = "", threadID = "", actionCategory = "", deepLink = ""
    var data: [String: String] = [:]
    var dataJSON = ""
    var json = ""

    private static let pieces: [String] = [
        "a", "B", "7", " ", "\"", "\\", "/", "<", ">", "&", "'", "]]>", "<!--", "-->", "&amp;", "&#0;", "%", "%41", "=", "+", "#",
        "\u{0}", "\u{1}", "\u{8}", "\t", "\n", "\u{B}", "\u{C}", "\r", "\r\n", "\u{1B}", "\u{1F}", "\u{7F}", "\u{80}", "\u{85}",
        "\u{9F}", "\u{A0}", "é", "e\u{301}", "\u{301}", "ß", "ي", "\u{202E}", "\u{2028}", "\u{2029}", "한", "漢", "\u{D7FF}",
        "\u{E000}", String(decoding: [0xEF, 0xB7, 0x90], as: UTF8.self), "\u{FEFF}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}",
        "\u{10000}", "😀", "👩‍👩‍👧‍👦", "🇪🇺", "\u{1FFFE}",
        "\u{10FFFF}", "\\u0041", "\\n", "{", "}", "[", "]", ":", ",", "null",
    ]

    init(seed: UInt64) {
        numbers = SeededNumbers(state: seed)
        title = text(1...20)
        subtitle = text(1...10)
        body = text(1...30)
        sound = text(1...5)
        threadID = text(1...5)
        actionCategory = text(1...5)
        deepLink = text(1...10)
        for _ in 0..<Int.random(in: 1...4, using: &numbers) { data["k" + text(0...4)] = text(0...8) }
        dataJSON =
            "{" + data.sorted { $0.key < $1.key }.map { literal($0.key) + ":" + literal($0.value) }.joined(separator: ",") + "}"
        let fields = [
            ("title", title), ("subtitle", subtitle), ("body", body), ("sound", sound), ("thread_id", threadID),
            ("action_category", actionCategory), ("deep_link", deepLink),
        ]
        let members = fields.map { "\"\($0.0)\":" + literal($0.1) }.joined(separator: ",")
        json = "\"message\":{\(members),\"data\":\(dataJSON)}"
    }

    mutating func text(_ range: ClosedRange<Int>) -> String {
        (0..<Int.random(in: range, using: &numbers)).map { _ in Self.pieces.randomElement(using: &numbers) ?? "" }.joined()
    }

    /// A JSON string; half of what could stand as it is is written as an escape, outside the first plane as a surrogate pair.
    mutating func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if !mustEscape && Bool.random(using: &numbers) {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return result + "\""
    }
}

/// What XMLParser finds in a toast.
private final class ToastReader: NSObject, XMLParserDelegate {
    var root = ""
    var launch = ""
    var texts: [String] = []
    var images: [String] = []
    private var isInText = false

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if root.isEmpty {
            root = name
            launch = attributes["launch"] ?? ""
        }
        isInText = name == "text"
        if isInText { texts.append("") }
        if name == "image" { images.append(attributes["src"] ?? "") }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        isInText = false
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if isInText, !texts.isEmpty { texts[texts.count - 1].unicodeScalars.append(contentsOf: string.unicodeScalars) }
    }
}
