/// The tables of devices in version 1.
enum DeviceTables {
    static let sql = ""
}
