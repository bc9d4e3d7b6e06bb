/// Numbers of things, as people write them.
package enum Counted {
    /// `1 request waits`, `2 requests wait`.
    ///
    /// - Parameters:
    ///   - count: The number of things.
    ///   - one: The words behind the number 1.
    ///   - many: The words behind every other number.
    /// - Returns: The number with its words.
    package static func text(_ count: some BinaryInteger, _ one: String, _ many: String) -> String {
        count == 1 ? "1 \(one)" : "\(count) \(many)"
    }
}
