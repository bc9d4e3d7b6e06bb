internal import Basics
internal import PushModel

/// A rule about one member of an object.
struct FieldRule: Sendable {
    let name: StaticString
    let form: ValueForm
    let source: RuleSource

    init(_ name: StaticString, as form: ValueForm, from source: RuleSource) {
        self.name = name
        self.form = form
        self.source = source
    }

    /// Rules of the same form and source.
    static func each(_ names: [StaticString], as form: ValueForm, from source: RuleSource) -> [FieldRule] {
        names.map { FieldRule($0, as: form, from: source) }
    }
}

/// A form that a JSON value can be asked to have. Null is taken as not set, except as an element of an array and in maps of strings.
indirect enum ValueForm: Sendable {
    case text(TextForm)
    /// A text of this form or, as protocol buffers have it, the number of a word.
    case word([StaticString])
    case textOrObject
    case object
    /// True or false, also as a string.
    case flag
    /// A number or a truth value: 1 switches it on.
    case toggle
    /// A whole number of this range, also as a string where `isProtocolBuffer`.
    case integer(ClosedRange<Int64>, isProtocolBuffer: Bool)
    /// Any number, also as a string where `isProtocolBuffer`.
    case number(isProtocolBuffer: Bool)
    case array(ValueForm)
    /// An object of strings, without the names that `platform` keeps for itself.
    case strings(reservedBy: Platform?)
    /// An object of strings that are headers under these rules.
    case headers([HeaderRule])
    /// An object with some members of these forms and any others.
    case open([FieldRule])
    /// An object of protocol buffers, with no other members than these. Their names can also be written in camel case.
    case closed([FieldRule])
    /// A string, or an object with some members of these forms.
    case textOrOpen([FieldRule])
    /// A name of a target. Only the audience names those.
    case target
}

/// A fault of a value, with the field's name behind its container's.
struct ValueFault {
    let node: JSONDocument.Node
    /// The path of names and positions, such as `message.data`. Empty for the outermost value.
    var field: String
    /// The words behind the name of the field.
    let words: String

    var sentence: String { (field.isEmpty ? "The body" : field) + " " + words + "." }

    func inside(_ name: String) -> ValueFault {
        var fault = self
        fault.field = field.isEmpty || field.hasPrefix("[") ? name + field : name + "." + field
        return fault
    }
}

extension JSONDocument {
    /// The first fault of the value at `node`, or nil when it has the form. It looks at every value once.
    func fault(in node: Node, by form: ValueForm) -> ValueFault? {
        let kind = kind(of: node)
        if kind == .null { return nil }
        var isMet = false
        switch form {
        case .target:
            return ValueFault(node: node, field: "", words: "names a target; only the request's audience does")
        case .text(let form): isMet = kind == .string && form.isMet(by: span(text(of: node)))
        case .word(let words):
            isMet =
                kind == .string
                ? words.contains { span(text(of: node)).equalsIgnoringCase($0) } : wholeNumber(at: node) != nil
        case .textOrObject: isMet = kind == .string || kind == .object
        case .object: isMet = kind == .object
        case .flag:
            isMet = kind == .true || kind == .false
            if kind == .string { isMet = isEqual(text(of: node), to: "true") || isEqual(text(of: node), to: "false") }
        case .toggle: isMet = kind == .number || kind == .true || kind == .false
        case .integer(let range, let isProtocolBuffer):
            if kind == .string && isProtocolBuffer {
                isMet = span(text(of: node)).isNumber
            } else {
                isMet = wholeNumber(at: node).map { range.contains($0) } ?? false
            }
        case .number(let isProtocolBuffer):
            isMet = kind == .number || isProtocolBuffer && kind == .string && span(text(of: node)).isNumber
        case .array(let element):
            guard kind == .array else { break }
            return elementFault(in: node, by: element)
        case .strings(let platform):
            guard kind == .object else { break }
            return stringsFault(in: node, reservedBy: platform)
        case .headers(let rules):
            guard kind == .object else { break }
            return headersFault(in: node, by: rules)
        case .open(let fields), .textOrOpen(let fields):
            if kind == .object { return memberFault(in: node, by: fields) }
            if case .textOrOpen = form { isMet = kind == .string }
        case .closed(let fields):
            guard kind == .object else { break }
            return closedFault(in: node, by: fields)
        }
        return isMet ? nil : ValueFault(node: node, field: "", words: "must " + form.words)
    }

    private func elementFault(in array: Node, by form: ValueForm) -> ValueFault? {
        var elements = children(of: array)
        var position = 0
        while let (_, element) = elements.next(in: self) {
            let isMissing = kind(of: element) == .null
            let fault =
                isMissing ? ValueFault(node: element, field: "", words: "must " + form.words) : fault(in: element, by: form)
            if let fault { return fault.inside("[\(position)]") }
            position += 1
        }
        return nil
    }

