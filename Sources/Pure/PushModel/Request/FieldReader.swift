import Basics

/// Reads the values of a request's fields, and collects what is wrong with them instead of stopping at the first fault.
struct FieldReader {
    typealias Node = JSONDocument.Node
    typealias Text = JSONDocument.Text

    static let maximumFaults = RequestFault.maximumCount

    /// The first faults, at most 32.
    private(set) var faults: [RequestFault] = []
    /// All faults, those that are not named included.
    private(set) var faultCount = 0
    /// Fields that the contract does not know.
    private(set) var unknownFieldCount = 0
    private let strictness: RequestReader.Strictness
    /// The JSON Pointer of the request inside the record.
    private let base: String

    init(_ strictness: RequestReader.Strictness, base: String) {
        self.strictness = strictness
        self.base = base
    }

    mutating func fault(at node: Node, in document: borrowing JSONDocument, message: String) {
        faultCount += 1
        if faults.count < Self.maximumFaults {
            faults.append(RequestFault(.schemaInvalid, at: document.pointer(to: node), message: message))
        }
    }

    /// Notes faults of texts that were found before anything was taken out of the document.
    mutating func note(_ found: [RequestFault]) {
        faultCount += found.count
        faults += found.prefix(Self.maximumFaults - faults.count)
    }

    /// The faults of names that stand twice and of texts with half a surrogate pair, wherever they are.
    static func textFaults(of document: borrowing JSONDocument) -> [RequestFault] {
        var faults: [RequestFault] = []
        for key in document.duplicateKeys {
            let pointer = document.pointer(to: key)
            faults.append(RequestFault(.schemaInvalid, at: pointer, message: "This name occurs twice in one object."))
        }
        for text in document.illFormedTexts {
            faults.append(RequestFault(.schemaInvalid, at: document.pointer(to: text), message: halfPair))
        }
        return faults
    }

    private static let halfPair =
        "This text has half a surrogate pair: a character beyond U+FFFF is two escapes, such as \\ud83d\\ude80."

    /// True for a text with half a surrogate pair. It is counted here, so that what it stands in is not used, and named once, by `textFaults`.
    private mutating func refusesHalfPair(at node: Node, in document: borrowing JSONDocument) -> Bool {
        guard document.isIllFormed(node) else { return false }
        faultCount += 1
        return true
    }

    /// A fault at `pointer`, counted from the request's own object.
    mutating func fault(pointer: String, message: String) {
        faultCount += 1
        if faults.count < Self.maximumFaults { faults.append(RequestFault(.schemaInvalid, at: base + pointer, message: message)) }
    }

    /// Counts a field that the contract does not know. To a strict reader it is a fault, with the name that was probably meant.
    /// `home` is the object that the name belongs to, if it is known elsewhere.
    mutating func unknown(
        _ key: Node, in document: borrowing JSONDocument, beside known: @autoclosure () -> [String],
        home: @autoclosure () -> String? = nil
    ) {
        unknownFieldCount += 1
        guard strictness == .strict else { return }
        var message = "The contract knows no field of this name here."
        // Only what is kept is worth a search.
        if faults.count < Self.maximumFaults {
            message += home().map { " It belongs into `\($0)`." } ?? suggestion(for: key, in: document, among: known())
        }
        fault(at: key, in: document, message: message)
    }

    /// A question that names the known word that was probably meant. To a tolerant reader, and where none is near, nothing.
    func suggestion(
        for key: Node, in document: borrowing JSONDocument, among known: @autoclosure () -> [String]
    ) -> String {
        let text = document.text(of: key)
        guard strictness == .strict, text.count <= 64 else { return "" }
        let name = document.string(text).lowercased()
        // Of a short name, two other letters make another word.
        let nearest = Spelling.nearest(to: name, among: known(), allowance: min(2, text.count / 3))
        return nearest.map { " Did you mean `\($0)`?" } ?? ""
    }

    /// Does so with every member of `object` whose name is not one of `known`.
    mutating func unknownMembers(of object: Node, in document: borrowing JSONDocument, beside known: [StaticString]) {
        var members = document.children(of: object)
        while let (key, _) = members.next(in: document) {
            let name = document.text(of: key)
            var isKnown = false
            for candidate in known where document.isEqual(name, to: candidate) { isKnown = true }
            if !isKnown { unknown(key, in: document, beside: known.map(\.description)) }
        }
    }

