import Basics
import CurlHTTP
import FanOut
import Observability

extension SettingType where Value == String {
    /// Any text of one line.
    static func line(_ allowed: String, atMost limit: Int = .max) -> SettingType {
        checked(allowed) { $0.unicodeScalars.count > limit ? "is too long" : nil }
    }

    /// The path of a file that must be there when a process starts.
    static func file(_ allowed: String) -> SettingType {
        var type = line(allowed)
        type.namesFile = true
        return type
    }

    /// The beginning of a page's address, to which a word is added.
    static var pages: SettingType {
        checked("a URL such as https://example.com/pushfan#") { text in
            guard ["http://", "https://"].contains(where: { text.hasPrefix($0) && text != $0 }) else {
                return "does not begin with http:// or https://"
            }
            return text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? nil : "contains a character that no URL may have"
        }
    }

    /// The address of public keys. Whoever could change them on their way could be any user.
    static var keys: SettingType {
        checked("a URL that begins with https://, or on this machine with http://") { text in
            guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let address = WebAddress(text) else {
                return "is no such URL"
            }
            return address.scheme == .https || address.isLoopback ? nil : "does not begin with https://"
        }
    }

    /// A name that Kafka allows for topics and ids (org.apache.kafka.common.internals.Topic: letters, digits, `.`, `_`, `-`, but
    /// not `.` and `..` alone).
    static func name(_ what: String, atMost limit: Int) -> SettingType {
        checked("\(what): 1 to \(limit) letters, digits, '.', '_' and '-'") { text in
            guard text.utf8.count <= limit else { return "is too long" }
            let isLegal = SettingLetters.consists(text, ofLettersDigitsAnd: "._-") && text != "." && text != ".."
            return isLegal ? nil : "is not a legal name"
        }
    }

    /// A broker's address as librdkafka takes it (CONFIGURATION.md, `bootstrap.servers`): a protocol may stand before it. The port may not
    /// be left out, because a listener for clients seldom has the port that would stand for it.
    static var broker: SettingType {
        checked("host:port") { text in
            let address = text.split(separator: "://", omittingEmptySubsequences: false).last.map(String.init) ?? text
            guard !address.contains(where: \.isWhitespace) else { return "has a blank in it" }
            guard let colon = address.lastIndex(of: ":"), !address.hasSuffix("]") else { return "has no port" }
            let port = address[address.index(after: colon)...]
            guard !port.isEmpty, port.utf8.allSatisfy(\.isDigit) else { return "is not host:port" }
            guard let number = Int(port), (1...65_535).contains(number) else { return "has a port that is not from 1 to 65535" }
            return ListenAddress(address) == nil ? "is not host:port" : nil
        }
    }

