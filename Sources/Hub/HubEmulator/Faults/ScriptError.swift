/// A mistake in the text of a script, whose fields have numbers and durations.
protocol ScriptError: Error {
    static func badValue(field: String, value: String, expected: String) -> Self
}

extension ScriptError {
    static func number(_ field: String, from value: String, in range: ClosedRange<Int>) throws(Self) -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw badValue(field: field, value: value, expected: "\(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads `200ms`, `10s` or `2m`, up to a day.
    static func duration(_ field: String, from value: String) throws(Self) -> Duration {
        let digits = value.prefix { $0.isASCII && $0.isNumber }
        let milliseconds = ["ms": 1, "s": 1000, "m": 60_000][value.dropFirst(digits.count)]
        guard let milliseconds, let number = Int(digits), number <= 86_400_000 / milliseconds else {
            throw badValue(field: field, value: value, expected: "a duration such as 200ms, 10s or 2m, at most a day")
        }
        return .milliseconds(number * milliseconds)
    }
}
