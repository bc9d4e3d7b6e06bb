/// Reads the values of a request's fields, and collects what is wrong with them instead of stopping at the first fault.
struct FieldReader {
    typealias Node = JSONDocument.Node
    typealias Text = JSONDocument.Text

    private(set) var faults: [RequestFault] = []

    mutating func fault(_ code: ErrorCode = .schemaInvalid, at node: Node, in document: borrowing JSONDocument, _ message: String) {
        // A hostile record may be wrong in ten thousand places; the first ones tell enough.
        if faults.count < 32 { faults.append(RequestFault(code, document.pointer(to: node), message)) }
    }

    mutating func fault(_ code: ErrorCode = .schemaInvalid, pointer: String, _ message: String) {
        if faults.count < 32 { faults.append(RequestFault(code, pointer, message)) }
    }

    /// A string of `range` characters (Unicode scalars, as JSON Schema counts).
    mutating func text(_ node: Node, _ document: borrowing JSONDocument, _ range: ClosedRange<Int>) -> Text? {
        guard document.kind(of: node) == .string else {
            fault(at: node, in: document, "This must be a string.")
            return nil
        }
        let text = document.text(of: node)
        guard range.contains(characterCount(document.span(text))) else {
            let limit = "at least \(range.lowerBound) and at most \(range.upperBound)"
            fault(at: node, in: document, "This has \(characterCount(document.span(text))) characters; \(limit) are allowed.")
            return nil
        }
        return text
    }

    /// A string that matches a class of characters.
    mutating func text(
        _ node: Node, _ document: borrowing JSONDocument, _ range: ClosedRange<Int>, _ allowed: CharacterClass
    ) -> Text? {
        guard let text = text(node, document, range) else { return nil }
        guard allowed.matches(document.span(text)) else {
            fault(at: node, in: document, "This may hold only \(allowed.explanation).")
            return nil
        }
        return text
    }

    mutating func integer(_ node: Node, _ document: borrowing JSONDocument, _ range: ClosedRange<Int64>) -> Int64? {
        guard let value = document.integer(at: node), range.contains(value) else {
            fault(at: node, in: document, "This must be a whole number from \(range.lowerBound) to \(range.upperBound).")
            return nil
        }
        return value
    }

    mutating func boolean(_ node: Node, _ document: borrowing JSONDocument) -> Bool {
        switch document.kind(of: node) {
        case .true: return true
        case .false: return false
        default:
            fault(at: node, in: document, "This must be true or false.")
            return false
        }
    }

    mutating func moment(_ node: Node, _ document: borrowing JSONDocument) -> Timestamp? {
        if document.kind(of: node) == .string, let moment = Timestamp(document.span(document.text(of: node))) { return moment }
        fault(at: node, in: document, "This must be a date and time with an offset, such as 2026-11-21T17:00:00Z.")
        return nil
    }

    /// One of a few words.
    mutating func word<Word: CaseIterable>(_ node: Node, _ document: borrowing JSONDocument, of type: Word.Type) -> Word? {
        if document.kind(of: node) == .string {
            let text = document.string(document.text(of: node))
            if let word = type.allCases.first(where: { String(describing: $0) == text }) { return word }
        }
        let words = type.allCases.map { String(describing: $0) }.joined(separator: ", ")
        fault(at: node, in: document, "This must be one of: \(words).")
        return nil
    }

    /// An object; its members are still to be looked at.
    mutating func object(
        _ node: Node, _ document: borrowing JSONDocument, memberCount: ClosedRange<Int> = 0...Int.max
    ) -> Node? {
        guard document.kind(of: node) == .object else {
            fault(at: node, in: document, "This must be an object.")
            return nil
        }
        guard memberCount.contains(document.childCount(of: node)) else {
            let limit = "\(memberCount.lowerBound) to \(memberCount.upperBound)"
            fault(at: node, in: document, "This has \(document.childCount(of: node)) members; \(limit) are allowed.")
            return nil
        }
        return node
    }

