/// A time zone in which a person writes times.
public struct LocalZone: Sendable, Equatable {
    /// The name for people: `UTC`, `+01:00` or `Europe/Berlin`.
    public let name: String
    /// The seconds east of UTC since each moment, oldest first. The first holds for all before, too.
    private let offsets: [Offset]

    private struct Offset: Sendable, Equatable {
        /// The first second since 1970 for which it holds.
        let since: Int64
        let seconds: Int64
    }

    /// UTC.
    public static let utc = LocalZone(name: "UTC", secondsEast: 0)

    /// A zone that is always as far from UTC.
    public init(name: String, secondsEast: Int64) {
        self.name = name
        offsets = [Offset(since: .min, seconds: secondsEast)]
    }

    /// The seconds east of UTC at a moment, in milliseconds since 1970.
    public func secondsEast(at moment: Int64) -> Int64 {
        let second = moment / 1000
        return (offsets.last { $0.since <= second } ?? offsets[0]).seconds
    }
}
