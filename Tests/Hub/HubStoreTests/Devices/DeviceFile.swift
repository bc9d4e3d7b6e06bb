import Foundation
import HubServer

@testable import HubStore

/// A hub's file in a folder of its own, which goes with it.
final class DeviceFile {
    private static let key = [UInt8](0..<32)

    private let folder: URL
    private let handleKey: [UInt8]?
    private(set) var file: HubFile

    /// Makes an empty file, whose handles are sealed or plain.
    init(isSealed: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("hub-devices-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        handleKey = isSealed ? Self.key : nil
        file = try Self.open(folder, key: handleKey)
    }

    deinit {
        file.close()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func open(_ folder: URL, key: [UInt8]?) throws -> HubFile {
        var terms = HubFileTerms(path: folder.appendingPathComponent("hub.db").path, handleKey: key)
        terms.readerCount = 1
        return try HubFile(terms)
    }

    var devices: FileDevices { FileDevices(file) }

    /// Closes the file and opens it again.
    func reopen() throws {
        file.close()
        file = try Self.open(folder, key: handleKey)
    }

    /// What a check finds wrong.
    func problems() throws -> [String] { try HubFile.check(path: file.path, handleKey: handleKey).problems }

    /// All bytes that belong to the file, once it is closed.
    func closedBytes() throws -> Data {
        file.close()
        var bytes = Data()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            bytes += try Data(contentsOf: folder.appendingPathComponent(name))
        }
        return bytes
    }
}
