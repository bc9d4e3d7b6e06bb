import Basics
import CMicroHTTPD
import Glibc

/// One thread that wakes suspended connections when their time has come, and checks the deadlines of the running ones.
///
/// A connection is suspended by its own server thread and then handed over. From then on it belongs to the timer until it is
/// resumed, so no other thread touches it or its socket meanwhile.
///
/// `@unchecked Sendable`: `waiting` and `isStopped` are read and written only while `mutex` is held. The three pthread objects
/// are made in `init`, never moved and destroyed in `deinit`, after the thread has been joined.
final class DelayTimer: @unchecked Sendable {
    /// The action at the deadline.
    enum Duty {
        case resume
        /// Check whether the peer has gone: resume then, else check again.
        case watch(socket: Int32)
        /// Write the next piece of a raw answer to the socket. Resume after the last.
        case drip(socket: Int32, bytes: [UInt8], written: Int, pieceByteCount: Int, interval: UInt64)
        /// End the late connections. Check again while there are any others.
        case check(ConnectionDeadlines, every: UInt64)
    }

    private struct Entry {
        /// The suspended connection, or nil for a duty without one.
        let connection: OpaquePointer?
        let duty: Duty
    }

    /// Nanoseconds between two checks of a silent connection.
    private static let watchInterval: UInt64 = 500_000_000

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let wakeUp = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var thread = pthread_t()
    private var waiting = MomentHeap<UInt64, Entry>()
    private var isStopped = false

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(wakeUp, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(wakeUp)
        pthread_mutex_destroy(mutex)
        wakeUp.deallocate()
        mutex.deallocate()
    }

    /// Starts the thread, which holds `self` until ``stop()``.
    func start() -> Bool {
        let context = Unmanaged.passRetained(self).toOpaque()
        guard pthread_create(&thread, nil, runDelayTimer, context) == 0 else {
            Unmanaged<DelayTimer>.fromOpaque(context).release()
            return false
        }
        return true
    }

    /// Takes over a connection that its server thread has just suspended. After the stop, it is resumed at once.
    func take(_ connection: OpaquePointer, after nanoseconds: UInt64, for duty: Duty) {
        pthread_mutex_lock(mutex)
        guard !isStopped else {
            pthread_mutex_unlock(mutex)
            MHD_resume_connection(connection)
            return
        }
        waiting.add(Entry(connection: connection, duty: duty), at: Self.now() &+ nanoseconds)
        pthread_cond_signal(wakeUp)
        pthread_mutex_unlock(mutex)
    }

    /// Begins to check `deadlines`. After the stop, does nothing.
    func check(_ deadlines: ConnectionDeadlines, every interval: UInt64) {
        pthread_mutex_lock(mutex)
        if !isStopped {
            waiting.add(Entry(connection: nil, duty: .check(deadlines, every: interval)), at: Self.now() &+ interval)
            pthread_cond_signal(wakeUp)
        }
        pthread_mutex_unlock(mutex)
    }

    /// Resumes every connection and ends the thread.
    func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_signal(wakeUp)
        pthread_mutex_unlock(mutex)
        pthread_join(thread, nil)
    }

    /// The thread's body.
    fileprivate func run() {
        pthread_mutex_lock(mutex)
        while !isStopped {
            guard let first = waiting.first else {
                pthread_cond_wait(wakeUp, mutex)
                continue
            }
            guard let entry = waiting.removeDue(Self.now()) else {
                var until = timespec(tv_sec: Int(first / 1_000_000_000), tv_nsec: Int(first % 1_000_000_000))
                pthread_cond_timedwait(wakeUp, mutex, &until)
                continue
            }
            pthread_mutex_unlock(mutex)
            let next = Self.perform(entry)
            pthread_mutex_lock(mutex)
            if let next { waiting.add(next.entry, at: next.deadline) }
        }
        let left = waiting.entries.map(\.element)
        waiting = MomentHeap()
        pthread_mutex_unlock(mutex)
        for entry in left { if let connection = entry.connection { MHD_resume_connection(connection) } }
    }

    /// Does what is due. Returns the entry to keep and its next deadline, or resumes the connection.
    private static func perform(_ entry: Entry) -> (entry: Entry, deadline: UInt64)? {
        switch entry.duty {
        case .resume:
            break
        case .watch(let socket):
            var byte: UInt8 = 0
            let peeked = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            if peeked > 0 || (peeked < 0 && (errno == EAGAIN || errno == EINTR)) {
                return (entry, now() &+ watchInterval)
            }
        case .drip(let socket, let bytes, let written, let piece, let interval):
            let end = min(bytes.count, written + piece)
            let sent = bytes.withUnsafeBytes { all in
                send(socket, all.baseAddress! + written, end - written, Int32(MSG_NOSIGNAL))
            }
            if sent > 0 || errno == EAGAIN, written + max(sent, 0) < bytes.count {
                let duty = Duty.drip(
                    socket: socket, bytes: bytes, written: written + max(sent, 0), pieceByteCount: piece, interval: interval)
                return (Entry(connection: entry.connection, duty: duty), now() &+ interval)
            }
        case .check(let deadlines, let interval):
            let goesOn = deadlines.endLate()
            return goesOn ? (entry, now() &+ interval) : nil
        }
        if let connection = entry.connection { MHD_resume_connection(connection) }
        return nil
    }

    /// Nanoseconds of the monotonic clock.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// The thread's entry point, which takes back the reference that ``DelayTimer/start()`` gave.
private func runDelayTimer(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<DelayTimer>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
