extension FixedWidthInteger {
    /// The sum with `other`. Beyond what the type holds, the end that it passed. For numbers from outside: anybody may have
    /// written them.
    @inlinable public func addingSaturated(_ other: Self) -> Self {
        let (sum, isBeyond) = addingReportingOverflow(other)
        guard isBeyond else { return sum }
        return other < 0 ? .min : .max
    }
}
