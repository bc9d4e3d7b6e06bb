extension Duration {
    /// Whole milliseconds, rounded up and clamped to 0…2,147,483,647, as librdkafka takes them.
    var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < Int64(Int32.max) / 1000 else { return Int32.max }
        let fraction: Int64 = 1_000_000_000_000_000
        return Int32(seconds * 1000 + (attoseconds + fraction - 1) / fraction)
    }
}

extension Duration? {
    /// The same, or without a duration −1, which the library takes for "as long as it needs".
    var wholeMilliseconds: Int32 { self?.wholeMilliseconds ?? -1 }
}
