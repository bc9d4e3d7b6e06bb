/// A JSON object on one line, under construction.
public struct JSONObject: Sendable {
    private var writer = ByteWriter()

    /// An object without members.
    public init() { writer.append(UInt8(ascii: "{")) }

    /// An object that goes on behind the members of another, which is whole and has at least one.
    public init(continuing object: [UInt8]) { writer.append(object.span.extracting(0..<object.count - 1)) }

    /// Adds a text; nothing when there is none.
    public mutating func add(_ name: String, value: String?) {
        guard let value else { return }
        begin(name)
        writer.append(json: value)
    }

    /// Adds a number.
    public mutating func add(_ name: String, value: Int) {
        begin(name)
        writer.append(decimal: value)
    }

    /// Adds true or false.
    public mutating func add(_ name: String, value: Bool) {
        begin(name)
        writer.append(value ? "true" : "false")
    }

    /// Adds a value that is JSON already.
    public mutating func add(_ name: String, raw: [UInt8]) {
        begin(name)
        writer.append(raw.span)
    }

    /// Adds an array of values that are JSON already.
    public mutating func add(_ name: String, array: [[UInt8]]) {
        begin(name)
        writer.append(UInt8(ascii: "["))
        writer.append(list: array) { $0.append($1.span) }
        writer.append(UInt8(ascii: "]"))
    }

    /// Adds an array of texts; nothing when it is empty.
    public mutating func add(_ name: String, texts: [String]) {
        guard !texts.isEmpty else { return }
        add(name, array: texts.map(Self.text))
    }

    /// Adds an object of numbers above 0, sorted by their names.
    public mutating func add(_ name: String, counts: [(name: String, count: Int)]) {
        var object = JSONObject()
        for (name, count) in counts.sorted(by: { $0.name < $1.name }) where count > 0 { object.add(name, value: count) }
        add(name, raw: object.bytes)
    }

    /// Adds an object of texts; nothing when it is empty.
    public mutating func add(_ name: String, pairs: [(name: String, value: String)]) {
        guard !pairs.isEmpty else { return }
        var object = JSONObject()
        for pair in pairs { object.add(pair.name, value: pair.value) }
        add(name, raw: object.bytes)
    }

    /// An object with these members, without those that are nil or empty lists.
    public init(_ members: KeyValuePairs<String, (any JSONMember)?>) {
        self.init()
        add(members)
    }

    /// Adds members, but not those that are nil or empty lists.
    public mutating func add(_ members: KeyValuePairs<String, (any JSONMember)?>) {
        for (name, value) in members { value?.add(to: &self, as: name) }
    }

    /// No member was added.
    public var isEmpty: Bool { writer.count == 1 }

    /// The object.
    public var bytes: [UInt8] { writer.bytes + [UInt8(ascii: "}")] }

    /// A JSON string.
    public static func text(_ value: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(json: value)
        return writer.bytes
    }

    private mutating func begin(_ name: String) {
        if !isEmpty { writer.append(UInt8(ascii: ",")) }
        writer.append(json: name)
        writer.append(UInt8(ascii: ":"))
    }
}

/// A value that `JSONObject` can have as a member.
public protocol JSONMember {
    /// Adds this value to an object.
    func add(to object: inout JSONObject, as name: String)
}

extension String: JSONMember {
    /// Adds a text.
    public func add(to object: inout JSONObject, as name: String) { object.add(name, value: self) }
}

extension Int: JSONMember {
    /// Adds a number.
    public func add(to object: inout JSONObject, as name: String) { object.add(name, value: self) }
}

extension Bool: JSONMember {
    /// Adds true or false.
    public func add(to object: inout JSONObject, as name: String) { object.add(name, value: self) }
}

extension [String]: JSONMember {
    /// Adds texts, if there are any.
    public func add(to object: inout JSONObject, as name: String) { object.add(name, texts: self) }
}
