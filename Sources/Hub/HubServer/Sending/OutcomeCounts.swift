/// The number of devices of each push service by outcome, in the order in which they were counted.
package struct OutcomeCounts: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let platform: HubPlatform
        /// `Success`, `WrongToken`, …: the service's own words.
        package let name: String
        package var count: Int
    }

    /// The name of a notification that a push service took.
    package static let success = "Success"
    /// The name of a second registration of a handle that the same notification reaches already.
    package static let skipped = "Skipped"

    package private(set) var entries: [Entry] = []

    /// Counts of nothing.
    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// True if any device ended with anything but a success.
    package var hasFailure: Bool { entries.contains { $0.count > 0 && $0.name != Self.success } }

    package mutating func add(_ name: String, on platform: HubPlatform, count: Int = 1) {
        if let index = entries.firstIndex(where: { $0.platform == platform && $0.name == name }) {
            entries[index].count += count
        } else {
            entries.append(Entry(platform: platform, name: name, count: count))
        }
    }
}
