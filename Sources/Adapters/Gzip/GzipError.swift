/// The reason for which bytes could not be packed or unpacked.
public enum GzipError: Error, Equatable, Sendable, CustomStringConvertible {
    /// They are not what RFC 1952 says, or their checksum or their length is another one.
    case broken
    /// No memory was left.
    case noMemory

    /// One plain sentence.
    public var description: String {
        switch self {
        case .broken: "the bytes are no valid gzip"
        case .noMemory: "there is no memory for gzip"
        }
    }
}
