/// A registration in the order of walks: by the row of its device, then by the time of its last write.
struct Posting: Comparable, Sendable {
    /// The row of the device.
    var device: Int64
    var sequence: Int64

    /// The place directly behind it.
    var next: Posting {
        sequence < .max ? Posting(device: device, sequence: sequence + 1) : Posting(device: device &+ 1, sequence: 0)
    }

    /// True if the registration has a template.
    var hasTemplate: Bool { sequence & 1 == 1 }

    /// The sequence number of a write.
    static func sequence(ofWrite number: Int64, hasTemplate: Bool) -> Int64 { number << 1 | (hasTemplate ? 1 : 0) }

    static func < (left: Posting, right: Posting) -> Bool {
        (left.device, left.sequence) < (right.device, right.sequence)
    }
}
