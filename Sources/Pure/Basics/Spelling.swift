/// Finds what a mistyped word was probably meant to be.
public enum Spelling {
    /// The known word that differs from `word` in few letters, or the only one that begins with it.
    ///
    /// - Parameters:
    ///   - word: What was written; beyond 64 bytes nothing is near it.
    ///   - known: The words that there are.
    ///   - allowance: The most letters that may differ; by default 2, and more for long flags.
    /// - Returns: Nil when none is near.
    public static func nearest(to word: String, among known: [String], allowance: Int? = nil) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        let begun = known.filter { $0.hasPrefix(word) }
        if begun.count == 1 { return begun[0] }
        let allowance = allowance ?? (word.hasPrefix("--") ? max(2, word.utf8.count / 5) : 2)
        let ranked = known.map { (word: $0, distance: distance(from: word, to: $0)) }.filter { $0.distance <= allowance }
        return ranked.min { $0.distance < $1.distance }?.word
    }

    /// Letters to insert, delete, replace or swap with a neighbour (optimal string alignment).
    public static func distance(from one: String, to other: String) -> Int {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        var table = [[Int]](repeating: [Int](repeating: 0, count: other.count + 1), count: one.count + 1)
        for row in 0...one.count { table[row][0] = row }
        for column in 0...other.count { table[0][column] = column }
        guard !one.isEmpty, !other.isEmpty else { return max(one.count, other.count) }
        for row in 1...one.count {
            for column in 1...other.count {
                let replaced = table[row - 1][column - 1] + (one[row - 1] == other[column - 1] ? 0 : 1)
                var best = min(replaced, table[row - 1][column] + 1, table[row][column - 1] + 1)
                if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
                    best = min(best, table[row - 2][column - 2] + 1)
                }
                table[row][column] = best
            }
        }
        return table[one.count][other.count]
    }
}
