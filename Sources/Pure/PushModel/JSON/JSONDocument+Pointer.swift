extension JSONDocument {
    /// The most bytes that are written of a JSON Pointer. A longer one is cut and ends in `…`.
    ///
    /// Pointers go into results and headers, and a name inside a record may be as long as the record.
    public static let maximumPointerByteCount = 512

    /// The JSON Pointer (RFC 6901) of the value or key at `node`.
    public func pointer(to node: Node) -> String {
        var path = ByteWriter()
        var container = root
        while container != node, let step = child(of: container, holding: node) {
            append(step.key, position: step.position, to: &path)
            container = step.value
        }
        return Self.cut(path)
    }

    /// The JSON Pointer that leads from the root over `steps`.
    func pointer(over steps: [JSONReader.Step]) -> String {
        var path = ByteWriter()
        for step in steps { append(step.key, position: step.position, to: &path) }
        return Self.cut(path)
    }

    /// The child of `container` that is `node` or has it inside, and its key when `container` is an object.
    private func child(of container: Node, holding node: Node) -> (key: Node?, position: Int, value: Node)? {
        guard var current = firstChild(of: container) else { return nil }
        let isObject = kind(of: container) == .object
        for position in 0..<childCount(of: container) {
            let value = isObject ? next(after: current) : current
            let end = next(after: value)
            if node.index < end.index { return (isObject ? current : nil, position, node == current ? node : value) }
            current = end
        }
        return nil
    }

    /// Appends one step: a member's name, with `~` and `/` as RFC 6901 writes them, or an element's position.
    private func append(_ key: Node?, position: Int, to path: inout ByteWriter) {
        path.append(UInt8(ascii: "/"))
        guard let key else {
            path.append(decimal: position)
            return
        }
        let name = span(text(of: key))
        for index in 0..<min(name.count, Self.maximumPointerByteCount) {
            switch name[index] {
            case UInt8(ascii: "~"): path.append("~0")
            case UInt8(ascii: "/"): path.append("~1")
            default: path.append(name[index])
            }
        }
    }

    /// The first bytes of `path` that may be written, without half a character or half an escape at the end.
    private static func cut(_ path: ByteWriter) -> String {
        guard path.count > maximumPointerByteCount else { return path.text }
        let bytes = path.bytes
        var end = maximumPointerByteCount
        while end > 0 && (bytes[end] & 0xC0 == 0x80 || bytes[end - 1] == UInt8(ascii: "~")) { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + "…"
    }
}
