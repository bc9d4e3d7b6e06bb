internal import Basics
internal import CCurl
internal import Crypto
internal import HTTP1

/// One place of the pool for a connection, and the exchange that it carries.
final class Connection {
    enum Phase {
        /// No connection. Goes to `connecting`.
        case closed
        /// libcurl is at work. Goes to `idle` or `closed`.
        case connecting
        /// Open, without a request. Goes to `busy` or `closed`.
        case idle
        /// Carries an exchange. Goes to `idle` or `closed`.
        case busy
    }

    /// Index in the pool's array.
    let slot: Int
    /// The message for the last failure, libcurl's or the kernel's. Empty when there is none.
    let errorText: UnsafeMutablePointer<CChar>
    var phase = Phase.closed
    var easy: UnsafeMutableRawPointer?
    var descriptor: Int32 = -1
    /// Its bytes without libcurl, once that is possible.
    var tls: TLSStream?
    /// From when on it takes no further request.
    var endOfLife = MonotonicTime.never
    var idleSince = MonotonicTime.never
    /// Nanoseconds from `idleSince` on for which the peer is expected to keep it.
    var idleAllowance = Int64.max
    /// Answers that came on it.
    var answers = 0
    /// Nanoseconds for which it was idle before its request.
    var idleBeforeRequest: Int64 = 0
    /// True if its first answer had a field `Keep-Alive`.
    var hasPromise = false
    /// True if it is to show what the peer does beyond a limit that its habits have.
    var isTrial = false
    /// True if it had an exchange or was idle for a while, so that the peer may have closed it by right.
    var isKept = false
    /// True if the peer has closed its end, be it behind an answer that is still to be read.
    var peerHasEnded = false
    /// True while the poller also waits for room to write.
    var waitsForRoom = false

    var exchange = Exchange.none
    /// Bytes of the request that the connection has taken.
    var sent = 0
    /// True if bytes may have left although they are not counted: a TLS record cut by a full socket.
    var mayHaveSentMore = false
    var parser: AnswerParser
    /// What became of the addresses while it connected.
    var addresses: AddressChoice

    init(slot: Int, configuration: ConnectionPoolConfiguration) {
        self.slot = slot
        parser = AnswerParser(limits: configuration.limits)
        addresses = AddressChoice(refuses: configuration.refuses)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        errorText.deallocate()
    }

    var requestBytesSent: Bool { sent > 0 || mayHaveSentMore }
    var isRequestSent: Bool { sent == exchange.byteCount }

    func begin(_ exchange: consuming Exchange) {
        self.exchange = exchange
        sent = 0
        mayHaveSentMore = false
        phase = .busy
        parser.reset(answersHead: Self.isHead(self.exchange.request))
    }

    private static func isHead(_ request: [UInt8]) -> Bool {
        request.first == UInt8(ascii: "H") && request.starts(with: "HEAD ".utf8)
    }

    /// Takes the exchange out, with its request's memory.
    func takeExchange() -> Exchange {
        var taken = Exchange.none
        swap(&taken, &exchange)
        return taken
    }
}

/// A request that waits for a connection or has one.
struct Exchange {
    var id: Int
    var request: [UInt8]
    /// The bytes of `request` that are sent. The rest of it is room.
    var byteCount: Int
    var deadline: MonotonicTime

    /// The exchange of a connection that has none.
    static var none: Exchange { Exchange(id: -1, request: [], byteCount: 0, deadline: .never) }
}
