import Glibc

/// What this process may open.
enum Descriptors {
    /// How many connections of `wanted` this process may hold both ends of. Tests that run at the same time need descriptors too,
    /// 600 are left to them; the limit is raised first, as far as the system allows.
    static func affordable(_ wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 100 }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 100 }
        return min(wanted, max(100, (Int(clamping: limit.rlim_cur) - 600) / 2))
    }
}
