import Glibc
import SQLite
import TestSupport
import Testing

/// `F_OFD_GETLK` of Linux, which its headers show to few.
private let getLockOfFile: Int32 = 36

/// Locks of one connection while others of the same process open the file.
@Suite(.tags(.c)) struct DatabaseLockTests {
    @Test func openingAFileAgainKeepsTheLocksOfThoseWhoReadIt() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("d.sqlite")
        let first = try Database(path: path, waiting: .zero)
        try first.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1)")
        // Stays open: closing it would end the locks, too.
        let probe = open(path, O_RDWR | O_CLOEXEC)
        try #require(probe >= 0)
        defer { close(probe) }
        try first.read { () throws(SQLiteError) in
            _ = try first.integer("SELECT count(*) FROM t")
            #expect(Self.isLocked(probe))
            let second = try Database(path: path, waiting: .zero)
            #expect(try second.integer("SELECT count(*) FROM t") == 1)
            #expect(Self.isLocked(probe))
        }
        #expect(!Self.isLocked(probe))
    }

    /// Asks with a lock of the open file, which meets those of this process as well (fcntl(2), open file description locks).
    private static func isLocked(_ file: Int32) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return fcntl(file, getLockOfFile, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}
