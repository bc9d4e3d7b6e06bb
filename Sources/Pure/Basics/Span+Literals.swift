/// Bytes beside a literal, of which in line nothing is left but a few comparisons. Each place that is looked at lies inside the span: there are
/// as many bytes behind the first as the literal has.
extension Span<UInt8> {
    /// True if a literal stands at a place.
    @inlinable @inline(__always) public func holds(_ literal: StaticString, at place: Int = 0) -> Bool {
        guard place >= 0, place <= count, count - place >= literal.utf8CodeUnitCount else { return false }
        return literal.withUTF8Buffer { expected in
            for offset in 0..<expected.count where unsafe self[unchecked: place + offset] != expected[offset] { return false }
            return true
        }
    }

    /// True if a literal stands at a place, whatever the case of ASCII letters.
    @inlinable public func holdsIgnoringCase(_ literal: StaticString, at place: Int = 0) -> Bool {
        guard place >= 0, place <= count, count - place >= literal.utf8CodeUnitCount else { return false }
        return literal.withUTF8Buffer { expected in
            for offset in 0..<expected.count
            where unsafe self[unchecked: place + offset].lowercased != expected[offset].lowercased {
                return false
            }
            return true
        }
    }

    /// True if these are the bytes of a literal, whatever the case of ASCII letters.
    @inlinable public func equalsIgnoringCase(_ literal: StaticString) -> Bool {
        count == literal.utf8CodeUnitCount && holdsIgnoringCase(literal)
    }

    /// True if both have the same bytes, whatever the case of ASCII letters.
    @inlinable public func equalsIgnoringCase(_ other: borrowing Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where self[index].lowercased != other[index].lowercased { return false }
        return true
    }
}
