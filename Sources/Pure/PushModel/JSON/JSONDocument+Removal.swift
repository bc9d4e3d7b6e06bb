extension JSONDocument {
    /// Takes members out of the object at `object`, as if they had never been written in it. Other values have none.
    ///
    /// Its text stays as it is until `rewrite`. A node of a member that is taken out is of no more use, nor is that of the first key.
    ///
    /// - Returns: True if there was one.
    mutating func removeMembers(
        of object: Node, where isToGo: (_ key: Text, _ value: Node, borrowing JSONDocument) -> Bool
    ) -> Bool {
        guard kind(of: object) == .object else { return false }
        var kept: [(key: Node, value: Node)] = []
        var members = children(of: object)
        while let (key, value) = members.next(in: self) {
            if !isToGo(text(of: key), value, self) { kept.append((key, value)) }
        }
        guard kept.count < childCount(of: object) else { return false }
        tokens[Int(object.index)].childCount = Int32(kept.count)
        // The first key always stands behind its object.
        if let first = kept.first { tokens[Int(object.index) + 1] = tokens[Int(first.key.index)] }
        for (earlier, later) in zip(kept, kept.dropFirst()) { tokens[Int(earlier.value.index)].next = later.key.index }
        return true
    }

    /// Writes the text of the object at `object` again, of the texts of the members that it has.
    mutating func rewrite(_ object: Node) {
        var json = ByteWriter(capacity: text(of: object).count)
        json.append("{")
        var isFirst = true
        forEachMember(of: object) { key, value in
            if !isFirst { json.append(",") }
            isFirst = false
            json.append(json: span(key))
            json.append(":", verbatim: value, in: self)
        }
        json.append("}")
        let written = add(json.span)
        tokens[Int(object.index)].start = written.start
        tokens[Int(object.index)].length = written.length
    }
}
