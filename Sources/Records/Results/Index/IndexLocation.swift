import Basics
import Glibc

/// The file in which the index of a topic's results is kept.
struct IndexLocation {
    let path: String

    /// The number in the header of every index (sqlite.org, Database File Format, section 1.3), so that no other file is mistaken
    /// for one.
    static let applicationID: UInt32 = 0x7066_6978

    /// The file that the caller chose, or one below the user's cache folder, for which the folder is made.
    init(_ choice: IndexChoice, cluster: String, topic: String) throws(IndexAbsence) {
        if let file = choice.file {
            path = file
            try Self.checkThatItIsNobodyElses(file)
        } else {
            let folder = try Self.cacheFolder(choice.environment)
            path = "\(folder)/\(Self.fileName(cluster: cluster, topic: topic))"
        }
    }

    private static func cacheFolder(_ environment: [String: String]) throws(IndexAbsence) -> String {
        // The specification demands that a path that is not absolute is ignored.
        let named = [environment["XDG_CACHE_HOME"], environment["HOME"].map { $0 + "/.cache" }].compactMap(\.self)
        guard let cache = named.first(where: { $0.hasPrefix("/") }) else {
            throw .noFolder
        }
        let folder = cache + "/pushfan"
        for path in [cache, folder] where mkdir(path, 0o700) != 0 && errno != EEXIST {
            throw .folder(path: path, reason: String(cString: strerror(errno)))
        }
        return folder
    }

    /// A name for each cluster and topic. Both come from others, so other characters are replaced by their numbers.
    private static func fileName(cluster: String, topic: String) -> String {
        let words = [topic, cluster].map { word in
            word.utf8.prefix(100).map { byte in
                byte.isLetterOrDigit || "-._".utf8.contains(byte) ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16)
            }.joined()
        }
        return words.joined(separator: "@") + ".sqlite"
    }

    /// A person may name any file by mistake: one that is neither empty nor an index is left as it is.
    static func checkThatItIsNobodyElses(_ path: String, id wanted: UInt32 = applicationID) throws(IndexAbsence) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var header = [UInt8](repeating: 0, count: 72)
        let count = header.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        let id = header[68...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard count == 0 || (count == header.count && id == wanted) else {
            throw .foreign(path: path)
        }
    }
}
