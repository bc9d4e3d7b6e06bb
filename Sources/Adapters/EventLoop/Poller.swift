public import Basics
internal import CLinux
internal import Glibc

/// Waits for many descriptors at once (epoll(7), level-triggered). Owned by one thread.
///
/// ```swift
/// for index in try poller.wait(until: nextTimer) {
///     let event = poller[index]
/// }
/// ```
public final class Poller {
    /// The kinds of readiness to wait for.
    public struct Interest: OptionSet, Hashable, Sendable {
        /// One bit for each.
        public let rawValue: UInt8

        /// An interest from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Bytes, a new connection, or the end of the stream can be read.
        public static let readable = Interest(rawValue: 1)
        /// Bytes can be written without blocking.
        public static let writable = Interest(rawValue: 2)
        /// The peer will send no more (EPOLLRDHUP). Comes with `readable`, of which it is a part: what it sent before is still to be read.
        public static let ended = Interest(rawValue: 4)
    }

    /// One descriptor that is ready.
    public struct Event: Hashable, Sendable {
        /// The token that the descriptor was added with.
        public let token: UInt64
        /// The readiness that was found. An error or a hang-up is reported as ready for both: the next call shows which it is.
        public let readiness: Interest

        /// An event as `Poller` reports it.
        public init(token: UInt64, readiness: Interest) {
            self.token = token
            self.readiness = readiness
        }
    }

    private let descriptor: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>

    /// Creates a poller.
    ///
    /// - Parameter maximumEvents: Events taken by one wait, at least 1. More stay for the next. Default 256.
    /// - Throws: `SystemCallError` when the process has no descriptor left.
    public init(maximumEvents: Int = 256) throws(SystemCallError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SystemCallError(call: "epoll_create1") }
        events = .allocate(capacity: max(1, maximumEvents))
        events.initialize(repeating: epoll_event())
    }

    deinit {
        _ = Glibc.close(descriptor)
        events.deallocate()
    }

    /// Starts to watch a descriptor.
    ///
    /// - Parameters:
    ///   - fileDescriptor: An open descriptor that is not watched yet.
    ///   - token: Comes back with each of its events.
    ///   - interest: The events to wait for.
    /// - Throws: `SystemCallError`.
    public func add(_ fileDescriptor: Int32, token: UInt64, interest: Interest) throws(SystemCallError) {
        try control(EPOLL_CTL_ADD, of: fileDescriptor, token: token, interest: interest)
    }

    /// Changes the events of a watched descriptor.
    ///
    /// - Parameters:
    ///   - fileDescriptor: A watched descriptor.
    ///   - token: Its token, which may be a new one.
    ///   - interest: The events to wait for from now on.
    /// - Throws: `SystemCallError`.
    public func modify(_ fileDescriptor: Int32, token: UInt64, interest: Interest) throws(SystemCallError) {
        try control(EPOLL_CTL_MOD, of: fileDescriptor, token: token, interest: interest)
    }

    /// Stops watching a descriptor. Nothing happens when it was not watched.
    ///
    /// Events of it that a wait has already returned remain: treat events as hints.
    public func remove(_ fileDescriptor: Int32) {
        _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, fileDescriptor, nil)
    }

    /// Waits until a descriptor is ready or `deadline` has come, in steps of 1 ms, never returning early.
    ///
    /// - Parameter deadline: The end of the wait. A past one only polls, `never` waits without end.
    /// - Returns: The indices of the events, to be read by subscript before the next wait. Empty at the deadline and after a
    ///   signal.
    /// - Throws: `SystemCallError`, which only a programming error can cause.
    public func wait(until deadline: MonotonicTime) throws(SystemCallError) -> Range<Int> {
        let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), Self.milliseconds(until: deadline))
        if count >= 0 { return 0..<Int(count) }
        if errno == EINTR { return 0..<0 }
        throw SystemCallError(call: "epoll_wait")
    }

    /// The event at an index that the last wait returned.
    public subscript(index: Int) -> Event {
        let event = events[index]
        var readiness: Interest = []
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { readiness = [.readable, .writable] }
        if event.events & EPOLLIN.rawValue != 0 { readiness.insert(.readable) }
        if event.events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
        if event.events & EPOLLRDHUP.rawValue != 0 { readiness.insert(.ended) }
        return Event(token: event.data.u64, readiness: readiness)
    }

    private static func milliseconds(until deadline: MonotonicTime) -> Int32 {
        if deadline == .never { return -1 }
        let nanoseconds = deadline.nanoseconds(since: .now())
        if nanoseconds <= 0 { return 0 }
        return Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }

    private func control(
        _ operation: Int32, of fileDescriptor: Int32, token: UInt64, interest: Interest
    ) throws(SystemCallError) {
        var event = epoll_event()
        if interest.contains(.readable) { event.events |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue }
        if interest.contains(.writable) { event.events |= EPOLLOUT.rawValue }
        event.data.u64 = token
        guard epoll_ctl(descriptor, operation, fileDescriptor, &event) == 0 else { throw SystemCallError(call: "epoll_ctl") }
    }
}
