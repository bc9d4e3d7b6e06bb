extension JSONDocument {
    /// The number of duplicate keys that are named.
    private static let maximumDuplicates = 16

    /// Looks for keys that stand twice in the object whose token is `object`: by pairs while there are few, else sorted.
    mutating func noteDuplicateKeys(of object: Int) {
        let count = Int(tokens[object].childCount)
        guard count > 1, duplicateKeys.count < Self.maximumDuplicates else { return }
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
                if isEqual(text(of: Node(index: Int32(earlier))), to: name) {
                    noteDuplicate(key)
                    break
                }
                earlier = nextKey(after: earlier)
            }
        }
    }

    /// The key of the member that follows that of `key`.
    private func nextKey(after key: Int) -> Int { Int(tokens[Int(tokens[key].next)].next) }

    private mutating func noteDuplicateKeysSorted(of object: Int, count: Int) {
        var keys: [Int] = []
        keys.reserveCapacity(count)
        var key = object + 1
        for position in 0..<count {
            keys.append(key)
            if position < count - 1 { key = nextKey(after: key) }
        }
        keys.sort { left, right in
            let order = compare(text(of: Node(index: Int32(left))), with: text(of: Node(index: Int32(right))))
            return order == 0 ? left < right : order < 0
        }
        for position in 1..<count
        where isEqual(text(of: Node(index: Int32(keys[position - 1]))), to: text(of: Node(index: Int32(keys[position])))) {
            noteDuplicate(keys[position])
        }
    }

    private mutating func noteDuplicate(_ key: Int) {
        if duplicateKeys.count < Self.maximumDuplicates { duplicateKeys.append(Node(index: Int32(key))) }
    }

    /// Orders by length, then bytes. Negative when `left` comes first.
    private func compare(_ left: Text, with right: Text) -> Int {
        guard left.length == right.length else { return Int(left.length - right.length) }
        let (left, right) = (span(left), span(right))
        for index in left.indices where left[index] != right[index] { return Int(left[index]) - Int(right[index]) }
        return 0
    }
}
