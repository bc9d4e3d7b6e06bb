import Basics
import EventLoop
import HubAuth
import HubServer
import YAML

/// Reads one hub of the file, and gathers all of its faults.
struct HubReader {
    static let switchRule = "expected true or false"
    private static let nameRule = "expected 1 to 260 letters, digits, '.', '-' and '_', and no path beside the hubs"
    private static let keys = [
        "name", "state", "policies", "tier", "check_host", "handle_key_file", "telemetry_retention", "message_lifetime",
        "record_file",
    ]
    private static let policyKeys = ["name", "key", "key_file", "rights"]
    private static let retentions = Duration.seconds(3600)...Duration.seconds(366 * 86_400)
    private static let lifetimes = Duration.seconds(10)...Duration.seconds(30 * 86_400)
    private static let policyLimit = 100

    private let node: YAMLNode
    private(set) var faults: [HubsFault.Item] = []
    /// The files that were read.
    private(set) var files: [String] = []
    private var name: String?

    init(_ node: YAMLNode) { self.node = node }

    /// Reads it. Nil where it has no name or state that can be used, for a fault that was noted.
    mutating func read() -> HubsConfiguration.Hub? {
        guard case .mapping(let entries) = node.value else {
            note(nil, saying: "expected the keys of a hub")
            return nil
        }
        name = entries.first { $0.key == "name" }.flatMap { $0.node.text }.flatMap { Self.isName($0) ? $0 : nil }
        for key in ["name", "state"] where !entries.contains(where: { $0.key == key }) {
            note(nil, saying: "the key \(key) is missing")
        }
        var hub = HubsConfiguration.Hub(name: name ?? "", state: "")
        for entry in entries {
            // A term that lost its value to a mistake must not change what the hub allows.
            if Self.keys.contains(entry.key), entry.node.isAbsent {
                note(entry, saying: "there is no value")
            } else {
                readTerm(entry, of: &hub)
            }
        }
        return name == nil || hub.state.isEmpty ? nil : hub
    }

    private mutating func readTerm(_ entry: YAMLNode.Entry, of hub: inout HubsConfiguration.Hub) {
        switch entry.key {
        case "name":
            if name == nil { note(entry, saying: Self.nameRule) }
        case "state": hub.state = value(of: entry, by: \.path, else: YAMLNode.pathRule) ?? ""
        case "policies": hub.policies = readPolicies(entry)
        case "tier":
            let tiers = HubTier.allCases.map(\.rawValue).joined(separator: ", ")
            hub.tier = value(of: entry, by: { $0.text.flatMap(HubTier.init) }, else: "expected one of \(tiers)") ?? hub.tier
        case "check_host":
            hub.checksHost = value(of: entry, by: { $0.text.flatMap { Bool($0) } }, else: Self.switchRule) ?? false
        case "handle_key_file": hub.handleKeyFile = readHandleKey(entry)
        case "telemetry_retention":
            hub.telemetryRetention = duration(entry, in: Self.retentions) ?? hub.telemetryRetention
        case "message_lifetime": hub.messageLifetime = duration(entry, in: Self.lifetimes) ?? hub.messageLifetime
        case "record_file": hub.recordFile = value(of: entry, by: \.path, else: YAMLNode.pathRule)
        default: note(nil, saying: YAMLNode.unknown(entry.key, among: Self.keys), line: entry.mark.line)
        }
    }

    private mutating func readHandleKey(_ entry: YAMLNode.Entry) -> String? {
        guard let path = value(of: entry, by: \.path, else: YAMLNode.pathRule) else { return nil }
        files.append(path)
        do throws(FileError<HandleKeyFile.Reason>) { _ = try FileStore<HandleKeyFile>(path).read() } catch {
            note(entry, saying: "the file \(error)")
        }
        return path
    }

