import EventLoop
package import ResultQuery

extension LocalZone {
    /// The zone of a name as people write it: `Europe/Berlin`, `UTC`, or a distance such as `+01:00`.
    ///
    /// - Parameter name: The name, which may come from anybody. One that this machine does not know gives nil.
    package init?(named name: String) {
        if let fixed = LocalZone(fixed: name) {
            self = fixed
            return
        }
        guard Self.isName(name), let bytes = ZoneDatabase.file(of: name, limit: Self.fileLimit) else { return nil }
        self.init(name: name, file: bytes)
    }

    /// The zone of a terminal: that of the variable `TZ`, else the machine's, else UTC.
    package static func current(environment: [String: String]) -> LocalZone {
        if let text = environment["TZ"], !text.isEmpty {
            let name = ZoneDatabase.name(inPath: text.hasPrefix(":") ? String(text.dropFirst()) : text)
            return LocalZone(named: name) ?? LocalZone(rule: name) ?? .utc
        }
        if let name = ZoneDatabase.ownName, let zone = LocalZone(named: name) { return zone }
        return ZoneDatabase.ownFile(limit: fileLimit).flatMap { LocalZone(name: "local time", file: $0) } ?? .utc
    }
}
