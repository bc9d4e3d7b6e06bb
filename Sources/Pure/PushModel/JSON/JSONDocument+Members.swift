/// Members of an object by their names, where they are of the kind that is wanted.
extension JSONDocument {
    /// The content of the string member `name` of an object, or nil.
    public func text(_ name: StaticString, of node: Node) -> String? {
        guard let value = member(name, of: node), kind(of: value) == .string else { return nil }
        return string(text(of: value))
    }

    /// The integer member `name` of an object, or nil, also for one outside of `range`.
    public func integer(_ name: StaticString, of node: Node, within range: ClosedRange<Int64> = .min ... .max) -> Int64? {
        guard let value = member(name, of: node), let number = integer(at: value), range.contains(number) else { return nil }
        return number
    }

    /// The moment that a member of an object says, if it says one.
    public func moment(_ name: StaticString, of node: Node) -> Timestamp? {
        guard let value = member(name, of: node), kind(of: value) == .string else { return nil }
        return Timestamp(span(text(of: value)))
    }

    /// True if a member of an object is true.
    public func isTrue(_ name: StaticString, of node: Node) -> Bool {
        member(name, of: node).map { kind(of: $0) == .true } ?? false
    }

    /// The strings of an array, or nil for what is none, or has anything else in it.
    public func texts(at node: Node) -> [String]? {
        guard kind(of: node) == .array else { return nil }
        var texts: [String] = []
        var elements = children(of: node)
        while let (_, element) = elements.next(in: self) {
            guard kind(of: element) == .string else { return nil }
            texts.append(string(text(of: element)))
        }
        return texts
    }
}