    /// A version of the hub's REST API, which is a month.
    static var month: SettingType {
        checked("a year and a month such as 2020-06") {
            $0.wholeMatch(of: #/20[0-9]{2}-(0[1-9]|1[0-2])/#) == nil ? "is not a month" : nil
        }
    }

    /// A tag that a device may have, and none that the hub reserves.
    static var tag: SettingType {
        checked("a tag: 1 to \(HubTag.maxLength) letters, digits, '_', '@', '#', '.', ':' and '-'") { text in
            guard text.utf8.count <= HubTag.maxLength else { return "is too long" }
            let isTag = SettingLetters.consists(text, ofLettersDigitsAnd: "_@#.:-")
            return isTag ? nil : "contains a character that no tag may have"
        }
    }

    /// The address of a peer, or a range of addresses (RFC 4632, 3.1).
    static var peerAddress: SettingType {
        checked("an address such as 10.0.0.5, or a range such as 10.0.0.0/8") { text in
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let bitCount = Host.bitCount(ofAddress: parts[0]) else { return "is not an address" }
            guard parts.count > 1 else { return nil }
            let length = parts[1].utf8.allSatisfy(\.isDigit) ? Int(parts[1]) : nil
            return length.map { $0 <= bitCount } == true ? nil : "is not a range of addresses"
        }
    }

    /// The tag that stands for a user. The characters of a tag are those of the hub ("Routing and tag expressions").
    static var userTag: SettingType {
        checked("a tag of at most 100 characters that contains {user} once, such as username:{user}") { text in
            guard text.split(separator: "{user}", omittingEmptySubsequences: false).count == 2 else {
                return "does not contain {user} once"
            }
            guard text.utf8.count <= 100 else { return "is too long" }
            let isTag = SettingLetters.consists(text, ofLettersDigitsAnd: "_@#.:-${}")
            return isTag ? nil : "contains a character that no tag may have"
        }
    }

    /// Text that is taken as it is, unless `fault` says what is wrong with it.
    private static func checked(_ allowed: String, fault: @escaping @Sendable (String) -> String?) -> SettingType {
        text(allowed) { (text) throws(SettingFault) -> String in
            if let fault = fault(text) { throw SettingFault(fault) }
            return text
        }
    }
}

extension SettingType where Value == Redacted<String> {
    /// A proxy's URL, kept secret because it may hold a login.
    static var proxy: SettingType {
        text("a URL such as http://proxy.example:3128", isSecret: true) { (text) throws(SettingFault) -> Redacted<String> in
            guard ["http://", "https://", "socks5h://"].contains(where: { text.hasPrefix($0) && text != $0 }) else {
                throw SettingFault("does not begin with http://, https:// or socks5h://")
            }
            guard ProxyAddress(text) != nil else { throw SettingFault("is not the URL of a proxy") }
            return Redacted(text)
        }
    }
}

extension SettingType where Value == ListenAddress {
    static var address: SettingType {
        text("host:port, such as 127.0.0.1:9464 or [::1]:0") { (text) throws(SettingFault) -> ListenAddress in
            guard let address = ListenAddress(text) else { throw SettingFault("is not an address") }
            return address
        }
    }
}

extension SettingType where Value == [KafkaProperty] {
    /// Properties of librdkafka: a file's mapping, or `name=value` separated by commas or line breaks. A piece without `=`
    /// continues the value before it, so that `debug=broker,topic` is one property.
    static var properties: SettingType {
        SettingType(allowed: "name=value pairs separated by commas or line breaks, each name once", shape: .map, isSecret: true) {
            (input) throws(SettingFault) -> [KafkaProperty] in
            var properties: [KafkaProperty] = []
            for pair in try pairs(of: input) {
                guard !pair.name.isEmpty, SettingLetters.consists(pair.name, ofLettersDigitsAnd: "._-") else {
                    throw SettingFault("contains a piece without a legal name")
                }
                guard !pair.value.contains("\0") else { throw SettingFault("contains a NUL character in \(pair.name)") }
                guard !properties.contains(where: { $0.name == pair.name }) else {
                    throw SettingFault("names \(pair.name) twice")
                }
                properties.append(KafkaProperty(name: pair.name, value: Redacted(pair.value)))
            }
            return properties
        }
    }

    /// Names and their values.
    static func pairs(of input: SettingInput) throws(SettingFault) -> [SettingPair] {
        switch input {
        case .map(let pairs): return pairs
        case .list: throw SettingFault("is a list")
        case .text(let text):
            var pairs: [SettingPair] = []
            for line in text.split(whereSeparator: \.isNewline) where !trimmed(line).isEmpty {
                pairs += try Self.pairs(ofLine: line)
            }
            return pairs
        }
    }

    private static func pairs(ofLine line: Substring) throws(SettingFault) -> [SettingPair] {
        var pairs: [SettingPair] = []
        for piece in line.split(separator: ",") where !trimmed(piece).isEmpty {
            if let equals = piece.firstIndex(of: "=") {
                pairs.append(.init(name: trimmed(piece[..<equals]), value: trimmed(piece[piece.index(after: equals)...])))
            } else if let last = pairs.popLast() {
                pairs.append(.init(name: last.name, value: last.value + "," + trimmed(piece)))
            } else {
                throw SettingFault("begins with a piece that has no '='")
            }
        }
        return pairs
    }
}
