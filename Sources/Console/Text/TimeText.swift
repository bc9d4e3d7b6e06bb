import PushModel

/// Lengths of time and moments, as people write and read them.
enum TimeText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Reads `250ms`, `30s`, `15m`, `1h`, `7d`, or several in a row such as `1h30m`; nil for anything else.
    static func duration(_ text: String) -> Duration? {
        var rest = text[...]
        var total: Int64 = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let suffix = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
            guard let count = Int64(digits), let unit = units.first(where: { $0.suffix == suffix }) else { return nil }
            let (part, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
            let (sum, carry) = total.addingReportingOverflow(part)
            guard !overflow, !carry, sum < Int64.max / 1_000_000 else { return nil }
            total = sum
            rest = rest.dropFirst(digits.count + suffix.count)
        }
        return .milliseconds(total)
    }

    /// A moment in RFC 3339, or a length of time before or after `now`; nil for anything else.
    static func moment(_ text: String, now: Int64, isPast: Bool) -> Timestamp? {
        if text == "now" { return Timestamp(milliseconds: now) }
        if let moment = Timestamp(Array(text.utf8).span) { return moment }
        guard let length = duration(text)?.wholeMilliseconds else { return nil }
        return Timestamp(milliseconds: isPast ? now - length : now + length)
    }

    /// `120 ms`, `1.5 s`, `2 min 5 s`.
    static func length(milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds) ms"
        case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        default: "\(milliseconds / 60_000) min \(milliseconds % 60_000 / 1000) s"
        }
    }
}

extension Duration {
    /// Whole milliseconds.
    var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension Timestamp {
    /// RFC 3339 in UTC with milliseconds.
    var text: String {
        var writer = ByteWriter()
        writer.append(self)
        return writer.text
    }
}
