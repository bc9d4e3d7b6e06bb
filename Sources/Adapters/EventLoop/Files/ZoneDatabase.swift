internal import Glibc

/// The time zone database of this machine, and the zone that it is set to (tzfile(5), localtime(5)).
public enum ZoneDatabase {
    /// The folder of the zones' files.
    private static let folder = "/usr/share/zoneinfo/"
    private static let ownZone = "/etc/localtime"

    /// Reads the file of a zone.
    ///
    /// - Parameters:
    ///   - name: The zone's name, which the caller has checked: it becomes a part of the path.
    ///   - limit: The most bytes.
    /// - Returns: The bytes, or nil for a file that is missing or larger.
    public static func file(of name: String, limit: Int) -> [UInt8]? { bytes(of: folder + name, limit: limit) }

    /// Reads the file of the machine's own zone.
    public static func ownFile(limit: Int) -> [UInt8]? { bytes(of: ownZone, limit: limit) }

    /// The name of the machine's own zone: the end of the link's target behind the folder, wherever that is. Nil without a link.
    public static var ownName: String? {
        guard let target = link(ownZone), let end = target.firstRange(of: "/zoneinfo/") else { return nil }
        return String(target[end.upperBound...])
    }

    /// The name in a path to a zone's file. Other texts stay as they are.
    public static func name(inPath path: String) -> String {
        path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
    }

    private static func bytes(of path: String, limit: Int) -> [UInt8]? {
        do throws(FoundFile.Failure) {
            let bytes = try FoundFile(path).bytes(atMost: limit)
            return bytes.count <= limit ? bytes : nil
        } catch {
            return nil
        }
    }

    private static func link(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count)
            guard count >= 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }
}
