import Basics

/// Reads the text of a template expression from left to right.
struct TemplateReader {
    private let characters: [Character]
    private var index = 0

    init(_ text: String) {
        characters = Array(text)
    }

    /// Parts joined by `+`, to the end of the text.
    mutating func chain() throws(TemplateError) -> [TemplateExpression.Part] {
        var parts: [TemplateExpression.Part] = []
        while true {
            skipBlanks()
            parts.append(try part())
            skipBlanks()
            guard let joint = peek else { return parts }
            guard joint == "+" else { throw .badOperator }
            index += 1
        }
    }

    /// A `#` expression and nothing behind it.
    mutating func numeric() throws(TemplateError) -> TemplateExpression {
        index += 1
        let (name, fallback, limit) = try argument()
        guard limit == nil else { throw .lengthNotAllowed }
        skipBlanks()
        guard peek == nil else { throw peek == "+" ? .numericInComposite : .badOperator }
        return .numeric(name: name, fallback: fallback)
    }

    private var peek: Character? { index < characters.count ? characters[index] : nil }

    private mutating func skipBlanks() {
        while let next = peek, next.isWhitespace { index += 1 }
    }

    private mutating func part() throws(TemplateError) -> TemplateExpression.Part {
        guard let start = peek else { throw .unknownToken }
        if start == "'" || start == "\"" { return .text(try quoted(by: start)) }
        guard "$.%".contains(start) else { throw start == "#" ? .numericInComposite : .unknownToken }
        index += 1
        let (name, fallback, limit) = try argument()
        if start == "%" {
            guard limit == nil else { throw .lengthNotAllowed }
            return .encoded(name: name, fallback: fallback)
        }
        guard start == "$" || limit != nil else { throw .missingLength }
        return .property(name: name, fallback: fallback, limit: limit, hasEllipsis: start == ".")
    }

    private mutating func quoted(by quote: Character) throws(TemplateError) -> String {
        index += 1
        var text = ""
        while let next = peek {
            index += 1
            if next != quote {
                text.append(next)
            } else if peek == quote {
                text.append(quote)
                index += 1
            } else {
                return text
            }
        }
        throw .unclosedLiteral
    }

    /// `(name)`, `(name, 3)`, `(name:{default})` or `(name:{default}, 3)`. The name is lower-cased.
    private mutating func argument() throws(TemplateError) -> (name: String, fallback: String, limit: Int?) {
        guard peek == "(" else {
            throw String(characters[index...].prefix(4)).lowercased() == "body" ? .bodyReference : .missingOpenParenthesis
        }
        index += 1
        let name = try propertyName()
        let fallback = try fallbackText()
        skipBlanks()
        var limit: Int?
        if peek == "," {
            index += 1
            limit = try length()
        }
        guard peek == ")" else { throw .missingCloseParenthesis }
        index += 1
        return (name.lowercased(), fallback, limit)
    }

    private mutating func propertyName() throws(TemplateError) -> String {
        skipBlanks()
        var name = ""
        while let next = peek, !",:)".contains(next) {
            name.append(next)
            index += 1
        }
        guard peek != nil else { throw .missingCloseParenthesis }
        while name.last?.isWhitespace == true { name.removeLast() }
        guard !name.isEmpty else { throw .missingProperty }
        let isValid = name.utf8.allSatisfy { byte in
            byte.isLetterOrDigit || byte == UInt8(ascii: "_")
        }
        guard isValid, name.utf8.count <= 120 else { throw .badPropertyName(name) }
        return name
    }

    /// `:{text}`, in which `\}` stands for a brace, or "" when there is none.
    private mutating func fallbackText() throws(TemplateError) -> String {
        guard peek == ":" else { return "" }
        index += 1
        guard peek == "{" else { throw .unknownToken }
        index += 1
        var text = ""
        while let next = peek {
            index += 1
            if next == "}" { return text }
            if next == "\\", peek == "}" {
                text.append("}")
                index += 1
            } else {
                text.append(next)
            }
        }
        throw .unclosedComposite
    }

    private mutating func length() throws(TemplateError) -> Int {
        var digits = ""
        while let next = peek, next != ")" {
            digits.append(next)
            index += 1
        }
        guard peek != nil else { throw .missingCloseParenthesis }
        digits = digits.filter { !$0.isWhitespace }
        guard let length = UInt32(digits), digits.utf8.allSatisfy(\.isDigit) else { throw .badLength }
        return Int(length)
    }
}
