import CMicroHTTPD
import Glibc
import Synchronization

// The functions that libmicrohttpd calls on its own threads. They are nonisolated globals: a closure written in an isolated
// context would trap on a thread that Swift does not know. `context` is always the unretained `ServerCore`, which the
// `HTTPServer` keeps until the library has stopped.

/// Decides on a new connection. To accept one, another may be ended. A refused connection is closed at once.
func peerArrived(_ context: UnsafeMutableRawPointer?, address: UnsafePointer<sockaddr>?, byteCount: socklen_t) -> MHD_Result {
    guard let context, let address else { return .YES }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    guard let deadlines = core.deadlines else { return .YES }
    return deadlines.makeRoom(for: PeerName.read(address).host) ? .YES : .NO
}

/// Counts a new connection's requests, remembers its peer and begins its time. All of it is released when the connection ends.
func connectionChanged(
    _ context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, change: MHD_ConnectionNotificationCode
) {
    guard let context, let slot, let connection else { return }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    switch change {
    case .CONNECTION_NOTIFY_STARTED:
        let peer = pushfan_mhd_peer(connection).map(PeerName.read) ?? ("", 0)
        let socket = pushfan_mhd_socket(connection)
        let state = ConnectionState(socket: socket, remoteAddress: "\(peer.0):\(peer.1)")
        slot.pointee = Unmanaged.passRetained(state).toOpaque()
        core.connections.add(state)
        core.deadlines?.enter(socket, from: peer.0)
    case .CONNECTION_NOTIFY_CLOSED:
        // The library closes the socket after this call.
        core.deadlines?.leave(pushfan_mhd_socket(connection))
        guard let kept = slot.pointee else { return }
        slot.pointee = nil
        core.connections.remove(Unmanaged<ConnectionState>.fromOpaque(kept).takeRetainedValue())
    }
}

/// Starts a request: called with the target as it stands on the wire, before anything is decoded.
func requestStarted(
    _ context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let target, let connection else { return nil }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    guard let kept = pushfan_mhd_connection_context(connection) else { return nil }
    let state = Unmanaged<ConnectionState>.fromOpaque(kept).takeUnretainedValue()
    let exchange = ServerExchange(core: core, connection: connection, state: state, target: target)
    if !exchange.comesLate { core.activeCount.add(1, ordering: .relaxed) }
    // The time of the first request has begun with the connection.
    if exchange.ordinal > 1 { core.deadlines?.begin(pushfan_mhd_socket(connection)) }
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// Ends a request that ``requestStarted`` began, answered or aborted.
func requestEnded(
    _ context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let context, let connection, let slot, let exchange = slot.pointee else { return }
    let ended = Unmanaged<ServerExchange>.fromOpaque(exchange).takeRetainedValue()
    slot.pointee = nil
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    if ended.isDeferred { core.waitingCount.subtract(1, ordering: .releasing) }
    if !ended.comesLate { core.activeCount.subtract(1, ordering: .releasing) }
    ended.state.rest()
    core.deadlines?.beginIdle(pushfan_mhd_socket(connection))
}

/// Leaves escapes as they are: the request decodes its own target.
func leaveEscaped(
    _ context: UnsafeMutableRawPointer?, connection: OpaquePointer?, text: UnsafeMutablePointer<CChar>?
) -> Int {
    text.map { strlen($0) } ?? 0
}

/// Drives one request: first its head, then pieces of its body, then its end, and once more after a suspension.
func requestAdvanced(
    _ context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
    uploadByteCount: UnsafeMutablePointer<Int>?, slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let exchange = slot?.pointee, let method, let version, let uploadByteCount else { return .NO }
    let current = Unmanaged<ServerExchange>.fromOpaque(exchange).takeUnretainedValue()
    let piece = UnsafeRawBufferPointer(start: upload, count: uploadByteCount.pointee)
    uploadByteCount.pointee = 0
    return current.advanced(method: method, version: version, piece: piece) ? .YES : .NO
}

/// Collects one header field. `context` is the `HeadReader` on the stack of ``Exchange``.
func headerFound(
    _ context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameByteCount: Int,
    value: UnsafePointer<CChar>?, valueByteCount: Int
) -> MHD_Result {
    guard let context, let name else { return .NO }
    context.assumingMemoryBound(to: HeadReader.self).pointee.addField(
        name: UnsafeRawBufferPointer(start: name, count: nameByteCount),
        value: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueByteCount))
    return .YES
}
