internal import Glibc

/// A process of this machine, told apart from later ones of the same number by when it began (proc_pid_stat(5), kill(2)).
public struct ProcessMark: Sendable, Equatable {
    /// Its number.
    public var id: Int32
    /// The moment when it began, in clock ticks since the machine did, or nil where that is not known.
    public var start: UInt64?

    /// A process by its number and its beginning.
    public init(id: Int32, start: UInt64?) {
        self.id = id
        self.start = start
    }

    /// This process.
    public static var own: ProcessMark { ProcessMark(id: getpid(), start: facts(of: getpid())?.start) }

    /// True if no such process is at work any more. One of which nothing can be learnt may be.
    public var isGone: Bool {
        guard id > 0 else { return false }
        if kill(id, 0) != 0, errno == ESRCH { return true }
        guard let facts = Self.facts(of: id) else { return false }
        return facts.hasEnded || start.map { $0 != facts.start } ?? false
    }

    /// Names the machine's run and the space of process numbers that this process lives in: two processes of one place see each other by
    /// their numbers. Nil where that cannot be learnt.
    ///
    /// The run is the kernel's (random(4)). A service that does not see it gets it from its manager in `BOOT_ID`. The machine's name, or its
    /// own number, would not do: copies of a machine share them.
    public static var place: String? {
        let run = text(of: "/proc/sys/kernel/random/boot_id") ?? getenv("BOOT_ID").map { String(cString: $0) }
        guard let digits = run?.filter(\.isHexDigit), !digits.isEmpty, let space = link("/proc/self/ns/pid") else { return nil }
        return "\(digits) \(space)"
    }

    /// The kernel's facts about a process, or nil where it gives none.
    private static func facts(of id: Int32) -> (hasEnded: Bool, start: UInt64)? {
        // The name, in parentheses, may hold anything. Behind it come the state and, 19 words on, the start.
        guard let text = text(of: "/proc/\(id)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let words = text[text.index(after: end)...].split(separator: " ")
        guard words.count > 19, let start = UInt64(words[19]) else { return nil }
        return (words[0] == "Z" || words[0] == "X", start)
    }

    private static func link(_ path: String) -> String? { filled { readlink(path, $0, $1) } }

    /// The first 4 KiB of a file.
    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return filled { read(descriptor, $0, $1) }
    }

    /// The text that a call writes into a buffer, of which it gives the length, or less than 0.
    private static func filled(by call: (UnsafeMutablePointer<CChar>, Int) -> Int) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = call(start, buffer.count)
            guard count >= 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: min(count, buffer.count)), as: UTF8.self)
        }
    }
}