    private mutating func readPolicies(_ entry: YAMLNode.Entry) -> [HubPolicy] {
        guard case .sequence(let nodes) = entry.node.value, (1...Self.policyLimit).contains(nodes.count) else {
            note(entry, saying: "expected a list of 1 to \(Self.policyLimit) policies")
            return []
        }
        var names: Set<String> = []
        return nodes.flatMap { node -> [HubPolicy] in
            let policies = readPolicy(node)
            guard let name = policies.first?.name, !names.insert(name).inserted else { return policies }
            note(nil, saying: "a policy before it has this name already", line: node.mark.line)
            return []
        }
    }

    /// Reads a policy, once for each of its keys.
    private mutating func readPolicy(_ node: YAMLNode) -> [HubPolicy] {
        guard case .mapping(let entries) = node.value else {
            note(nil, saying: "expected the keys of a policy", line: node.mark.line)
            return []
        }
        for entry in entries where !Self.policyKeys.contains(entry.key) {
            note(nil, saying: YAMLNode.unknown(entry.key, among: Self.policyKeys), line: entry.mark.line)
        }
        let names = entries.first { $0.key == "name" }.flatMap { Self.policyName($0.node.text) }
        if names == nil { note(nil, saying: "a policy needs a name, 1 to 256 visible characters", line: node.mark.line) }
        let rights = readRights(entries.first { $0.key == "rights" })
        let givers = entries.filter { ["key", "key_file"].contains($0.key) }
        guard let giver = givers.first, givers.count == 1 else {
            note(nil, saying: "a policy needs either key or key_file", line: node.mark.line)
            return []
        }
        let keys = giver.key == "key" ? readKeys(giver) : readKeyFile(giver)
        guard let name = names, let rights else { return [] }
        return keys.map { HubPolicy(name: name, key: $0, rights: rights) }
    }

    private mutating func readKeys(_ entry: YAMLNode.Entry) -> [String] {
        let texts = entry.node.texts ?? []
        let keys = texts.compactMap(KeyFile.key)
        guard (1...KeyFile.keyLimit).contains(texts.count), keys.count == texts.count, !entry.node.isAbsent else {
            note(entry, saying: texts.count > KeyFile.keyLimit ? "expected one key or two" : KeyFile.rule)
            return []
        }
        return keys
    }

    private mutating func readKeyFile(_ entry: YAMLNode.Entry) -> [String] {
        guard let path = value(of: entry, by: \.path, else: YAMLNode.pathRule) else { return [] }
        files.append(path)
        do throws(FileError<LineFault<KeyFile.Reason>>) { return try FileStore<KeyFile>(path).read().keys } catch {
            note(entry, saying: "the file \(error)")
            return []
        }
    }

    /// The rights of a policy: all where none are given, nil for a fault.
    private mutating func readRights(_ entry: YAMLNode.Entry?) -> SASRights? {
        guard let entry else { return .all }
        let names = entry.node.texts?.flatMap { $0.split(separator: ",").map { $0.filter { $0 != " " } } }
        return value(
            of: entry, by: { _ in names.flatMap { SASRights(names: $0.joined(separator: ",")) } },
            else: "expected a list of Listen, Send and Manage")
    }

    private mutating func duration(_ entry: YAMLNode.Entry, in range: ClosedRange<Duration>) -> Duration? {
        let bounds = "\(WrittenDuration.text(range.lowerBound)) to \(WrittenDuration.text(range.upperBound))"
        let read = { (node: YAMLNode) in node.text.flatMap(WrittenDuration.init)?.duration }
        return value(
            of: entry, by: { read($0).flatMap { range.contains($0) ? $0 : nil } },
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

    private static func isName(_ text: String) -> Bool {
        (try? HubName(text)) != nil && !HubsConfiguration.isReserved(text)
    }

    private static func policyName(_ text: String?) -> String? {
        guard let text, (1...256).contains(text.utf8.count) else { return nil }
        return text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !";=&".utf8.contains($0) } ? text : nil
    }
}
