import Crypto
import EventLoop
import HTTPServing
import YAML

/// Reads the YAML of a file of hubs, and gathers all of its faults.
struct HubsReader {
    static let byteLimit = 1 << 20
    private static let keys = ["listen", "tls", "probes", "threads", "trust_forwarded_proto", "open_devices", "hubs"]
    private static let tlsKeys = ["certificate_file", "key_file"]

    /// All that was read so far, also where other parts are faulty.
    private(set) var configuration = HubsConfiguration()
    private var faults: [HubsFault.Item] = []
    /// The line of each name and of each state.
    private var lines: [String: Int] = [:]

    /// Reads a file.
    mutating func read(_ bytes: [UInt8]) throws(HubsFault) -> HubsConfiguration {
        let root: YAMLNode
        do throws(YAMLError) {
            root = try YAMLReader.read(bytes, byteLimit: Self.byteLimit, showing: YAMLNode.shown)
        } catch {
            throw HubsFault(error.message, line: error.mark.line)
        }
        guard case .mapping(let entries) = root.value else { throw HubsFault("expected keys such as hubs", line: root.mark.line) }
        for entry in entries { readCommon(entry) }
        checkRecords()
        if !entries.contains(where: { $0.key == "hubs" }) {
            faults.append(.init(line: nil, place: nil, sentence: "the key hubs is missing"))
        }
        guard faults.isEmpty else { throw HubsFault(faults.sorted { $0.line ?? 0 < $1.line ?? 0 }) }
        return configuration
    }

    private mutating func readCommon(_ entry: YAMLNode.Entry) {
        switch entry.key {
        case "hubs": readHubs(entry)
        case _ where Self.keys.contains(entry.key) && entry.node.isAbsent: note(entry, saying: "there is no value")
        case "listen": configuration.listen = address(entry) ?? configuration.listen
        case "probes": configuration.probes = address(entry)
        case "tls": readTLS(entry)
        case "threads":
            guard let count = entry.node.text.flatMap({ Int($0) }), (1...64).contains(count) else {
                return note(entry, saying: "expected 1 to 64 threads")
            }
            configuration.threadCount = count
        case "trust_forwarded_proto": configuration.trustsForwardedProto = isOn(entry)
        case "open_devices": configuration.opensDevices = isOn(entry)
        default: note(entry, saying: YAMLNode.unknown(entry.key, among: Self.keys), isNamed: false)
        }
    }

    private mutating func isOn(_ entry: YAMLNode.Entry) -> Bool {
        if let isOn = entry.node.text.flatMap({ Bool($0) }) { return isOn }
        note(entry, saying: HubReader.switchRule)
        return false
    }

    private mutating func address(_ entry: YAMLNode.Entry) -> String? {
        guard let text = entry.node.text, HTTPServerConfiguration.host(of: text) != nil else {
            note(entry, saying: "expected HOST:PORT, IPv6 in brackets")
            return nil
        }
        return text
    }

    private mutating func readTLS(_ entry: YAMLNode.Entry) {
        guard case .mapping(let parts) = entry.node.value else {
            return note(entry, saying: "expected the keys \(Self.tlsKeys.joined(separator: " and "))")
        }
        for part in parts where !Self.tlsKeys.contains(part.key) {
            note(part, saying: YAMLNode.unknown(part.key, among: Self.tlsKeys), isNamed: false)
        }
        let paths = Self.tlsKeys.map { key in parts.first { $0.key == key }?.node.path }
        guard let certificate = paths[0], let key = paths[1] else {
            return note(entry, saying: "expected a certificate_file and a key_file, each a path from / on")
        }
        configuration.tls = .init(certificateFile: certificate, keyFile: key)
        configuration.files += [certificate, key]
        for part in parts {
            if let fault = Self.fault(ofTLS: part) { note(part, saying: fault) }
        }
    }

    /// The fault of a file of the certificate or its key.
    private static func fault(ofTLS part: YAMLNode.Entry) -> String? {
        guard tlsKeys.contains(part.key), let path = part.node.path else { return nil }
        let text: String
        do throws(FileError<HubsFault>) {
            text = String(decoding: try FileStore<FileText>(path).read().bytes, as: UTF8.self)
        } catch {
            return "the file \(error)"
        }
        guard part.key == "key_file" else {
            return (try? CertificateEnds(pem: text)) == nil ? "the file has no certificate as PEM" : nil
        }
        return text.contains("PRIVATE KEY-----") ? nil : "the file has no private key as PEM"
    }

    private mutating func readHubs(_ entry: YAMLNode.Entry) {
        guard case .sequence(let nodes) = entry.node.value, (1...HubsConfiguration.maximumHubCount).contains(nodes.count) else {
            return note(entry, saying: "expected a list of 1 to \(HubsConfiguration.maximumHubCount) hubs")
        }
        for node in nodes {
            var reader = HubReader(node)
            let hub = reader.read()
            faults += reader.faults
            configuration.files += reader.files
            guard let hub else { continue }
            let line = node.mark.line
            // Names are compared without regard to case, as in paths of requests.
            for (key, word) in [
                ("name \(hub.name.lowercased())", "name"), ("state \(HubsConfiguration.folded(hub.state))", "state"),
            ] {
                guard let former = lines.updateValue(line, forKey: key) else { continue }
                faults.append(.init(line: line, place: hub.name, sentence: "the hub in line \(former) has this \(word) already"))
            }
            configuration.hubs.append(hub)
        }
    }

    /// Finds records of pushes that would be written into another file.
    private mutating func checkRecords() {
        for hub in configuration.hubs {
            guard let user = hub.recordFile.flatMap({ configuration.user(ofRecord: $0, besides: hub) }) else { continue }
            let line = lines["name \(hub.name.lowercased())"]
            faults.append(.init(line: line, place: "\(hub.name), record_file", sentence: "this file \(user)"))
        }
    }

    private mutating func note(_ entry: YAMLNode.Entry, saying sentence: String, isNamed: Bool = true) {
        faults.append(.init(line: entry.mark.line, place: isNamed ? entry.key : nil, sentence: sentence))
    }
}
