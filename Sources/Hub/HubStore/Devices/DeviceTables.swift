/// The tables of devices in version 1.
enum DeviceTables {
    static let sql = ""
    static let rules: [(claim: String, violations: String)] = []
}
