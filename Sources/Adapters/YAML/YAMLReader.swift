internal import Basics

/// Turns the bytes of a settings file into a tree, within limits that no settings file needs to exceed.
///
/// Refused besides what is not YAML: anchors' aliases (they can make a small file huge), tags (they choose types), keys that are not
/// text, a key twice in one mapping, and more than one document.
package struct YAMLReader: ~Copyable {
    /// The most bytes a file may have, where nothing else is said.
    package static let byteLimit = 1 << 20
    /// The most scalars, sequences and mappings, where nothing else is said.
    package static let nodeLimit = 10_000
    /// The most sequences and mappings inside each other.
    static let depthLimit = 32

    private var parser: YAMLParser
    private let showing: (String) -> String
    private let nodeLimit: Int
    private var nodeCount = 0

    private init(_ parser: consuming YAMLParser, nodeLimit: Int, showing: @escaping (String) -> String) {
        self.parser = parser
        self.nodeLimit = nodeLimit
        self.showing = showing
    }

    /// Reads one document of UTF-8, with or without a byte-order mark. An empty file is an empty mapping. An error has the place
    /// and a plain sentence, in which `showing` says how a key of the file is written.
    package static func read(
        _ bytes: [UInt8], byteLimit: Int = byteLimit, nodeLimit: Int = nodeLimit,
        showing: @escaping (String) -> String = { "\"\($0)\"" }
    ) throws(YAMLError) -> YAMLNode {
        guard bytes.count <= byteLimit else {
            throw YAMLError(
                mark: YAMLMark(line: 1, column: 1), message: "the file has \(bytes.count) bytes, more than \(byteLimit)")
        }
        let content = Array(bytes.withoutByteOrderMark)
        return try content.withUnsafeBufferPointer { (buffer) throws(YAMLError) -> YAMLNode in
            var reader = YAMLReader(try YAMLParser(buffer), nodeLimit: nodeLimit, showing: showing)
            return try reader.document()
        }
    }

    private mutating func document() throws(YAMLError) -> YAMLNode {
        _ = try parser.next()
        let start = try parser.next()
        guard case .documentStart = start.kind else { return YAMLNode(value: .mapping([]), mark: start.mark) }
        let root = try node(try parser.next(), depth: 0)
        _ = try parser.next()
        let end = try parser.next()
        guard case .streamEnd = end.kind else {
            throw YAMLError(mark: end.mark, message: "a second document begins here; a file has one")
        }
        return root.isAbsent ? YAMLNode(value: .mapping([]), mark: root.mark) : root
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
        nodeCount += 1
        guard nodeCount <= nodeLimit else {
            throw YAMLError(mark: event.mark, message: "the file has more than \(nodeLimit) values")
        }
        guard depth <= Self.depthLimit else {
            throw YAMLError(mark: event.mark, message: "the file is nested more than \(Self.depthLimit) levels deep")
        }
        guard !event.hasTag else {
            throw YAMLError(mark: event.mark, message: "tags such as !!int are not supported; write the plain value")
        }
        switch event.kind {
        case .scalar(let text, let isQuoted): return YAMLNode(value: .scalar(text, isQuoted: isQuoted), mark: event.mark)
        case .sequenceStart: return YAMLNode(value: .sequence(try items(depth: depth)), mark: event.mark)
        case .mappingStart: return YAMLNode(value: .mapping(try entries(depth: depth)), mark: event.mark)
        case .alias: throw YAMLError(mark: event.mark, message: "aliases (*name) are not supported; repeat the value")
        case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
            throw YAMLError(mark: event.mark, message: "a value is missing here")
        }
    }

    private mutating func items(depth: Int) throws(YAMLError) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while true {
            let event = try parser.next()
            if case .sequenceEnd = event.kind { return items }
            items.append(try node(event, depth: depth + 1))
        }
    }

    private mutating func entries(depth: Int) throws(YAMLError) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        var lines: [String: Int] = [:]
        while true {
            let event = try parser.next()
            if case .mappingEnd = event.kind { return entries }
            guard case .scalar(let key, _) = try node(event, depth: depth + 1).value else {
                throw YAMLError(mark: event.mark, message: "a key must be text")
            }
            if let line = lines.updateValue(event.mark.line, forKey: key) {
                let message = "the key \(showing(key)) stands in line \(line) already"
                throw YAMLError(mark: event.mark, message: message)
            }
            entries.append(.init(key: key, mark: event.mark, node: try node(try parser.next(), depth: depth + 1)))
        }
    }
}
