import Basics
import EventLoop
import Webhooks
import YAML

/// Reads the YAML of a file of receivers, and gathers all of its faults.
struct ReceiversReader {
    static let secretLimit = 2
    static let secretRule = "expected whsec_ and 24 to 64 bytes in base64"
    private static let listLimit = 1000
    private static let keys = ["receivers", "allowed_networks", "allow_plain", "ca_file"]

    private(set) var plans: [ReceiversFile.Plan] = []
    private(set) var common = ReceiverSet()
    private var faults: [ReceiversFault.Item] = []
    /// The line of each name.
    private var lines: [String: Int] = [:]

    /// Reads a file.
    mutating func read(_ bytes: [UInt8]) throws(ReceiversFault) {
        let root: YAMLNode
        do throws(YAMLError) {
            root = try YAMLReader.read(
                bytes, byteLimit: ReceiversFile.maximumByteCount, nodeLimit: 200_000, showing: ReceiverReader.shown)
        } catch {
            throw ReceiversFault(error.message, line: error.mark.line)
        }
        guard case .mapping(let entries) = root.value else {
            throw ReceiversFault("expected keys such as receivers", line: root.mark.line)
        }
        // The rest of the file decides which addresses are right.
        for entry in entries where entry.key != "receivers" { readCommon(entry) }
        guard let list = entries.first(where: { $0.key == "receivers" }) else {
            throw ReceiversFault(faults + [.init(line: nil, place: nil, sentence: "the key receivers is missing")])
        }
        readReceivers(list)
        guard faults.isEmpty else { throw ReceiversFault(faults.sorted { $0.line ?? 0 < $1.line ?? 0 }) }
    }

    private mutating func readCommon(_ entry: YAMLNode.Entry) {
        guard !entry.node.isAbsent else { return }
        switch entry.key {
        case "allowed_networks":
            guard let texts = entry.node.texts, texts.count <= Self.listLimit else {
                return note(entry, saying: "expected a list of at most \(Self.listLimit) networks")
            }
            let networks = texts.compactMap(NetworkRange.init)
            if networks.count < texts.count {
                note(entry, saying: "expected networks such as 10.1.0.0/16, without a bit behind the length")
            }
            common.allowedNetworks = networks
        case "allow_plain":
            guard let isAllowed = entry.node.text.flatMap({ Bool($0) }) else {
                return note(entry, saying: "expected true or false")
            }
            common.allowsPlain = isAllowed
        case "ca_file":
            guard let path = entry.node.path else { return note(entry, saying: YAMLNode.pathRule) }
            common.caFile = path
        default:
            faults.append(.init(line: entry.mark.line, place: nil, sentence: ReceiverReader.unknown(entry.key, among: Self.keys)))
        }
    }

    private mutating func readReceivers(_ entry: YAMLNode.Entry) {
        if entry.node.isAbsent { return }
        guard case .sequence(let nodes) = entry.node.value, nodes.count <= ReceiversFile.maximumReceiverCount else {
            return note(entry, saying: "expected a list of at most \(ReceiversFile.maximumReceiverCount) receivers")
        }
        for node in nodes {
            var reader = ReceiverReader(node, within: common)
            let plan = reader.read()
            faults += reader.faults
            guard let plan else { continue }
            let name = plan.receiver.name
            if let line = lines.updateValue(plan.line, forKey: name) {
                faults.append(.init(line: plan.line, place: name, sentence: "the receiver in line \(line) has this name already"))
            }
            plans.append(plan)
        }
    }

    private mutating func note(_ entry: YAMLNode.Entry, saying sentence: String) {
        faults.append(.init(line: entry.mark.line, place: entry.key, sentence: sentence))
    }
}