    /// A string of `range` characters (Unicode scalars, as JSON Schema counts).
    mutating func text(_ node: Node, in document: borrowing JSONDocument, length range: ClosedRange<Int>) -> Text? {
        guard document.kind(of: node) == .string else {
            fault(at: node, in: document, message: "This must be a string.")
            return nil
        }
        if refusesHalfPair(at: node, in: document) { return nil }
        let text = document.text(of: node)
        // A character has at least one byte: most texts need no counting.
        let isWithin = text.count <= range.upperBound && (range.lowerBound == 0 || range.lowerBound == 1 && !text.isEmpty)
        guard isWithin || range.contains(characterCount(document.span(text))) else {
            let limit = "at least \(range.lowerBound) and at most \(range.upperBound)"
            fault(
                at: node, in: document,
                message: "This has \(characterCount(document.span(text))) characters; \(limit) are allowed.")
            return nil
        }
        return text
    }

    /// A string that matches a class of characters.
    mutating func text(
        _ node: Node, in document: borrowing JSONDocument, length range: ClosedRange<Int>, of allowed: CharacterClass
    ) -> Text? {
        guard let text = text(node, in: document, length: range) else { return nil }
        guard allowed.matches(document.span(text)) else {
            fault(at: node, in: document, message: "This may hold only \(allowed.explanation).")
            return nil
        }
        return text
    }

    /// A platform, by the hub's word or another name of it.
    mutating func platform(_ node: Node, in document: borrowing JSONDocument) -> Platform? {
        guard let name = text(node, in: document, length: RequestLimits.platformName) else { return nil }
        if let platform = Platform(document.span(name)) { return platform }
        fault(at: node, in: document, message: Platform.refusal(of: document.string(name)))
        return nil
    }

    /// Brings a device's handle into its form. One that has it already is left as it is.
    mutating func readHandle(_ node: Node, on platform: Platform, in document: inout JSONDocument, form: inout ByteWriter) {
        guard let text = text(node, in: document, length: 0...Int.max) else { return }
        if DeviceToken.isNormalForm(document.span(text), on: platform) { return }
        form.removeAll()
        do throws(DeviceToken.Problem) {
            try DeviceToken.appendNormalForm(of: document.span(text), on: platform, to: &form)
            document.setText(of: node, to: form.span)
        } catch {
            fault(at: node, in: document, message: error.description)
        }
    }

    /// Notes the fault of a device's handle that no platform takes.
    mutating func checkHandle(_ node: Node, in document: borrowing JSONDocument) {
        guard let text = text(node, in: document, length: 0...Int.max) else { return }
        do throws(DeviceToken.Problem) {
            try DeviceToken.checkOnAny(document.span(text))
        } catch {
            fault(at: node, in: document, message: error.description)
        }
    }

    /// A user's name: what a tag may have, or any other that is addressable (`UserName`).
    mutating func userName(_ node: Node, in document: borrowing JSONDocument) -> Text? {
        guard let text = text(node, in: document, length: 0...Int.max) else { return nil }
        let bytes = document.span(text)
        let isShort = (1...UserName.maximumByteCount).contains(bytes.count)
        if isShort && CharacterClass.tag.matches(bytes) || UserName.isAddressable(document.string(text)) { return text }
        fault(at: node, in: document, message: UserName.refusal)
        return nil
    }

    mutating func integer(_ node: Node, in document: borrowing JSONDocument, within range: ClosedRange<Int64>) -> Int64? {
        guard let value = document.integer(at: node), range.contains(value) else {
            fault(at: node, in: document, message: "This must be a whole number from \(range.lowerBound) to \(range.upperBound).")
            return nil
        }
        return value
    }

    mutating func boolean(_ node: Node, in document: borrowing JSONDocument) -> Bool {
        switch document.kind(of: node) {
        case .true: return true
        case .false: return false
        default:
            fault(at: node, in: document, message: "This must be true or false.")
            return false
        }
    }

