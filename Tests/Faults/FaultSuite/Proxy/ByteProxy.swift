import Synchronization

/// A proxy before the hub that moves bytes, or does not.
final class ByteProxy: Sendable {
    /// How bytes travel.
    enum Behaviour: Sendable, Equatable {
        /// As they come.
        case forward
        /// Every piece of an answer waits for so long.
        case delay(Duration)
        /// Nothing passes in either direction until the behaviour is another.
        case hold
        /// The connection ends after so many bytes of an answer.
        case cutAfter(byteCount: Int)
        /// A text in answers is replaced by one of the same length.
        case replace(String, with: String)
    }

    private let relay: Relay
    private let pump: BytePump

    /// A proxy on a free port before the port `target`.
    init(target: UInt16) throws {
        let pump = BytePump()
        self.pump = pump
        relay = try Relay(
            target: target, toServer: { pump.move(from: $0.client, to: $0.server, isAnswer: false) },
            toClient: { pump.move(from: $0.server, to: $0.client, isAnswer: true) })
    }

    /// The port that clients connect to.
    var port: UInt16 { relay.port }

    /// Changes how bytes travel, on connections that exist as well.
    func behave(_ behaviour: Behaviour) { pump.set(behaviour) }

    /// Refuses connections and ends those there are.
    func refuse() { relay.refuse() }

    /// Takes connections again.
    func reopen() throws { try relay.reopen() }

    /// Ends every connection; new ones are taken.
    func cutAll() { relay.cutAll() }

    /// Ends the proxy.
    func close() {
        pump.set(.forward)
        relay.refuse()
    }
}

/// Moves the bytes of all connections of one proxy.
private final class BytePump: Sendable {
    /// What is done with bytes; read for every piece.
    private let behaviour = Mutex(ByteProxy.Behaviour.forward)

    func set(_ new: ByteProxy.Behaviour) { behaviour.withLock { $0 = new } }

    private var current: ByteProxy.Behaviour { behaviour.withLock { $0 } }

    func move(from source: Socket, to target: Socket, isAnswer: Bool) {
        while true {
            var piece = source.read(atMost: 1 << 14)
            guard !piece.isEmpty else { return }
            while current == .hold { Clock.pause(.milliseconds(20)) }
            switch current {
            case .forward, .hold: break
            case .replace(let old, let new):
                guard isAnswer, let range = piece.firstRange(of: Array(old.utf8)) else { break }
                piece.replaceSubrange(range, with: Array(new.utf8))
            case .delay(let wait): if isAnswer { Clock.pause(wait) }
            case .cutAfter(let count):
                guard !isAnswer else {
                    _ = target.write(Array(piece.prefix(count)))
                    return
                }
            }
            guard target.write(piece) else { return }
        }
    }
}
