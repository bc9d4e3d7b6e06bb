internal import Glibc

/// The service manager that started this process, as systemd does: it is sent a datagram for each note (sd_notify(3)).
public struct ServiceManager: Sendable {
    /// A note to the manager. A datagram may hold several.
    public enum Note: Sendable {
        /// The process serves, or serves with the settings that it has read again.
        case ready
        /// It reads its settings again, since this time of CLOCK_MONOTONIC in microseconds.
        case reloading(since: Int64)
        /// It ends.
        case stopping
        /// The present start, reload or stop may last so long from now, where the limit of the unit is shorter.
        case takes(Duration)
        /// It lives. To be sent within each `watchdogLimit`.
        case alive
        /// One line for people, of which 200 bytes count. Control characters become blanks.
        case status(String)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .reloading(let start): "RELOADING=1\nMONOTONIC_USEC=\(start)"
            case .stopping: "STOPPING=1"
            case .takes(let limit): "EXTEND_TIMEOUT_USEC=\(ServiceManager.microseconds(limit))"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=" + ServiceManager.oneLine(text)
            }
        }
    }

    /// The longest wait for the manager to take a note, in seconds. A note is lost beyond it, and no thread with it.
    private static let sendLimit = 1

    private let path: [UInt8]
    /// The longest time between two signs of life, or nil where the manager watches for none (sd_watchdog_enabled(3)).
    public let watchdogLimit: Duration?

    /// The manager that the variables name. Nil where there is none, or its address is none of unix(7).
    ///
    /// - Parameters:
    ///   - variables: The environment, of which `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are read.
    ///   - processID: The process that the watchdog must be meant for, or nil for this one.
    public init?(variables: [String: String], processID: Int32? = nil) {
        guard let name = variables["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@") else { return nil }
        let bytes = Array(name.utf8)
        guard (2..<MemoryLayout.size(ofValue: sockaddr_un().sun_path)).contains(bytes.count) else { return nil }
        // The first byte of an abstract address is 0.
        path = bytes[0] == UInt8(ascii: "@") ? [0] + bytes.dropFirst() : bytes
        let isMeant = variables["WATCHDOG_PID"].map { Int32($0) == processID ?? getpid() } ?? true
        let limit = variables["WATCHDOG_USEC"].flatMap { Int64($0) }
        watchdogLimit = if isMeant, let limit, limit > 0 { .microseconds(limit) } else { nil }
    }

    /// Sends notes, in one datagram. Returns whether the manager has them. Safe from any thread.
    @discardableResult
    public func send(_ notes: Note...) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: Self.sendLimit, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        // The length tells where an abstract name ends. A path ends with a 0.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count + (path[0] == 0 ? 0 : 1))
        let text = Array(notes.map(\.line).joined(separator: "\n").utf8)
        let count = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        return count == text.count
    }

    /// The present of the clock that ``Note/reloading(since:)`` takes, in microseconds.
    public static func monotonicMicroseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return max(0, seconds) * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    private static func oneLine(_ text: String) -> String {
        let plain = String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
        return String(decoding: String(plain).utf8.prefix(200), as: UTF8.self)
    }
}