    mutating func moment(_ node: Node, in document: borrowing JSONDocument) -> Timestamp? {
        if document.kind(of: node) == .string, let moment = Timestamp(document.span(document.text(of: node))) { return moment }
        fault(at: node, in: document, message: "This must be a date and time with an offset, such as 2026-11-21T17:00:00Z.")
        return nil
    }

    /// One of a few words.
    mutating func word<Word>(_ node: Node, in document: borrowing JSONDocument, of words: NameTable<Word>) -> Word? {
        if document.kind(of: node) == .string, let word = words.value(of: document.text(of: node), in: document) { return word }
        fault(at: node, in: document, message: "This must be one of: \(words.list).")
        return nil
    }

    /// An object. Its members are still to be looked at.
    mutating func object(
        _ node: Node, in document: borrowing JSONDocument, memberCount: ClosedRange<Int> = 0...Int.max
    ) -> Node? {
        guard document.kind(of: node) == .object else {
            fault(at: node, in: document, message: "This must be an object.")
            return nil
        }
        guard memberCount.contains(document.childCount(of: node)) else {
            let limit = "\(memberCount.lowerBound) to \(memberCount.upperBound)"
            fault(at: node, in: document, message: "This has \(document.childCount(of: node)) members; \(limit) are allowed.")
            return nil
        }
        return node
    }

    /// A flat object of strings.
    mutating func strings(
        _ node: Node, in document: borrowing JSONDocument, within limits: RequestLimits.Map
    ) -> Node? {
        guard let object = object(node, in: document, memberCount: limits.members) else { return nil }
        let before = faultCount
        var members = document.children(of: object)
        while let (key, value) = members.next(in: document) {
            _ = refusesHalfPair(at: key, in: document)
            let name = document.text(of: key)
            if name.count > limits.nameLength && characterCount(document.span(name)) > limits.nameLength {
                fault(at: key, in: document, message: "This name has more than \(limits.nameLength) characters.")
            }
            _ = text(value, in: document, length: 0...limits.valueLength)
        }
        return faultCount == before ? object : nil
    }

    /// An array of `range` distinct strings.
    mutating func distinctStrings(
        _ node: Node, in document: borrowing JSONDocument, count range: ClosedRange<Int>, length: ClosedRange<Int>,
        of allowed: CharacterClass? = nil
    ) -> Node? {
        distinct(node, in: document, count: range) { reader, element, document in
            if let allowed {
                _ = reader.text(element, in: document, length: length, of: allowed)
            } else {
                _ = reader.text(element, in: document, length: length)
            }
        }
    }

    /// An array of `range` distinct users' names.
    mutating func distinctUserNames(_ node: Node, in document: borrowing JSONDocument, count range: ClosedRange<Int>) -> Node? {
        distinct(node, in: document, count: range) { reader, element, document in _ = reader.userName(element, in: document) }
    }

    /// An array of `range` distinct strings, each of which `read` looks at.
    @inline(__always) private mutating func distinct(
        _ node: Node, in document: borrowing JSONDocument, count range: ClosedRange<Int>,
        read: (inout Self, Node, borrowing JSONDocument) -> Void
    ) -> Node? {
        guard document.kind(of: node) == .array, range.contains(document.childCount(of: node)) else {
            fault(at: node, in: document, message: "This must be an array of \(range.lowerBound) to \(range.upperBound) strings.")
            return nil
        }
        let before = faultCount
        var elements = document.children(of: node)
        while let (_, element) = elements.next(in: document) { read(&self, element, document) }
        guard faultCount == before else { return nil }
        noteRepeats(in: node, of: document)
        return faultCount == before ? node : nil
    }

    private mutating func noteRepeats(in node: Node, of document: borrowing JSONDocument) {
        guard document.childCount(of: node) > 1 else { return }
        var seen: Set<String> = []
        var elements = document.children(of: node)
        while let (_, element) = elements.next(in: document) {
            if !seen.insert(document.string(document.text(of: element))).inserted {
                fault(at: element, in: document, message: "This is in the list already; each may be named once.")
            }
        }
    }
}

/// The number of Unicode scalars of well-formed UTF-8.
func characterCount(_ text: Span<UInt8>) -> Int {
    var count = 0
    for index in text.indices where text[index] & 0xC0 != 0x80 { count += 1 }
    return count
}
