import Basics

/// One string value of a template: taken as it is, or filled in from a notification's properties.
///
/// The language is that of hub templates ("Templates" in the hub's documentation, and what the .NET client checks): the first
/// character decides what a value is, and an expression is always the complete value.
enum TemplateExpression: Equatable, Sendable {
    /// A piece of a string expression.
    enum Part: Equatable, Sendable {
        /// `'text'`
        case text(String)
        /// `$(name)`, `$(name, 6)`, `.(name, 20)`, each also with a default: `$(name:{none})`
        case property(name: String, fallback: String, limit: Int?, hasEllipsis: Bool)
        /// `%(name)`: percent-encoded
        case encoded(name: String, fallback: String)
    }

    enum Value: Equatable, Sendable {
        case text(String)
        /// A number's text, written without quotes.
        case number(String)
    }

    case literal
    case composite([Part])
    /// `#(name)`
    case numeric(name: String, fallback: String)

    /// Reads the complete value of a JSON string, XML attribute or XML text, or throws its first fault.
    init(parsing text: String) throws(TemplateError) {
        switch text.first {
        case "$", ".", "%":
            var reader = TemplateReader(text)
            self = .composite(try reader.chain())
        case "{":
            guard text.count > 1, text.last == "}" else { throw .unclosedComposite }
            var reader = TemplateReader(String(text.dropFirst().dropLast()))
            self = .composite(try reader.chain())
        case "#":
            var reader = TemplateReader(text)
            self = try reader.numeric()
        default:
            self = .literal
        }
    }

    /// The value for a notification with these properties by lower-cased name, or `nil` for a literal, which stays as it is in
    /// the template.
    func value(_ properties: [String: String]) -> Value? {
        switch self {
        case .literal:
            return nil
        case .composite(let parts):
            return .text(parts.map { $0.text(properties) }.joined())
        case .numeric(let name, let fallback):
            let text = properties[name] ?? fallback
            return Self.isNumber(text) ? .number(text) : .text(text)
        }
    }

    /// True if `text` is `(0|([1-9][0-9]*))(\.[0-9]+)?((e|E)(+|-)?[0-9]+)?`.
    static func isNumber(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        func digits() -> Int {
            let count = rest.prefix(while: \.isDigit).count
            rest = rest.dropFirst(count)
            return count
        }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !startsWithZero || whole == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

extension TemplateExpression.Part {
    fileprivate func text(_ properties: [String: String]) -> String {
        switch self {
        case .text(let text):
            return text
        case .encoded(let name, let fallback):
            return PercentEncoding.encoded(properties[name] ?? fallback)
        case .property(let name, let fallback, let limit, let hasEllipsis):
            let value = properties[name] ?? fallback
            guard let limit, value.count > limit else { return value }
            guard hasEllipsis else { return String(value.prefix(limit)) }
            return limit < 3 ? String("...".prefix(limit)) : value.prefix(limit - 3) + "..."
        }
    }
}

/// The reason for which the hub refuses a template.
enum TemplateError: Error, Equatable, Sendable {
    case missingOpenParenthesis
    case missingCloseParenthesis
    case missingProperty
    case badPropertyName(String)
    case lengthNotAllowed
    case missingLength
    case badLength
    case unknownToken
    case badOperator
    case unclosedLiteral
    case unclosedComposite
    case numericInComposite
    case numericInXML
    case bodyReference
    case notJSON(String)
    case notXML(String)

    /// One plain sentence for the answer's detail.
    var sentence: String {
        switch self {
        case .missingOpenParenthesis: "A template expression lacks '(' behind its first character."
        case .missingCloseParenthesis: "A template expression lacks its closing ')'."
        case .missingProperty: "A template expression names no property."
        case .badPropertyName(let name):
            "The property name '\(name)' is not valid: up to 120 letters, digits and underscores are allowed."
        case .lengthNotAllowed: "A length is not allowed in a '%' or '#' expression."
        case .missingLength: "A '.' expression needs a length behind a comma."
        case .badLength: "The length in a template expression is not a whole number of at least 0."
        case .unknownToken: "An expression or a quoted literal was expected in a template."
        case .badOperator: "Only '+' can join the parts of a template expression."
        case .unclosedLiteral: "A quoted literal in a template expression is not closed."
        case .unclosedComposite: "A template value that begins with '{' must end with '}'."
        case .numericInComposite: "A '#' expression must stand alone."
        case .numericInXML: "A '#' expression is allowed in JSON templates only."
        case .bodyReference: "'$body' is not allowed in a template."
        case .notJSON(let reason): "The body template is not valid JSON. \(reason)"
        case .notXML(let reason): "The body template is not well-formed XML. \(reason)"
        }
    }
}
