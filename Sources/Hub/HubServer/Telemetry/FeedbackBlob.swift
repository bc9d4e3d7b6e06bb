/// A blob of the feedback container.
package struct FeedbackBlob: Sendable {
    /// The line of a blob in a list.
    package struct Head: Sendable, Equatable {
        package let name: String
        package let byteCount: Int
        /// The time of the last write, in milliseconds since 1970.
        package let modified: Int64

        package init(name: String, byteCount: Int, modified: Int64) {
            (self.name, self.byteCount, self.modified) = (name, byteCount, modified)
        }
    }

    package let name: String
    package var bytes: [UInt8]
    /// The time of the last write, in milliseconds since 1970.
    package var modified: Int64

    package init(name: String, bytes: [UInt8], modified: Int64) {
        (self.name, self.bytes, self.modified) = (name, bytes, modified)
    }

    package var head: Head { Head(name: name, byteCount: bytes.count, modified: modified) }
}
