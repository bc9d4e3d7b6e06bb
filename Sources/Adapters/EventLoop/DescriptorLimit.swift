import Glibc

/// The number of file descriptors that this process may have open: `RLIMIT_NOFILE` (getrlimit(2)).
public struct DescriptorLimit: Sendable, Equatable {
    /// The limit that counts now.
    public var soft: Int
    /// The limit up to which the process may raise it.
    public var hard: Int

    /// Limits. Commands that judge them are tested with such.
    public init(soft: Int, hard: Int) {
        self.soft = soft
        self.hard = hard
    }

    /// The limits of this process, or nil if they cannot be read.
    public static func current() -> DescriptorLimit? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return DescriptorLimit(soft: Int(clamping: limit.rlim_cur), hard: Int(clamping: limit.rlim_max))
    }

    /// Raises the limit of this process as far as it may. Nothing of it selects by descriptor sets, whose size would be the bound.
    public static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
