import Glibc

extension Manual {
    /// Writes every page into a folder, which is made when it is not there.
    ///
    /// - Parameter folder: The path of the folder.
    /// - Throws: `failed` with the path that could not be written.
    func write(to folder: String) throws(CommandFailure) {
        guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw Self.failure(folder) }
        for leaf in leaves {
            let path = folder + "/" + leaf.fileName
            guard let file = fopen(path, "we") else { throw Self.failure(path) }
            let bytes = Array(leaf.text.utf8)
            let count = fwrite(bytes, 1, bytes.count, file)
            guard fclose(file) == 0, count == bytes.count else { throw Self.failure(path) }
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(.failed, "\(Sanitised.quoted(path)) cannot be written: \(String(cString: strerror(errno)))")
    }
}
