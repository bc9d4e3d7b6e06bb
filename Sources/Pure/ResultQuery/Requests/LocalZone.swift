import Basics
import PushModel

/// A time zone in which a person writes times.
public struct LocalZone: Sendable, Equatable {
    /// The name for people: `UTC`, `+01:00` or `Europe/Berlin`.
    public let name: String
    /// The seconds east of UTC since each moment, oldest first. The first holds for all before, too.
    private let offsets: [Offset]

    struct Offset: Sendable, Equatable {
        /// The first second since 1970 for which it holds.
        let since: Int64
        let seconds: Int64
    }

    /// UTC.
    public static let utc = LocalZone(name: "UTC", secondsEast: 0)

    /// A zone that is always as far from UTC.
    public init(name: String, secondsEast: Int64) {
        self.init(name: name, first: secondsEast, later: [])
    }

    /// A zone that changed its distance from UTC, oldest change first.
    init(name: String, first: Int64, later: [Offset]) {
        self.name = name
        offsets = [Offset(since: .min, seconds: first)] + later
    }

    /// A zone that never changes: `UTC`, `Z`, or a distance such as `+01:00`. Anything else is nil.
    public init?(fixed text: String) {
        if ["UTC", "Z"].contains(text.uppercased()) {
            self = .utc
            return
        }
        let bytes = Array(text.utf8)
        guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"), bytes[3] == UInt8(ascii: ":"),
            let hours = Self.number(bytes[1...2]), let minutes = Self.number(bytes[4...5]), hours < 24, minutes < 60
        else { return nil }
        let distance = hours * 3600 + minutes * 60
        self.init(name: text, secondsEast: bytes[0] == UInt8(ascii: "-") ? -distance : distance)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        digits.allSatisfy(\.isDigit) ? Int64(String(decoding: digits, as: UTF8.self)) : nil
    }

    /// True if a text may be the name of a zone's file: letters, digits, `_`, `+` and `-`, in parts with `/` between them.
    public static func isName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count) else { return false }
        return text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
            part.first.map(\.isLetterOrDigit) ?? false
                && part.allSatisfy {
                    $0.isLetterOrDigit || [UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0)
                }
        }
    }

    /// The seconds east of UTC at a moment, in milliseconds since 1970.
    public func secondsEast(at moment: Int64) -> Int64 {
        let second = moment.floored(by: 1000)
        return (offsets.last { $0.since <= second } ?? offsets[0]).seconds
    }

    /// The first moment at which the zone's clocks show a time or a later one. So of a time that comes twice it is the first, and one that
    /// clocks leave out is the moment of the leap.
    ///
    /// - Parameter local: The time that clocks show, as milliseconds since they showed 1970-01-01 0:00.
    /// - Returns: Milliseconds since 1970.
    public func moment(ofLocal local: Int64) -> Int64 {
        let local = Timestamp(milliseconds: local).milliseconds
        let second = local.floored(by: 1000)
        for (index, offset) in offsets.enumerated() {
            let isLast = index == offsets.count - 1
            let found = second - offset.seconds
            if isLast || max(found, offset.since) < offsets[index + 1].since {
                return found >= offset.since ? local - offset.seconds * 1000 : offset.since * 1000
            }
        }
        return local
    }

    /// The day that the zone's clocks show at a moment, counted from 1970-01-01.
    func day(at moment: Int64) -> Int64 {
        (moment.floored(by: 1000) + secondsEast(at: moment)).floored(by: 86_400)
    }
}

extension Int64 {
    /// The quotient, rounded down.
    func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
