/// The number of devices of each push service by outcome, in the order in which they were counted.
struct OutcomeCounts: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        let platform: HubPlatform
        /// `Success`, `WrongToken`, …: the service's own words.
        let name: String
        var count: Int
    }

    /// The name of a notification that a push service took.
    static let success = "Success"
    /// The name of a second registration of a handle that the same notification reaches already.
    static let skipped = "Skipped"

    private(set) var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// True if any device ended with anything but a success.
    var hasFailure: Bool { entries.contains { $0.count > 0 && $0.name != Self.success } }

    mutating func add(_ name: String, on platform: HubPlatform, count: Int = 1) {
        if let index = entries.firstIndex(where: { $0.platform == platform && $0.name == name }) {
            entries[index].count += count
        } else {
            entries.append(Entry(platform: platform, name: name, count: count))
        }
    }
}