    private func stringsFault(in object: Node, reservedBy platform: Platform?) -> ValueFault? {
        var members = children(of: object)
        while let (key, value) = members.next(in: self) {
            if kind(of: value) != .string {
                return ValueFault(node: value, field: "", words: "has a value that is no string; it holds strings only")
            }
            if let platform, isReserved(text(of: key), by: platform) {
                return ValueFault(node: value, field: "", words: "has a key that is reserved by \(platform.name)")
            }
        }
        return nil
    }

    private func headersFault(in object: Node, by rules: [HeaderRule]) -> ValueFault? {
        var members = children(of: object)
        while let (key, value) = members.next(in: self) {
            guard kind(of: value) == .string else {
                return ValueFault(node: value, field: "", words: "has a value that is no string; it holds strings only")
            }
            guard let rule = rules.first(where: { $0.isBroken(by: span(text(of: key)), value: span(text(of: value))) }) else {
                continue
            }
            return ValueFault(node: value, field: "\(rule.name)", words: rule.words)
        }
        return nil
    }

    private func memberFault(in object: Node, by fields: [FieldRule]) -> ValueFault? {
        var members = children(of: object)
        while let (key, value) = members.next(in: self) {
            guard let rule = fields.first(where: { isEqual(text(of: key), to: $0.name) }) else { continue }
            if let fault = fault(in: value, by: rule.form) { return fault.inside("\(rule.name)") }
        }
        return nil
    }

    private func closedFault(in object: Node, by fields: [FieldRule]) -> ValueFault? {
        var members = children(of: object)
        while let (key, value) = members.next(in: self) {
            let name = span(text(of: key))
            guard let rule = fields.first(where: { name.isField($0.name) }) else {
                return ValueFault(node: value, field: "", words: "has no field of this name; the push service refuses it")
            }
            if let fault = fault(in: value, by: rule.form) { return fault.inside("\(rule.name)") }
        }
        return nil
    }

    /// The value of a number without a fraction, also as `1.0` or `1e2`, which serialisers of floating-point numbers write.
    private func wholeNumber(at node: Node) -> Int64? {
        if let number = integer(at: node) { return number }
        guard kind(of: node) == .number, let number = Double(string(text(of: node))) else { return nil }
        return number == number.rounded() && abs(number) <= 2_147_483_647 ? Int64(number) : nil
    }

    /// The value of a member unless it is null, which is taken as not set.
    func given(_ name: StaticString, of node: Node) -> Node? {
        guard let value = member(name, of: node), kind(of: value) != .null else { return nil }
        return value
    }
}

extension ValueForm {
    /// True if there are rules about what is inside.
    var hasRules: Bool {
        switch self {
        case .open(let fields), .closed(let fields), .textOrOpen(let fields): !fields.isEmpty
        case .headers, .strings: true
        default: false
        }
    }

    /// The words behind "must".
    var words: String {
        switch self {
        case .text(let form): form.words
        case .word(let words): TextForm.words(words).words
        case .textOrObject, .textOrOpen: "be a string or an object"
        case .object, .open, .closed: "be an object"
        case .flag: "be true or false"
        case .toggle: "be a number, true or false; 1 and true switch it on"
        case .integer(let range, _):
            range.upperBound == .max
                ? "be a whole number from \(range.lowerBound)"
                : "be a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number: "be a number"
        case .array(let element):
            if case .text(.any) = element { "be an array of strings" } else { "be an array; each element must " + element.words }
        case .strings, .headers: "be an object of strings"
        case .target: "not stand there; only the request's audience names targets"
        }
    }
}

extension Span<UInt8> {
    /// True if this is the field `name`, which is in snake case, in that or in camel case.
    fileprivate func isField(_ name: StaticString) -> Bool {
        guard count <= name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { letters in
            let isSnakeCase = count == letters.count
            var index = 0
            var isCapital = false
            for position in letters.indices {
                let letter = unsafe letters[position]
                if letter == UInt8(ascii: "_") && !isSnakeCase {
                    isCapital = true
                    continue
                }
                guard index < count, self[index] == (isCapital ? letter & 0xDF : letter) else { return false }
                isCapital = false
                index += 1
            }
            return index == count
        }
    }

    /// True if the bytes are a number as JSON has them, or close to it: digits with a sign, a point and an exponent.
    fileprivate var isNumber: Bool {
        var hasDigit = false
        for index in indices {
            let byte = self[index]
            if byte.isDigit { hasDigit = true } else if !"+-.eE".utf8.contains(byte) { return false }
        }
        return hasDigit
    }
}
