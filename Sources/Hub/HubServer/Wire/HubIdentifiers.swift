import Basics

/// Makes the ids that a hub hands out. They are random, not secret.
///
/// The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
package struct HubIdentifiers: RandomNumberGenerator, Sendable {
    package static let step: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= Self.step
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// `{32 hex}-{yyyyMMddHHmmss}-{n}-{n}`
    package mutating func notificationID(at moment: Moment) -> String {
        "\(hex(32))-\(moment.compact)-\(next() % 900_000 + 100_000)-\(next() % 64)"
    }

    /// True if `text` may name a notification, scheduled ones included: 32 small hexadecimal digits, then the rest.
    package static func isNotificationID(_ text: String) -> Bool {
        let bytes = text.utf8.span
        guard bytes.count > 33, bytes.count <= 128, bytes[32] == UInt8(ascii: "-") || bytes[32] == UInt8(ascii: "_") else {
            return false
        }
        for index in bytes.indices {
            let byte = bytes[index]
            let isRight = index < 32 ? byte.isDigit || byte &- 0x61 < 6 : byte.isLetterOrDigit || byte == 0x2D || byte == 0x5F
            if !isRight { return false }
        }
        return true
    }

    /// `{32 hex}_{yyyyMMddHHmmss}_{digits}_{digits}_QNHQueue{hex}-S{digits}`
    package mutating func scheduledID(at moment: Moment) -> String {
        "\(hex(32))_\(moment.compact)_\(next() % 900_000 + 100_000)_\(next() % 64)_QNHQueue\(hex(8))-S\(next() % 16)"
    }

    /// `{digits}-{digits}-{small number}`
    package mutating func registrationID() -> String { "\(next() >> 1)-\(next() >> 1)-\(next() % 3 + 1)" }

    /// `8-4-4-4-12` hexadecimal digits, marked as a random UUID (RFC 9562, 5.4).
    package mutating func trackingID() -> String {
        var bytes = digits(32)
        bytes[12] = UInt8(ascii: "4")
        bytes[16] = "89ab".utf8.span[Int(next() & 3)]
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `count` lower-case hexadecimal digits.
    private mutating func hex(_ count: Int) -> String { String(decoding: digits(count), as: UTF8.self) }

    private mutating func digits(_ count: Int) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(count)
        var bits: UInt64 = 0
        for index in 0..<count {
            if index % 16 == 0 { bits = next() }
            let digit = UInt8(truncatingIfNeeded: bits & 15)
            digits.append(Hexadecimal.digit(digit))
            bits >>= 4
        }
        return digits
    }
}
