extension [UInt8] {
    /// The text without the byte order mark that some editors put in front of UTF-8.
    public var withoutByteOrderMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }
}
