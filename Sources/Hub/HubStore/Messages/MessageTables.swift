/// The tables of notifications and jobs in version 1.
enum MessageTables {
    static let sql = ""
}
