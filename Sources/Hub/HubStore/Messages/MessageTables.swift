/// The tables of notifications and jobs in version 1.
enum MessageTables {
    static let sql = ""
    static let rules: [(claim: String, violations: String)] = []
    /// Counts the notifications that are not at their end.
    static let unfinished = "SELECT 0"
}
