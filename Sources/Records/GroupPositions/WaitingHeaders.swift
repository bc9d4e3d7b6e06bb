public import Kafka
import PushModel

/// The content of the headers of a record that waits, read without keeping any of them.
public struct WaitingHeaders {
    /// True if the record holds a poll.
    public private(set) var isPoll = false
    /// True if it is the group's, or nil when it does not say whose.
    public private(set) var isOurs: Bool?
    /// The time at which it is due, milliseconds since 1970.
    public private(set) var due: Int64?

    /// Reads the headers of a record.
    ///
    /// - Parameters:
    ///   - record: A record of a delay lane, or of the topic of held requests.
    ///   - group: The group's name.
    public init(_ record: borrowing ConsumedRecord, group: String) {
        var found = (isPoll: false, isOurs: Bool?.none, due: Int64?.none)
        record.forEachHeader { name, value in
            guard let value else { return }
            switch name.count {
            case 12 where name.equals("pushfan-poll"): found.isPoll = true
            case 13 where name.equals("pushfan-group"): found.isOurs = value.equals(group)
            case 21 where name.equals("pushfan-not-before-ms"): found.due = Self.number(value)
            default: break
            }
        }
        (isPoll, isOurs, due) = found
    }

    /// The number in at most 18 digits, or nil for anything else.
    private static func number(_ text: Span<UInt8>) -> Int64? {
        guard (1...18).contains(text.count) else { return nil }
        var number: Int64 = 0
        for index in text.indices {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
    }
}
