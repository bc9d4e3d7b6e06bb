/// Names of members that are looked for in one walk through an object.
public struct MemberNames: Sendable {
    private let places: NameTable<Int>

    /// Different names. Each has its place among them.
    public init(_ names: [StaticString]) {
        places = NameTable(names.enumerated().map { ("\($0.element)", $0.offset) })
    }

    /// Looks for the members of an object.
    ///
    /// - Parameters:
    ///   - node: The object. Any other value has no members.
    ///   - document: The document of it.
    ///   - values: Gets the value of each name at the name's place: of members with one name that of the first, or nil for none. It has so
    ///     many elements as there are names.
    public func find(of node: JSONDocument.Node, in document: borrowing JSONDocument, to values: inout [JSONDocument.Node?]) {
        for place in values.indices { values[place] = nil }
        var members = document.children(of: node)
        guard members.isObject else { return }
        while let (key, value) = members.next(in: document) {
            if let place = places.value(of: document.text(of: key), in: document), values[place] == nil { values[place] = value }
        }
    }
}
