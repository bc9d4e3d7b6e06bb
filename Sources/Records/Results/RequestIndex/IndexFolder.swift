import Glibc

/// The folder of an index of requests: a file for each hour, and one for positions.
enum IndexFolder {
    /// The name of the file of positions.
    static let stateName = "state.sqlite"

    /// Makes the folder where it is missing. One with other files is left alone.
    static func make(_ folder: String) throws(IndexFailure) {
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw .absence(.folder(path: folder, reason: String(cString: strerror(errno))))
        }
        var status = stat()
        let names = names(in: folder)
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            names.contains(stateName) || names.allSatisfy({ hour(ofFile: $0) != nil }),
            status.st_mode & 0o077 == 0 || chmod(folder, 0o700) == 0
        else { throw .absence(.foreign(path: folder)) }
    }

    /// The names of what is in a folder.
    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The hour of a file that an index may have made, journals included.
    static func hour(ofFile name: String) -> Int64? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] == "sqlite" || parts[1] == "sqlite-journal", let hour = Int64(parts[0]), hour >= 0,
            String(hour) == parts[0]
        else { return nil }
        return hour
    }

    /// The path of the file of an hour.
    static func path(of hour: Int64, in folder: String) -> String { "\(folder)/\(hour).sqlite" }

    /// Removes all files of an index, that of positions last, whatever is in them. Nothing of it may be open.
    static func removeAll(in folder: String) {
        let names = names(in: folder)
        guard names.contains(stateName) else { return }
        for name in names where hour(ofFile: name) != nil { unlink(folder + "/" + name) }
        for end in ["-journal", ""] { unlink("\(folder)/\(stateName)\(end)") }
    }
}
