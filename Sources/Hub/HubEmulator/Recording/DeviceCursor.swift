import Basics

/// A place in the list of devices: behind so many devices, and behind so many rings of the next one.
struct DeviceCursor: Sendable, Equatable {
    /// The place before all devices.
    static let start = DeviceCursor(deviceCount: 0, ringCount: 0)

    let deviceCount: Int
    let ringCount: Int

    init(deviceCount: Int, ringCount: Int) {
        self.deviceCount = deviceCount
        self.ringCount = ringCount
    }

    /// Reads `DEVICES` or `DEVICES.RINGS`, each of 1 to 9 digits.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            (1...9).contains(part.utf8.count) && part.utf8.allSatisfy(\.isDigit) ? Int(part) : nil
        }
        guard numbers.count == parts.count else { return nil }
        self.init(deviceCount: numbers[0], ringCount: numbers.dropFirst().first ?? 0)
    }

    /// The form that a cursor is read from.
    var text: String { ringCount == 0 ? "\(deviceCount)" : "\(deviceCount).\(ringCount)" }
}
