internal import Basics
internal import CCurl
internal import Crypto
internal import EventLoop
internal import Glibc

/// Opens and closes connections with libcurl's multi interface, and moves bytes over those that are open.
///
/// Each connection is an easy handle with `CURLOPT_CONNECT_ONLY`; it stays in the multi handle for as long as it is used, for
/// libcurl 7.88 closes the socket of one that is removed. While a handle connects, libcurl says through callbacks which sockets and
/// which time to wait for. The callbacks change only `watches` and `timer`, which nothing here holds on to while it calls libcurl.
final class CurlConnector {
    /// The result of a call for bytes.
    enum Transfer {
        case moved(Int)
        case wouldBlock
        case failed(CURLcode)
    }

    /// One watched descriptor. `slot` is -1 while it is libcurl's own.
    private struct Watch {
        var interest: Poller.Interest = []
        var slot: Int32 = -1
    }

    /// The moment when libcurl wants `timeElapsed` to be called.
    private(set) var timer = MonotonicTime.never

    private let poller: Poller
    private let tokenBase: UInt64
    let configuration: ConnectionPoolConfiguration
    /// The proxy that connections go through. libcurl is given it, and asks the environment for none.
    let proxy: ProxyAddress?
    /// True if the bytes on an open connection's socket are those of TLS with the proxy: OpenSSL has two layers then, or one that
    /// is not the host's, and only libcurl can write through both.
    let isWithinProxyTLS: Bool
    /// True if the bytes on an open connection's socket are those of HTTP, so that they can be had without libcurl.
    let isPlain: Bool
    /// True if they are those of one TLS connection with HTTP in it, so that they can be had without libcurl from the second
    /// exchange on.
    let isSimplyTLS: Bool
    let certificates: CertificateStore?
    private let multi: UnsafeMutableRawPointer
    let share: UnsafeMutableRawPointer
    /// The addresses that take the place of looking the host's name up. Empty when nothing does.
    let addresses: UnsafeMutablePointer<curl_slist>?
    /// By descriptor.
    private var watches: [Watch] = []

