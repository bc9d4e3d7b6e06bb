extension JSONDocument {
    /// How many duplicate keys are named.
    private static let maximumDuplicates = 16

    /// Looks for keys that stand twice in the object whose token is `object`: first for two that are alike, which most objects do
    /// not have, then by pairs while there are few, else sorted.
    mutating func noteDuplicateKeys(of object: Int) {
        let count = Int(self[token: object].childCount)
        guard count > 1, duplicateKeys.count < Self.maximumDuplicates, hasAlikeKeys(object, count: count) else { return }
        if count > 24 {
            noteDuplicateKeysSorted(of: object, count: count)
            return
        }
        var key = object + 1
        for position in 1..<count {
            key = nextKey(after: key)
            let name = text(of: Node(index: Int32(key)))
            var earlier = object + 1
            for _ in 0..<position {
                if equals(text(of: Node(index: Int32(earlier))), name) {
                    noteDuplicate(key)
                    break
                }
                earlier = nextKey(after: earlier)
            }
        }
    }

    /// Whether two keys agree in length, first and last byte, as equal ones do, or seem to; 64 bits tell most others apart.
    private func hasAlikeKeys(_ object: Int, count: Int) -> Bool {
        var seen: UInt64 = 0
        var key = object + 1
        for position in 0..<count {
            let name = span(text(of: Node(index: Int32(key))))
            let ends = name.isEmpty ? 0 : 3 &* Int(name[0]) &+ Int(name[name.count - 1])
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: ends &+ 7 &* name.count)
            if seen & bit != 0 { return true }
            seen |= bit
            if position < count - 1 { key = nextKey(after: key) }
        }
        return false
    }

    /// The key of the member that follows that of `key`.
    private func nextKey(after key: Int) -> Int {
        Int(self[token: Int(self[token: key].next)].next)
    }

    private mutating func noteDuplicateKeysSorted(of object: Int, count: Int) {
        var keys: [Int] = []
        keys.reserveCapacity(count)
        var key = object + 1
        for position in 0..<count {
            keys.append(key)
            if position < count - 1 { key = nextKey(after: key) }
        }
        keys.sort { left, right in
            let order = compare(text(of: Node(index: Int32(left))), text(of: Node(index: Int32(right))))
            return order == 0 ? left < right : order < 0
        }
        for position in 1..<count
        where equals(text(of: Node(index: Int32(keys[position - 1]))), text(of: Node(index: Int32(keys[position])))) {
            noteDuplicate(keys[position])
        }
    }

    private mutating func noteDuplicate(_ key: Int) {
        if duplicateKeys.count < Self.maximumDuplicates { duplicateKeys.append(Node(index: Int32(key))) }
    }

    /// Orders by length, then bytes; negative when `left` comes first.
    private func compare(_ left: Text, _ right: Text) -> Int {
        guard left.length == right.length else { return Int(left.length - right.length) }
        let (left, right) = (span(left), span(right))
        for index in left.indices where left[index] != right[index] { return Int(left[index]) - Int(right[index]) }
        return 0
    }
}
