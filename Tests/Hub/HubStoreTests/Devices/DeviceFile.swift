import Foundation
import HubServer
import TestSupport

@testable import HubStore

/// A hub's file in a folder of its own, which goes with it.
final class DeviceFile {
    private let folder: TemporaryFolder
    private let handleKey: [UInt8]?
    private(set) var file: HubFile

    /// Makes an empty file, whose handles are sealed or plain.
    init(isSealed: Bool = false) throws {
        folder = try TemporaryFolder()
        handleKey = isSealed ? [UInt8](0..<32) : nil
        file = try Self.open(folder, key: handleKey)
    }

    deinit { file.close() }

    private static func open(_ folder: TemporaryFolder, key: [UInt8]?) throws -> HubFile {
        var terms = HubFileTerms(path: folder.path("hub.db"), handleKey: key)
        terms.readerCount = 1
        return try HubFile(terms)
    }

    var devices: FileDevices { FileDevices(file) }

    /// Closes the file and opens it again.
    func reopen() throws {
        file.close()
        file = try Self.open(folder, key: handleKey)
    }

    /// The faults that a check finds.
    func problems() throws -> [String] { try HubFile.check(path: file.path, handleKey: handleKey).problems }

    /// All bytes that belong to the file, once it is closed.
    func closedBytes() throws -> Data {
        file.close()
        return try FileManager.default.contentsOfDirectory(atPath: folder.path("")).reduce(into: Data()) { bytes, name in
            bytes += try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
        }
    }
}
