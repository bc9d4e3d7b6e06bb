extension Duration {
    /// The duration in whole milliseconds, a fraction cut off. Beyond 64 bits it is the most that they hold.
    @inlinable public var wholeMilliseconds: Int64 { whole(unitsInSecond: 1000) }

    /// The duration in whole nanoseconds, a fraction cut off. Beyond 64 bits, or 292 years, it is the most that they hold.
    @inlinable public var wholeNanoseconds: Int64 { whole(unitsInSecond: 1_000_000_000) }

    /// The duration in milliseconds as C libraries take them: a fraction rounded up, 0 – 2,147,483,647.
    @inlinable public var timeoutMilliseconds: Int32 {
        let milliseconds = wholeMilliseconds
        let hasFraction = components.attoseconds % 1_000_000_000_000_000 > 0
        return Int32(clamping: max(0, hasFraction && milliseconds < .max ? milliseconds + 1 : milliseconds))
    }

    @inlinable func whole(unitsInSecond units: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        let (scaled, isTooLong) = seconds.multipliedReportingOverflow(by: units)
        // Both parts have the same sign.
        let (sum, isOver) = scaled.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / units))
        return isTooLong || isOver ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Duration? {
    /// The duration in milliseconds as C libraries take them: -1, for no limit, without a duration.
    @inlinable public var timeoutMilliseconds: Int32 { self?.timeoutMilliseconds ?? -1 }
}
