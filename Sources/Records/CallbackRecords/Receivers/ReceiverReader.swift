import Basics
import EventLoop
import ResultQuery
import Webhooks
import YAML

/// Reads one receiver of the file, and gathers all of its faults.
struct ReceiverReader {
    private static let keys = [
        "name", "url", "secrets", "secret_file", "secrets_file", "filter", "kinds", "tenant", "sources", "form", "rate",
        "in_flight", "timeout", "give_up_after",
    ]
    private static let kinds = ["final", "interim", "outcome"]
    private static let rates = 0.1...1_000_000
    private static let flights = 1...1000
    private static let timeouts = Duration.milliseconds(100)...Duration.seconds(300)
    private static let patience = Duration.seconds(1)...Duration.seconds(2_592_000)
    private static let sourceLimit = 100

    private let node: YAMLNode
    private let common: ReceiverSet
    private(set) var faults: [ReceiversFault.Item] = []
    private var name: String?

    init(_ node: YAMLNode, within common: ReceiverSet) { (self.node, self.common) = (node, common) }

    /// Reads it. Nil where it has no name, address or secret that can be used, for a fault that was noted.
    mutating func read() -> ReceiversFile.Plan? {
        guard case .mapping(let all) = node.value else {
            note(nil, saying: "expected the keys of a receiver")
            return nil
        }
        let empty = all.filter { $0.node.isAbsent && Self.keys.contains($0.key) }
        let entries = all.filter { entry in !empty.contains { $0.key == entry.key } }
        name = entries.first { $0.key == "name" }.flatMap { $0.node.text }.flatMap { Self.isName($0) ? $0 : nil }
        // A term that lost its value to a mistake must not open the receiver to everything.
        for entry in empty { note(entry, saying: "there is no value") }
        for key in ["name", "url"] where !all.contains(where: { $0.key == key }) {
            note(nil, saying: "the key \(key) is missing")
        }
        let givers = entries.filter { $0.key.hasPrefix("secret") && Self.keys.contains($0.key) }
        if givers.count != 1 { note(givers.last, saying: "expected either secrets or secrets_file") }
        var url: ReceiverURL?
        var receiver = Receiver(
            name: name ?? "", url: ReceiverURL(isSecure: true, host: "", port: 443, target: "/"), secrets: [])
        var file: String?
        for entry in entries {
            switch entry.key {
            case "name": if name == nil { note(entry, saying: "expected 1 to 100 letters, digits, '.', '_' and '-'") }
            case "url": url = readURL(entry)
            case "secrets": receiver.secrets = readSecrets(entry)
            case "secret_file", "secrets_file": file = value(of: entry, by: \.path, else: YAMLNode.pathRule)
            default: readTerm(entry, of: &receiver)
            }
        }
        guard let url, name != nil else { return nil }
        receiver.url = url
        return ReceiversFile.Plan(receiver: receiver, secretsFile: file, line: node.mark.line, keys: Set(entries.map(\.key)))
    }

    private mutating func readURL(_ entry: YAMLNode.Entry) -> ReceiverURL? {
        guard let url = entry.node.text.flatMap(ReceiverURL.init) else {
            note(entry, saying: "expected https://, a host, and a path without user, fragment or unescaped characters")
            return nil
        }
        if !url.isSecure, !common.allowsPlain { note(entry, saying: "expected https://, for allow_plain is not true") }
        if let address = NumericAddress(url.host), AddressGuard(allowed: common.allowedNetworks).refuses(address) {
            note(entry, saying: "this address is not of the open internet, and allowed_networks has no network with it")
        }
        return url
    }

    private mutating func readSecrets(_ entry: YAMLNode.Entry) -> [WebhookSecret] {
        let texts = entry.node.texts ?? []
        let secrets = texts.compactMap(WebhookSecret.init)
        if !(1...ReceiversReader.secretLimit).contains(texts.count) {
            note(entry, saying: "expected one secret or two")
        } else if secrets.count < texts.count {
            note(entry, saying: ReceiversReader.secretRule)
        }
        return secrets
    }

