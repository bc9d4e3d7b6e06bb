import CMicroHTTPD
import Synchronization

/// The library's source of a stream, until it releases the answer.
///
/// Touched only by callbacks of its own connection.
final class StreamReader {
    private let pipe: StreamPipe
    private let core: ServerCore
    private let socket: Int32

    /// Reads `pipe`, which has just taken the connection of `socket`.
    init(_ pipe: StreamPipe, core: ServerCore, socket: Int32) {
        self.pipe = pipe
        self.core = core
        self.socket = socket
        core.streams.add(pipe)
    }

    deinit {
        pipe.close()
        core.streams.remove(pipe)
    }

    /// Reads the next bytes. Returns their number, 0 for none yet, or a negative number of the library for the end. Its client
    /// has the time of an answer to take them. While there are none, no time counts.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        let next = pipe.read(into: room)
        if next == .later { core.deadlines?.end(socket) } else { core.deadlines?.begin(socket) }
        return switch next {
        case .bytes(let count): count
        case .later: 0
        // `MHD_CONTENT_READER_END_OF_STREAM` and `_END_WITH_ERROR`, casts in microhttpd.h that are not imported.
        case .complete: -1
        case .cut: -2
        }
    }

    /// An answer of the library that reads the stream, or nil if the library makes none.
    consuming func makeResponse() -> OpaquePointer? {
        let context = Unmanaged.passRetained(self)
        // Chunks are as long as the connection's buffer allows. Without chunks, so many bytes are read at a time.
        let made = MHD_create_response_from_callback(.max, 1024, streamRead, context.toOpaque(), streamFreed)
        if made == nil { context.release() }
        return made
    }
}

/// The streams that have a connection, so that stopping reaches them all.
final class OpenStreams: Sendable {
    private struct State {
        var pipes: [ObjectIdentifier: StreamPipe] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Keeps a pipe until ``remove(_:)``. Once closed, cuts it.
    func add(_ pipe: StreamPipe) {
        let isClosed = state.withLock { state -> Bool in
            state.pipes[ObjectIdentifier(pipe)] = pipe
            return state.isClosed
        }
        if isClosed { pipe.cut() }
    }

    func remove(_ pipe: StreamPipe) { state.withLock { $0.pipes[ObjectIdentifier(pipe)] = nil } }

    /// Cuts all of them, and those that come from now on. None is suspended afterwards.
    func close() {
        let pipes = state.withLock { state -> [StreamPipe] in
            state.isClosed = true
            return Array(state.pipes.values)
        }
        for pipe in pipes { pipe.cut() }
    }
}

/// Gives the library the next bytes of a stream, whose ``StreamReader`` is `context`.
private func streamRead(
    _ context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, capacity: Int
) -> Int {
    guard let context, let buffer else { return -2 }
    return Unmanaged<StreamReader>.fromOpaque(context).takeUnretainedValue()
        .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
}

/// Releases what ``streamRead`` reads from.
private func streamFreed(_ context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<StreamReader>.fromOpaque(context).release() }
}
