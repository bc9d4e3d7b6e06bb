public import PushModel

/// The calls of an audience that comes name by name: no more than one call is held, however long the audience is.
///
/// ```
/// var stream = planner.stream(of: .users)
/// while let name = readName() {
///     if try stream.add(name) { send(stream.tags, stream.chunk) }
/// }
/// if stream.finish() { send(stream.tags, stream.chunk) }
/// ```
///
/// The same names in the same order give the same calls. A name that comes twice in one call does no harm; in two calls it rings
/// twice, and whoever cannot rule that out has to remember the names.
public struct TagStream: Sendable {
    private let pattern: TagPattern
    private var joiner = TagJoiner()
    private var bytes = ByteWriter(capacity: 2048)
    private var complete: FanOutPlan.Tags?

    /// The number of the call that the names are for, from 0.
    public private(set) var chunk = 0

    init(_ pattern: TagPattern) { self.pattern = pattern }

    /// Adds a name to the call, which is another one after a call that was complete.
    ///
    /// - Parameter name: A user's name, or an installation's id or a category, which is letters, digits and `_ @ # . : -`.
    /// - Returns: Whether the call is complete with it.
    /// - Throws: The fault of a name that makes no tag; the call is as it was.
    public mutating func add(_ name: Span<UInt8>) throws(RequestFault) -> Bool {
        let form = try pattern.form(of: name)
        if complete != nil { begin() }
        if let form {
            joiner.add(form.span, pattern: pattern, to: &bytes)
        } else {
            joiner.add(name, pattern: pattern, to: &bytes)
        }
        guard joiner.isFull else { return false }
        complete = joiner.close(pattern, in: &bytes)
        return true
    }

    /// Completes the last call. Returns whether there is one: names that came after the call before it.
    public mutating func finish() -> Bool {
        if complete != nil { begin() }
        complete = joiner.close(pattern, in: &bytes)
        return complete != nil
    }

    /// The value of the complete call's header, until the next name. Empty before a call is complete.
    public var tags: Span<UInt8> {
        @_lifetime(borrow self)
        borrowing get { bytes.span.extracting(complete?.range ?? 0..<0) }
    }

    private mutating func begin() {
        complete = nil
        bytes.removeAll()
        chunk += 1
    }
}

extension TagPattern {
    /// Checks a name: what stands in a header must not be able to say more than a name. Throws the fault of one that makes no
    /// tag.
    func check(_ name: Span<UInt8>) throws(RequestFault) {
        guard !name.isEmpty else { throw RequestFault(.tagExpressionInvalid, at: "", message: HubTag.Problem.empty.sentence) }
        for index in name.indices where !name[index].isTagCharacter {
            throw RequestFault(.tagExpressionInvalid, at: "", message: HubTag.Problem.invalidCharacter(offset: index).sentence)
        }
        guard name.count <= longestName else { throw tooLong(name.count) }
    }
}

extension HubTag.Problem {
    fileprivate var sentence: String { "This makes no tag: \(description)." }
}