    /// Reads a term of the results that it wants, or of its calls.
    private mutating func readTerm(_ entry: YAMLNode.Entry, of receiver: inout Receiver) {
        switch entry.key {
        case "filter": receiver.filter = readFilter(entry)
        case "kinds":
            let kinds = Set(entry.node.texts ?? [])
            guard !kinds.isEmpty, kinds.isSubset(of: Self.kinds) else {
                return note(entry, saying: "expected a list of \(Self.kinds.joined(separator: ", "))")
            }
            receiver.kinds = kinds
        case "tenant":
            receiver.tenant = value(of: entry, by: { Self.visible($0.text) }, else: "expected 1 to 256 visible characters")
        case "sources":
            let sources = (entry.node.texts ?? []).compactMap(Self.visible)
            guard !sources.isEmpty, sources.count == entry.node.texts?.count, sources.count <= Self.sourceLimit else {
                return note(entry, saying: "expected 1 to \(Self.sourceLimit) sources of 1 to 256 visible characters")
            }
            receiver.sources = Set(sources)
        case "form":
            let forms = Receiver.Form.allCases.map(\.rawValue).joined(separator: " or ")
            receiver.form = value(of: entry, by: { $0.text.flatMap(Receiver.Form.init) }, else: "expected \(forms)") ?? .result
        case "rate":
            receiver.rate = value(of: entry, by: { Self.rate($0.text) }, else: "expected calls per second, 0.1 to 1000000")
        case "in_flight":
            let count = value(of: entry, by: { Self.flights($0.text) }, else: "expected 1 to 1000 calls")
            receiver.inFlight = count ?? receiver.inFlight
        case "timeout": receiver.timeout = duration(entry, in: Self.timeouts) ?? receiver.timeout
        case "give_up_after": receiver.giveUpAfter = duration(entry, in: Self.patience) ?? receiver.giveUpAfter
        default: note(nil, saying: Self.unknown(entry.key, among: Self.keys), line: entry.mark.line)
        }
    }

    private mutating func readFilter(_ entry: YAMLNode.Entry) -> ResultFilter? {
        guard let text = entry.node.text, !text.allSatisfy(\.isWhitespace) else {
            note(entry, saying: "expected text")
            return nil
        }
        do throws(FilterError) {
            let filter = try ResultFilter(text, now: 0)
            if filter.isAboutRequests {
                note(entry, saying: "a word or text of a request is no part of a result; expected fields such as state:failed")
            } else if filter.since != nil || filter.until != nil {
                note(entry, saying: "a receiver gets results as they come, so that no time can be in its filter")
            } else if filter.asksForOpen {
                note(entry, saying: "a state of requests that have no result yet")
            }
            return filter
        } catch {
            note(entry, saying: "position \(error.position) \(error.reason)")
            return nil
        }
    }

    private mutating func duration(_ entry: YAMLNode.Entry, in range: ClosedRange<Duration>) -> Int64? {
        let bounds = "\(WrittenDuration.text(range.lowerBound)) to \(WrittenDuration.text(range.upperBound))"
        let read = { (node: YAMLNode) in node.text.flatMap(WrittenDuration.init)?.duration }
        return value(
            of: entry, by: { read($0).flatMap { range.contains($0) ? $0.wholeMilliseconds : nil } },
            else: "expected \(bounds), a whole number and ms, s, m or h")
    }

    private mutating func value<Value>(
        of entry: YAMLNode.Entry, by read: (YAMLNode) -> Value?, else sentence: String
    ) -> Value? {
        let value = read(entry.node)
        if value == nil { note(entry, saying: sentence) }
        return value
    }

    private mutating func note(_ entry: YAMLNode.Entry?, saying sentence: String, line: Int? = nil) {
        let place = [name, entry?.key].compactMap(\.self).joined(separator: ", ")
        faults.append(
            .init(line: line ?? (entry?.mark ?? node.mark).line, place: place.isEmpty ? nil : place, sentence: sentence))
    }

    private static func rate(_ text: String?) -> Double? {
        let isPlain = text?.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") } == true
        guard isPlain, let rate = text.flatMap(Double.init) else { return nil }
        return rates.contains(rate) ? rate : nil
    }

    private static func flights(_ text: String?) -> Int? {
        guard let text, text.utf8.allSatisfy(\.isDigit), let count = Int(text) else { return nil }
        return flights.contains(count) ? count : nil
    }

    private static func isName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
            && !text.hasPrefix("whsec_")
    }

    private static func visible(_ text: String?) -> String? {
        guard let text, (1...256).contains(text.utf8.count) else { return nil }
        return text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != " " } ? text : nil
    }

    /// The sentence about a key that there is not.
    static func unknown(_ key: String, among known: [String]) -> String {
        YAMLNode.unknown(key, among: known, shown: shown)
    }

    /// A key as it may be shown: what resembles no name may be a secret.
    static func shown(_ key: String) -> String { key.hasPrefix("whsec") ? "of such a name" : YAMLNode.shown(key) }
}
