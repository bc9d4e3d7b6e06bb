package import HubServer

/// The registrations of a hub as lines, in the form of the service's bulk exports.
///
/// Each portion is of one state of the devices. A registration that is written meanwhile comes again, behind its former line.
package struct RegistrationExport {
    /// Registrations that are read at a time.
    private static let portion = 1000

    /// Registrations so far.
    package private(set) var count = 0
    private let devices: any DeviceStore
    private var cursor: Int? = 0

    /// An export that has not begun.
    package init(of devices: any DeviceStore) { self.devices = devices }

    /// Reads on.
    ///
    /// - Returns: Lines without their ends, or nil behind the last one.
    /// - Throws: 503.
    package mutating func nextLines() throws(RefusedCall) -> [[UInt8]]? {
        guard let place = cursor else { return nil }
        let part = try devices.read { (book) throws(RefusedCall) in
            let (page, next) = try book.page(of: .all, from: place, limit: Self.portion)
            return (lines: page.map { Array(RegistrationWriter.line($0).utf8) }, next: next)
        }
        count += part.lines.count
        cursor = part.next
        return part.lines
    }
}