    /// A flat object of strings.
    mutating func strings(
        _ node: Node, _ document: borrowing JSONDocument, memberCount: ClosedRange<Int>, nameLength: Int, valueLength: Int
    ) -> Node? {
        guard let object = object(node, document, memberCount: memberCount) else { return nil }
        let before = faults.count
        var members = document.children(of: object)
        while let (key, value) = members.next(in: document) {
            if characterCount(document.span(document.text(of: key))) > nameLength {
                fault(at: key, in: document, "This name has more than \(nameLength) characters.")
            }
            _ = text(value, document, 0...valueLength)
        }
        return faults.count == before ? object : nil
    }

    /// An array of `range` distinct strings.
    mutating func distinctStrings(
        _ node: Node, _ document: borrowing JSONDocument, _ range: ClosedRange<Int>, length: ClosedRange<Int>,
        _ allowed: CharacterClass? = nil
    ) -> Node? {
        guard document.kind(of: node) == .array, range.contains(document.childCount(of: node)) else {
            fault(at: node, in: document, "This must be an array of \(range.lowerBound) to \(range.upperBound) strings.")
            return nil
        }
        let before = faults.count
        var elements = document.children(of: node)
        while let (_, element) = elements.next(in: document) {
            if let allowed { _ = text(element, document, length, allowed) } else { _ = text(element, document, length) }
        }
        guard faults.count == before else { return nil }
        noteRepeats(in: node, document)
        return faults.count == before ? node : nil
    }

    private mutating func noteRepeats(in node: Node, _ document: borrowing JSONDocument) {
        guard document.childCount(of: node) > 1 else { return }
        var seen: Set<String> = []
        var elements = document.children(of: node)
        while let (_, element) = elements.next(in: document) {
            if !seen.insert(document.string(document.text(of: element))).inserted {
                fault(at: element, in: document, "This stands in the list before; each may be named once.")
            }
        }
    }
}

/// A class of characters that a name may be made of.
struct CharacterClass {
    let explanation: String
    private let isAllowed: @Sendable (UInt8) -> Bool
    private let mayStart: @Sendable (UInt8) -> Bool

    private init(
        _ explanation: String, start: (@Sendable (UInt8) -> Bool)? = nil, _ isAllowed: @escaping @Sendable (UInt8) -> Bool
    ) {
        self.explanation = explanation
        self.isAllowed = isAllowed
        mayStart = start ?? isAllowed
    }

    func matches(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where !(index == 0 ? mayStart(text[index]) : isAllowed(text[index])) { return false }
        return true
    }

    static let identifier = CharacterClass("letters, digits and . _ : -") { isAlphanumeric($0) || isOne(of: "._:-", $0) }
    static let slug = CharacterClass(
        "small letters, digits and . _ -, and must start with a letter or digit",
        start: { isSmallLetter($0) || isDigit($0) }, { isSmallLetter($0) || isDigit($0) || isOne(of: "._-", $0) })
    static let tag = CharacterClass("letters, digits and _ @ # . : -") { isAlphanumeric($0) || isOne(of: "_@#.:-", $0) }
    static let labelName = CharacterClass(
        "small letters, digits and _, and must start with a letter", start: isSmallLetter,
        { isSmallLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") })

    private static let isSmallLetter: @Sendable (UInt8) -> Bool = { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isAlphanumeric(_ byte: UInt8) -> Bool { isSmallLetter(byte | 0x20) || isDigit(byte) }
    private static func isOne(of characters: String, _ byte: UInt8) -> Bool { characters.utf8.contains(byte) }
}

/// The number of Unicode scalars of well-formed UTF-8.
func characterCount(_ text: Span<UInt8>) -> Int {
    var count = 0
    for index in text.indices where text[index] & 0xC0 != 0x80 { count += 1 }
    return count
}
