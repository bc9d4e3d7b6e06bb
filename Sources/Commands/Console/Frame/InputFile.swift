import Glibc

/// Reads the files that a command line names.
enum InputFile {
    /// All of a file of any size.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard let bytes = readAll(descriptor) else { throw failure(path) }
        return bytes
    }

    /// The bytes up to the end of an open file, or nil with the reason in `errno`.
    static func readAll(_ descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let piece = readPiece(descriptor, atMost: 65_536) {
            if piece.isEmpty { return bytes }
            bytes += piece
        }
        return nil
    }

    /// The next bytes of an open file: none at its end, or nil with the reason in `errno`.
    static func readPiece(_ descriptor: Int32, atMost count: Int) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: count)
        while true {
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            return count < 0 ? nil : Array(piece.prefix(count))
        }
    }

    /// All of a file, or of standard input for `-`.
    static func read(_ path: String, or streams: Streams) throws(CommandFailure) -> [UInt8] {
        path == "-" ? try streams.input() : try read(path)
    }

    /// The reason for which a file cannot be read, as `errno` has it.
    static func failure(_ path: String) -> CommandFailure {
        .usage("the file \(Sanitised.quoted(path)) cannot be read: \(String(cString: strerror(errno)))")
    }
}