    init?(
        _ configuration: ConnectionPoolConfiguration, proxy: ProxyAddress?, certificates: CertificateStore?, poller: Poller,
        tokenBase: UInt64
    ) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init() else { return nil }
        guard let share = curl_share_init() else {
            curl_multi_cleanup(multi)
            return nil
        }
        (self.configuration, self.certificates, self.poller, self.tokenBase) = (configuration, certificates, poller, tokenBase)
        (self.multi, self.share) = (multi, share)
        self.proxy = proxy
        isWithinProxyTLS = proxy?.isSecure == true
        isPlain = !isWithinProxyTLS && configuration.scheme == .http
        isSimplyTLS = !isWithinProxyTLS && configuration.scheme == .https
        if !isPlain { TLSStream.ignoreBrokenPipes() }
        let fixed = configuration.addresses.joined(separator: ",")
        addresses = fixed.isEmpty ? nil : curl_slist_append(nil, "\(configuration.authority):\(fixed)")
        _ = push_curl_share_set_long(share, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_SSL_SESSION.rawValue))
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = push_curl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
        _ = push_curl_multi_set_socket_function(multi, watchSocket)
        _ = push_curl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
        _ = push_curl_multi_set_timer_function(multi, setTimer)
    }

    /// All easy handles must have been closed.
    deinit {
        curl_multi_cleanup(multi)
        curl_share_cleanup(share)
        curl_slist_free_all(addresses)
    }

    // MARK: Connecting

    /// Starts a connection, whose end `nextFinished` reports by its slot. It must stay until the handle is closed, for libcurl writes its
    /// message there. Nil when libcurl has no memory or refuses an option.
    func open(_ connection: Connection) -> UnsafeMutableRawPointer? {
        guard let easy = curl_easy_init() else { return nil }
        guard prepare(easy, for: connection), curl_multi_add_handle(multi, easy) == CURLM_OK else {
            curl_easy_cleanup(easy)
            return nil
        }
        return easy
    }

    func close(_ easy: UnsafeMutableRawPointer) {
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
    }

    func socketReady(_ descriptor: Int32, for readiness: Poller.Interest) {
        var mask: Int32 = 0
        if readiness.contains(.readable) { mask |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { mask |= CURL_CSELECT_OUT }
        var running: Int32 = 0
        curl_multi_socket_action(multi, descriptor, mask, &running)
    }

    func timeElapsed() {
        timer = .never
        var running: Int32 = 0
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// The next connection that is open (`CURLE_OK`) or has failed.
    func nextFinished() -> (slot: Int, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            var slot: UnsafeMutablePointer<CChar>?
            _ = push_curl_get_private(message.pointee.easy_handle, &slot)
            return (Int(bitPattern: slot), message.pointee.data.result)
        }
        return nil
    }

    /// Takes over a connection that libcurl has opened. Nil when libcurl or the peer has closed it meanwhile, or the peer has
    /// spoken first.
    func claim(_ easy: UnsafeMutableRawPointer) -> Int32? {
        var descriptor: curl_socket_t = -1
        guard push_curl_get_active_socket(easy, &descriptor) == CURLE_OK, descriptor >= 0 else { return nil }
        // Until its first transfer libcurl takes a connection for an unused one, which it may close when it opens another (7.88).
        var (byte, count): (UInt8, Int) = (0, 0)
        return curl_easy_recv(easy, &byte, 1, &count) == CURLE_AGAIN ? descriptor : nil
    }

    /// Does without libcurl for the bytes of a TLS connection from now on, where that is possible.
    ///
    /// Not before its first answer: the tickets for later connections come ahead of it, and libcurl keeps those only that come while it
    /// reads itself.
    func takeOver(_ connection: Connection) {
        guard isSimplyTLS, connection.tls == nil, let easy = connection.easy else { return }
        var found: UnsafeMutablePointer<curl_tlssessioninfo>?
        guard push_curl_get_tls(easy, &found) == CURLE_OK, let found, found.pointee.backend == CURLSSLBACKEND_OPENSSL,
            let session = found.pointee.internals
        else { return }
        connection.tls = TLSStream(takingOver: session, descriptor: connection.descriptor)
    }

    // MARK: Bytes

    // In each call libcurl 7.88 looks for the handle's connection among all that its multi handle has. Connections go without where
    // they can, as CURLOPT_CONNECT_ONLY(3) allows: with 64 of them it is a quarter, with 512 half of all instructions of an exchange.

    func send(_ bytes: UnsafeRawBufferPointer, over connection: Connection) -> Transfer {
        if isPlain {
            let count = Glibc.send(connection.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            return transfer(count, failure: CURLE_SEND_ERROR, on: connection)
        }
        if let tls = connection.tls { return transfer(tls.send(bytes), failure: CURLE_SEND_ERROR, on: connection) }
        var count = 0
        let code = curl_easy_send(connection.easy, bytes.baseAddress, bytes.count, &count)
        return transfer(code, count: count)
    }

    /// True if anything has come that was not read, the end of the stream included. Costs one system call, and reads nothing.
    func hasArrivals(_ connection: Connection) -> Bool {
        var byte: UInt8 = 0
        return recv(connection.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) >= 0 || errno != EAGAIN
    }

    /// `.moved(0)` is the end of the stream.
    func receive(into bytes: UnsafeMutableRawBufferPointer, over connection: Connection) -> Transfer {
        if isPlain {
            let count = Glibc.recv(connection.descriptor, bytes.baseAddress, bytes.count, 0)
            return transfer(count, failure: CURLE_RECV_ERROR, on: connection)
        }
        if let tls = connection.tls { return transfer(tls.receive(into: bytes), failure: CURLE_RECV_ERROR, on: connection) }
        var count = 0
        let code = curl_easy_recv(connection.easy, bytes.baseAddress, bytes.count, &count)
        return transfer(code, count: count)
    }

    /// The transfer that the kernel's answer comes to. The reason of a failure goes where libcurl puts its own.
    private func transfer(_ count: Int, failure: CURLcode, on connection: Connection) -> Transfer {
        if count >= 0 { return .moved(count) }
        if errno == EAGAIN || errno == EINTR { return .wouldBlock }
        strncpy(connection.errorText, strerror(errno), Int(CURL_ERROR_SIZE) - 1)
        return .failed(failure)
    }

    private func transfer(_ transfer: TLSStream.Transfer, failure: CURLcode, on connection: Connection) -> Transfer {
        switch transfer {
        case .moved(let count): return .moved(count)
        case .wouldBlock: return .wouldBlock
        case .failed(let reason):
            strncpy(connection.errorText, reason, Int(CURL_ERROR_SIZE) - 1)
            return .failed(failure)
        }
    }

    private func transfer(_ code: CURLcode, count: Int) -> Transfer {
        if code == CURLE_OK { return .moved(count) }
        return code == CURLE_AGAIN ? .wouldBlock : .failed(code)
    }

    // MARK: Watching

    /// The connection that watches a descriptor: nil when none does, -1 when libcurl does.
    func watcher(of descriptor: Int32) -> Int? {
        guard watches.indices.contains(Int(descriptor)), watches[Int(descriptor)].interest != [] else { return nil }
        return Int(watches[Int(descriptor)].slot)
    }

    /// Watches a descriptor for a slot, or for libcurl (-1). Returns false when the kernel refuses.
    @discardableResult
    func watch(_ descriptor: Int32, for interest: Poller.Interest, slot: Int) -> Bool {
        let index = Int(descriptor)
        while watches.count <= index { watches.append(Watch()) }
        let isNew = watches[index].interest == []
        watches[index] = Watch(interest: interest, slot: Int32(slot))
        let token = tokenBase + UInt64(index)
        do throws(SystemCallError) {
            if isNew {
                try poller.add(descriptor, token: token, interest: interest)
            } else {
                try poller.modify(descriptor, token: token, interest: interest)
            }
            return true
        } catch {
            watches[index] = Watch()
            return false
        }
    }

    func unwatch(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard watches.indices.contains(index), watches[index].interest != [] else { return }
        watches[index] = Watch()
        poller.remove(descriptor)
    }

    fileprivate func timerChanged(milliseconds: Int) {
        timer = milliseconds < 0 ? .never : .now().advanced(by: .milliseconds(milliseconds))
    }
}

// The callbacks get the connector as an unretained pointer: it lives longer than every handle they are set on, for the pool closes all
// handles before it lets go of the connector.

private func watchSocket(
    _: UnsafeMutableRawPointer?, socket: curl_socket_t, action: Int32, context: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    let connector = Unmanaged<CurlConnector>.fromOpaque(context).takeUnretainedValue()
    switch action {
    case CURL_POLL_IN: connector.watch(socket, for: .readable, slot: -1)
    case CURL_POLL_OUT: connector.watch(socket, for: .writable, slot: -1)
    case CURL_POLL_INOUT: connector.watch(socket, for: [.readable, .writable], slot: -1)
    default: connector.unwatch(socket)
    }
    return 0
}

private func setTimer(_: UnsafeMutableRawPointer?, milliseconds: Int, context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<CurlConnector>.fromOpaque(context).takeUnretainedValue().timerChanged(milliseconds: milliseconds)
    return 0
}
