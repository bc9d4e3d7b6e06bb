internal import Glibc

/// The account that the process runs as.
public enum ProcessAccount {
    /// The account's name (getpwuid_r(3)), or nil where the system's list of accounts does not have it, as in many containers.
    public static var name: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // Room for the texts of one entry. An entry that needs more counts as missing.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { texts in
            guard let room = texts.baseAddress, getpwuid_r(getuid(), &entry, room, texts.count, &found) == 0,
                let name = found?.pointee.pw_name
            else { return nil }
            return String(cString: name)
        }
    }
}
