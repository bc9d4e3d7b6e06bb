package import EventLoop

/// The faults of a file of hubs.
package typealias HubsFault = PlacedFaults

/// The file of hubs: YAML, in which keys stand, or the names of files that have them.
package enum HubsFile {
    /// Reads a file, and the files of keys that it names.
    ///
    /// - Parameter path: The path.
    /// - Returns: The hubs.
    /// - Throws: All faults, without any key.
    package static func read(_ path: String) throws(HubsFault) -> HubsConfiguration {
        let text: FileText
        do throws(FileError<HubsFault>) { text = try FileStore<FileText>(path).read() } catch {
            throw HubsFault("the file \(error)")
        }
        var configuration = try read(text.bytes)
        configuration.files.insert(path, at: 0)
        return configuration
    }

    /// The file and the files that it names, whatever else is wrong with them: the fault may be gone with any of them.
    package static func files(of path: String) -> [String] {
        var reader = HubsReader()
        if let text = try? FileStore<FileText>(path).read() { _ = try? reader.read(text.bytes) }
        return [path] + reader.configuration.files
    }

    /// Reads the text of a file, and the files of keys that it names.
    ///
    /// - Parameter bytes: All of it.
    /// - Returns: The hubs.
    /// - Throws: All faults, without any key.
    package static func read(_ bytes: [UInt8]) throws(HubsFault) -> HubsConfiguration {
        var reader = HubsReader()
        return try reader.read(bytes)
    }
}

/// The bytes of a small file, whatever they say.
struct FileText: FileContent {
    static let maximumByteCount = HubsReader.byteLimit
    let bytes: [UInt8]
    var count: Int { bytes.isEmpty ? 0 : 1 }

    init() { bytes = [] }

    init(_ bytes: [UInt8]) throws(HubsFault) { self.bytes = bytes }

    func keepsAll(of other: FileText) -> Bool { true }
}
