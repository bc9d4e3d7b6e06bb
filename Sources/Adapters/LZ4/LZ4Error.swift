/// The reason for which bytes could not be packed or unpacked.
public enum LZ4Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// They are cut, or no block, or their number is another one.
    case broken
    /// They are more than ``LZ4Block/sizeLimit``.
    case tooLong

    /// One plain sentence.
    public var description: String {
        switch self {
        case .broken: "the bytes are no valid block of LZ4"
        case .tooLong: "there are more bytes than a block of LZ4 can have"
        }
    }
}
