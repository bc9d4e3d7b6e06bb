import Basics
import EventLoop
import Foundation
import Keys
import TestSupport
import Testing

/// A folder as Kubernetes mounts a secret: each file is a link into `..data`, and that is a link to a folder, which is replaced as one.
@Suite(.tags(.c)) struct ReplacedFolderTests {
    private struct Mount {
        let folder: Folder

        init(_ bytes: some Sequence<UInt8>) throws {
            folder = try Folder()
            try FileManager.default.createSymbolicLink(atPath: folder.file, withDestinationPath: "..data/keys")
            try put(bytes, as: "..2026_01_01")
        }

        /// Replaces all files at once.
        func put(_ bytes: some Sequence<UInt8>, as name: String) throws {
            try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: false)
            try Data(Array(bytes)).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)/keys"))
            try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/..data_tmp", withDestinationPath: name)
            try #require(rename("\(folder.path)/..data_tmp", "\(folder.path)/..data") == 0)
        }
    }

    @Test func aSecretThatIsReplacedIsReadAgain() throws {
        let (one, two) = (try newKey(), try newKey())
        let mount = try Mount(file(one).bytes)
        let source = try KeySource(mount.folder.file, now: second(0), report: { _ in })
        try mount.put(file(one, two).bytes, as: "..2026_01_02")
        try FileManager.default.removeItem(atPath: mount.folder.path + "/..2026_01_01")
        #expect(try source.current(now: second(2)).verdict(on: presented(two.text), at: 1000) == .right(two.key))
    }

    @Test func aLookFindsEachReplacementOnce() throws {
        let mount = try Mount("a".utf8)
        let paths = [mount.folder.file, mount.folder.path + "/none"]
        var changes = FileChanges(paths)
        #expect(!changes.findNew(among: paths) && !changes.findNew(among: paths))
        for name in ["..2026_01_02", "..2026_01_03"] {
            try mount.put("a".utf8, as: name)
            #expect([1, 2, 3, 4].map { _ in changes.findNew(among: paths) } == [false, true, false, false])
        }
        let changed = changes.take(paths)
        let again = changes.take(paths)
        #expect(changed && !again && !changes.findNew(among: paths))
        try FileManager.default.removeItem(atPath: mount.folder.file)
        #expect([1, 2, 3].map { _ in changes.findNew(among: paths) } == [false, true, false])
    }
}
