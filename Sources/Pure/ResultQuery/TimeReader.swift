import Basics
import PushModel

/// Reads times as people write them: days, times of day and moments, and two of them with `..` between.
struct TimeReader {
    /// The most bytes of a token that is read as a time.
    static let longestToken = 80
    /// The most tokens of a time: `2026-11-28 9:00..2026-11-29 10:00`.
    static let mostTokens = 3
    /// The time before and behind a moment that stands alone, in milliseconds.
    private static let margin: Int64 = 300_000
    private static let dayLength: Int64 = 86_400_000

    /// A text that begins as a time does and is none.
    struct Fault: Error {
        /// The token at fault, counted from 0.
        var token = 0
        let reason: String
    }

    /// The time in which a bare time allows a result.
    struct Stretch: Equatable {
        var since: Int64?
        var until: Int64?
        /// True if it has a time without a zone.
        let isLocal: Bool
        /// The tokens that it took.
        let tokenCount: Int
    }

    /// A single time.
    private enum Point: Equatable {
        /// A day, counted from 1970-01-01.
        case day(Int64)
        /// A time of day, in milliseconds.
        case clock(Int64)
        /// A time of day of a day.
        case local(Int64, Int64)
        /// Milliseconds since 1970.
        case moment(Int64)

        var isLocal: Bool { if case .moment = self { false } else { true } }
    }

    /// A token: one time, or the two around `..`, each of which may be left out.
    private struct Ends {
        var begin: Point?
        var end: Point?
        var isRange = false

        /// The time of day with which a token behind a day begins.
        var clock: Int64? { if case .clock(let time) = begin { time } else { nil } }
    }

    private let now: Int64
    private let zone: LocalZone
    private let isPast: Bool

    /// A reader. A time of day is the last one before `now`, in milliseconds since 1970, or else the next one.
    init(now: Int64, zone: LocalZone, isPast: Bool = true) {
        self.now = Timestamp(milliseconds: now).milliseconds
        self.zone = zone
        self.isPast = isPast
    }

    /// The stretch of time that stands at the beginning of the tokens. Nil if the first one is no time.
    func stretch(_ tokens: [[UInt8]]) throws(Fault) -> Stretch? {
        guard let (ends, count) = try ends(of: tokens) else { return nil }
        var (since, until): (Int64?, Int64?)
        if ends.isRange {
            since = ends.begin.map(moment)
            until = ends.end.map { end($0, behind: ends.begin) }
            guard since ?? .min < until ?? .max else { throw Fault(reason: "ends before it begins, or as it begins") }
        } else if case .day(let day) = ends.begin {
            (since, until) = (moment(of: day), moment(of: day + 1))
        } else if let middle = ends.begin.map(moment) {
            (since, until) = (middle - Self.margin, middle + Self.margin)
        }
        let isLocal = [ends.begin, ends.end].contains { $0?.isLocal ?? false }
        return Stretch(since: since, until: until, isLocal: isLocal, tokenCount: count)
    }

    /// The single time that stands at the beginning of the tokens. Nil if the first one is no time.
    func moment(_ tokens: [[UInt8]]) throws(Fault) -> (moment: Int64, isLocal: Bool, tokenCount: Int)? {
        guard let (ends, count) = try ends(of: tokens) else { return nil }
        guard !ends.isRange, let point = ends.begin else {
            throw Fault(reason: "is more than one moment; two with .. between stand by themselves, such as 9:00..9:30")
        }
        return (moment(point), point.isLocal, count)
    }

    private func ends(of tokens: [[UInt8]]) throws(Fault) -> (Ends, Int)? {
        guard let first = tokens.first, var ends = try ends(first) else { return nil }
        var count = 1
        if !ends.isRange, case .day(let day) = ends.begin, let next = try following(count, of: tokens), let clock = next.clock {
            ends = Ends(begin: .local(day, clock), end: next.end, isRange: next.isRange)
            count += 1
        }
        if case .day(let day) = ends.end, let next = try following(count, of: tokens), let clock = next.clock, !next.isRange {
            ends.end = .local(day, clock)
            count += 1
        }
        return (ends, count)
    }

    /// The times of a token behind others.
    private func following(_ index: Int, of tokens: [[UInt8]]) throws(Fault) -> Ends? {
        guard index < tokens.count else { return nil }
        do throws(Fault) {
            return try ends(tokens[index])
        } catch {
            throw Fault(token: index, reason: error.reason)
        }
    }

