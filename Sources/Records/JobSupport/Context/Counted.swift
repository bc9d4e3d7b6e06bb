/// Numbers of things, as people write them.
package enum Counted {
    /// `1 request waits`, `2 requests wait`.
    package static func text(_ count: some BinaryInteger, _ one: String, _ many: String) -> String {
        count == 1 ? "1 \(one)" : "\(count) \(many)"
    }
}
