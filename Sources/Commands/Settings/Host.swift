import Glibc
import YAML

/// The machine's name and files, as far as settings need them.
public enum Host {
    /// The reason for which a file cannot be read.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }

        init(errno code: Int32) {
            self.init(String(cString: strerror(code)))
        }
    }

    /// The host's name, empty when the system gives none.
    public static var name: String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let status = buffer.withUnsafeMutableBytes { raw in
            let name = raw.bindMemory(to: CChar.self)
            return name.baseAddress.map { gethostname($0, name.count - 1) } ?? -1
        }
        guard status == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The number of bits of a numeric address (inet_pton(3)), 32 or 128, or nil for any other text.
    static func bitCount(ofAddress text: String) -> Int? {
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 { return 32 }
        var long = in6_addr()
        return inet_pton(AF_INET6, text, &long) == 1 ? 128 : nil
    }

    /// The reason for which a file cannot be read, in plain words, or nil. With `mayBeFolder` a folder stands for the files in it.
    static func fault(ofFile path: String, mayBeFolder: Bool = false) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return Unreadable(errno: errno).description }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return Unreadable(errno: errno).description }
        return facts.st_mode & S_IFMT == S_IFDIR && !mayBeFolder ? Unreadable(errno: EISDIR).description : nil
    }

    /// Reads a file of at most 1 MiB. A pipe without a writer reads as empty instead of blocking the program.
    ///
    /// - Parameter path: The file.
    /// - Returns: All of it.
    /// - Throws: A reason in plain words.
    public static func readFile(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Unreadable(errno: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Unreadable(errno: errno) }
            guard count > 0 else { return bytes }
            bytes += chunk.prefix(count)
            guard bytes.count <= YAMLReader.byteLimit else { throw Unreadable("it has more than \(YAMLReader.byteLimit) bytes") }
        }
    }
}
