import Synchronization

/// Hands out a client until it is closed. A call in flight keeps the client alive, a later one gets a typed error.
final class ClientLease: Sendable {
    /// Protects the reference. Nothing else is locked while it is held.
    private let client: Mutex<ClientHandle?>

    init(_ client: ClientHandle) { self.client = Mutex(client) }

    /// The client. Throws an error with `isClosed` after `end()`.
    func current() throws(KafkaError) -> ClientHandle {
        guard let client = client.withLock({ $0 }) else { throw .closed }
        return client
    }

    /// Takes the client back. Nil if that was done before.
    func end() -> ClientHandle? {
        client.withLock { client in
            defer { client = nil }
            return client
        }
    }
}