    /// The times of a token, or nil if it is none.
    private func ends(_ token: [UInt8]) throws(Fault) -> Ends? {
        guard token.count <= Self.longestToken else { return nil }
        if let point = try point(token[...]) { return Ends(begin: point) }
        if let (left, right) = Self.split(token, at: "..") {
            let begin = try point(left)
            guard begin != nil || left.isEmpty else { return nil }
            let end = right.elementsEqual("now".utf8) ? .moment(now) : try point(right)
            guard begin != nil || end != nil else { return nil }
            guard end != nil || right.isEmpty else {
                throw Fault(reason: "has no time behind the dots")
            }
            return Ends(begin: begin, end: end, isRange: true)
        }
        for dash in ["–", "-"] {
            guard let (left, right) = Self.split(token, at: dash), let begin = try point(left), case .clock = begin,
                let end = try point(right), case .clock = end
            else { continue }
            return Ends(begin: begin, end: end, isRange: true)
        }
        return nil
    }

    /// The parts of a token around the first place of `separator`.
    private static func split(_ token: [UInt8], at separator: String) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        let separator = Array(separator.utf8)
        guard token.count >= separator.count else { return nil }
        for start in 0...token.count - separator.count where token[start...].starts(with: separator) {
            return (token[..<start], token[(start + separator.count)...])
        }
        return nil
    }

    private func point(_ text: ArraySlice<UInt8>) throws(Fault) -> Point? {
        let word = String(decoding: text.map(\.lowercased), as: UTF8.self)
        if word == "today" { return .day(zone.day(at: now)) }
        if word == "yesterday" { return .day(zone.day(at: now) - 1) }
        if let clock = try Self.clock(text) { return .clock(clock) }
        return try Self.dated(Array(text))
    }

    /// Reads `9:00`, `14:05` or `14:05:30`, up to 24:00.
    private static func clock(_ text: ArraySlice<UInt8>) throws(Fault) -> Int64? {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), (1...2).contains(parts[0].count), parts.dropFirst().allSatisfy({ $0.count == 2 }),
            parts.allSatisfy({ $0.allSatisfy(\.isDigit) })
        else { return nil }
        let numbers = parts.map { $0.reduce(0 as Int64) { $0 * 10 + Int64($1 - 0x30) } } + [0]
        let time = (numbers[0] * 3600 + numbers[1] * 60 + numbers[2]) * 1000
        guard numbers[1] < 60, numbers[2] < 60, time <= dayLength else {
            throw Fault(reason: "is no time of day, which goes from 0:00 to 24:00")
        }
        return time
    }

    /// Reads `2026-11-28`, `2026-11-28T14:05` and RFC 3339.
    private static func dated(_ text: [UInt8]) throws(Fault) -> Point? {
        let length = 10
        let dashes = [4, 7]
        guard text.count >= length, text.count == length || text[length].lowercased == UInt8(ascii: "t"),
            (0..<length).allSatisfy({ dashes.contains($0) ? text[$0] == UInt8(ascii: "-") : text[$0].isDigit })
        else { return nil }
        guard let midnight = Timestamp(TimeWords.whole(Array(text[..<length])).span) else {
            throw Fault(reason: "is no time: the calendar has no such day")
        }
        let day = midnight.milliseconds.floored(by: dayLength)
        if text.count == length { return .day(day) }
        if let moment = Timestamp(TimeWords.whole(text).span) { return .moment(moment.milliseconds) }
        if let time = try clock(text[(length + 1)...]) { return .local(day, time) }
        return nil
    }
}

extension TimeReader {
    private func moment(_ point: Point) -> Int64 {
        switch point {
        case .moment(let moment): return moment
        case .day(let day): return moment(of: day)
        case .local(let day, let clock): return moment(of: day, at: clock)
        case .clock(let clock):
            let today = zone.day(at: now)
            let moment = moment(of: today, at: clock)
            if isPast { return moment <= now ? moment : self.moment(of: today - 1, at: clock) }
            return moment > now ? moment : self.moment(of: today + 1, at: clock)
        }
    }

    /// The moment at which a range ends: a day ends with it, and a time of day belongs to the day on which the range begins.
    private func end(_ end: Point, behind begin: Point?) -> Int64 {
        switch (end, begin) {
        case (.day(let day), _): moment(of: day + 1)
        case (.clock(let clock), .local(let day, _)): moment(of: day, at: clock)
        case (.clock(let clock), .clock?), (.clock(let clock), .moment?):
            moment(of: zone.day(at: begin.map(moment) ?? now), at: clock)
        default: moment(end)
        }
    }

    private func moment(of day: Int64, at clock: Int64 = 0) -> Int64 { zone.moment(ofLocal: day * Self.dayLength + clock) }
}
