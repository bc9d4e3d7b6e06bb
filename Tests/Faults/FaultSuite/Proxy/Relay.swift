import Foundation
import Synchronization

/// Accepts connections, opens one to the target for each, and hands both to a pump on threads of their own.
///
/// Thread per direction, because the proxy is a test's tool and must be easy to believe, not fast.
final class Relay: Sendable {
    /// The two ends of one connection.
    final class Link: Sendable {
        let client: Socket
        let server: Socket
        /// The directions that still run; the last one closes both descriptors.
        private let running = Mutex(2)

        init(client: Socket, server: Socket) {
            self.client = client
            self.server = server
        }

        /// Ends both directions.
        func cut() {
            running.withLock { count in
                // Not after the descriptors were closed: they may be somebody else's by then.
                guard count > 0 else { return }
                client.shut()
                server.shut()
            }
        }

        /// One direction has ended; true for the last one.
        fileprivate func directionEnded() -> Bool {
            cut()
            return running.withLock { count in
                count -= 1
                guard count == 0 else { return false }
                client.close()
                server.close()
                return true
            }
        }
    }

    private struct State {
        var listener: Socket?
        var links: [ObjectIdentifier: Link] = [:]
    }

    /// The port that clients connect to; stays the same while the relay is closed to them.
    let port: UInt16
    private let target: UInt16
    private let toServer: @Sendable (Link) -> Void
    private let toClient: @Sendable (Link) -> Void
    /// Protects the listener and the list of connections.
    private let state: Mutex<State>

    /// Starts to listen on a free port.
    ///
    /// - Parameters:
    ///   - target: The port to connect to.
    ///   - toServer: Moves what the client sends until the connection ends.
    ///   - toClient: Moves what the server sends until the connection ends.
    /// - Throws: The system refused a socket.
    init(target: UInt16, toServer: @escaping @Sendable (Link) -> Void, toClient: @escaping @Sendable (Link) -> Void) throws {
        let listener = try Socket.listening(port: try Ports.free())
        port = listener.port
        self.target = target
        self.toServer = toServer
        self.toClient = toClient
        state = Mutex(State(listener: listener))
        accept(from: listener)
    }

    /// Refuses new connections and ends those there are.
    func refuse() {
        let listener = state.withLock { state in
            defer { state.listener = nil }
            return state.listener
        }
        listener?.shut()
        cutAll()
    }

    /// Takes connections again.
    ///
    /// - Throws: The port was taken by somebody else.
    func reopen() throws {
        let listener = try Socket.listening(port: port)
        state.withLock { $0.listener = listener }
        accept(from: listener)
    }

    /// Ends every connection; new ones are taken.
    func cutAll() {
        for link in state.withLock({ Array($0.links.values) }) { link.cut() }
    }

    private func accept(from listener: Socket) {
        start("faults-accept") { [self] in
            while let client = listener.accepted() {
                guard let server = try? Socket.connected(port: target) else {
                    client.reset()
                    client.close()
                    continue
                }
                begin(Link(client: client, server: server))
            }
            listener.close()
        }
    }

    private func begin(_ link: Link) {
        let id = ObjectIdentifier(link)
        state.withLock { $0.links[id] = link }
        for direction in [toServer, toClient] {
            start("faults-relay") { [self] in
                direction(link)
                if link.directionEnded() { state.withLock { $0.links[id] = nil } }
            }
        }
    }

    private func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.stackSize = 1 << 18
        thread.start()
    }
}
