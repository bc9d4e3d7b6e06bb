internal import Basics

/// The rule by which a zone changes its distance from UTC each year, as `TZ` has it (POSIX.1-2024, 8.3): `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneRule {
    /// The years for which changes are counted out. Behind them the last distance stays.
    static let years = 1970...2100

    /// A day of each year.
    private enum Day {
        /// The day of a weekday (0 is Sunday) in a week of a month. The fifth week is the last.
        case weekday(month: Int, week: Int, day: Int)
        /// The day of a year, 1–365, in which 29 February is not counted.
        case withoutLeapDay(Int)
        /// The day of a year, 0–365.
        case ordinal(Int)

        /// The day in a year, counted from 1970-01-01.
        func number(in year: Int) -> Int {
            let start = CivilDate(year: year, month: 1, day: 1).daysFromEpoch
            switch self {
            case .ordinal(let day): return start + day
            case .withoutLeapDay(let day):
                let hasLeapDay = CivilDate.days(inMonth: 2, of: year) == 29
                return start + day - (hasLeapDay && day >= 60 ? 0 : 1)
            case .weekday(let month, let week, let day):
                let first = CivilDate(year: year, month: month, day: 1).daysFromEpoch
                let thursday = 4
                let ahead = (day - (first + thursday) % 7 + 7) % 7 + (week - 1) * 7
                return first + (ahead < CivilDate.days(inMonth: month, of: year) ? ahead : ahead - 7)
            }
        }
    }

    /// A moment of each year, as the clocks show it that are in use before.
    private struct Turn {
        let day: Day
        let seconds: Int64

        func second(in year: Int) -> Int64 { Int64(day.number(in: year)) * 86_400 + seconds }
    }

    /// The seconds east of UTC for the part of the year that has no name of its own.
    let standard: Int64
    private let summer: (seconds: Int64, begin: Turn, end: Turn)?

    /// Reads a rule. Anything else, also one that leaves the dates open, is nil.
    init?(_ text: [UInt8]) {
        var reader = Reader(text)
        guard reader.skipName(), let west = reader.time() else { return nil }
        standard = -west
        guard !reader.isAtEnd else {
            summer = nil
            return
        }
        guard reader.skipName() else { return nil }
        var seconds = standard + 3600
        if !reader.isAt(",") {
            guard let west = reader.time() else { return nil }
            seconds = -west
        }
        guard let begin = reader.turn(), let end = reader.turn(), reader.isAtEnd else { return nil }
        summer = (seconds, begin, end)
    }

    /// The changes of all years, oldest first.
    var changes: [LocalZone.Offset] {
        guard let summer else { return [] }
        let changes = Self.years.flatMap { year in
            [
                LocalZone.Offset(since: summer.begin.second(in: year) - standard, seconds: summer.seconds),
                LocalZone.Offset(since: summer.end.second(in: year) - summer.seconds, seconds: standard),
            ]
        }
        return changes.sorted { $0.since < $1.since }
    }

    /// Reads the text of a rule from left to right.
    private struct Reader {
        /// The most hours of a time, which may reach into other days.
        static let maximumHours = 167

        let text: [UInt8]
        var index = 0

        init(_ text: [UInt8]) { self.text = text }

        var isAtEnd: Bool { index == text.count }

        func isAt(_ letter: Unicode.Scalar) -> Bool { index < text.count && text[index] == UInt8(ascii: letter) }

        mutating func skip(_ letter: Unicode.Scalar) -> Bool {
            guard isAt(letter) else { return false }
            index += 1
            return true
        }

        /// Skips letters, or anything between `<` and `>`.
        mutating func skipName() -> Bool {
            let start = index
            if skip("<") {
                while !isAtEnd, !isAt(">") { index += 1 }
                return skip(">")
            }
            while index < text.count, text[index].isLetter { index += 1 }
            return index >= start + 3
        }

        mutating func number(in range: ClosedRange<Int>) -> Int? {
            let start = index
            while index < text.count, index < start + 3, text[index].isDigit { index += 1 }
            guard let number = Int(String(decoding: text[start..<index], as: UTF8.self)), range.contains(number) else {
                return nil
            }
            return number
        }

        /// Reads `hh`, `hh:mm` or `hh:mm:ss` with a sign or without, as seconds.
        mutating func time() -> Int64? {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard let hours = number(in: 0...Self.maximumHours) else { return nil }
            var seconds = hours * 3600
            for unit in [60, 1] where skip(":") {
                guard let count = number(in: 0...59) else { return nil }
                seconds += count * unit
            }
            return Int64(isNegative ? -seconds : seconds)
        }

        mutating func turn() -> Turn? {
            guard skip(","), let day = day() else { return nil }
            guard skip("/") else { return Turn(day: day, seconds: 7200) }
            guard let seconds = time() else { return nil }
            return Turn(day: day, seconds: seconds)
        }

        private mutating func day() -> Day? {
            if skip("J") { return number(in: 1...365).map { .withoutLeapDay($0) } }
            guard skip("M") else { return number(in: 0...365).map { .ordinal($0) } }
            guard let month = number(in: 1...12), skip("."), let week = number(in: 1...5), skip("."), let day = number(in: 0...6)
            else { return nil }
            return .weekday(month: month, week: week, day: day)
        }
    }
}

extension LocalZone {
    /// The zone of a rule as `TZ` has it, such as `CET-1CEST,M3.5.0,M10.5.0/3`, under the rule as its name. Anything else is nil.
    public init?(rule text: String) {
        guard text.utf8.count <= 128, let rule = ZoneRule(Array(text.utf8)) else { return nil }
        self.init(name: text, first: rule.standard, later: rule.changes)
    }
}
