internal import Basics
internal import CCurl
internal import EventLoop
internal import HTTP1

/// The choice of the connection that serves a request, and of the moment when one is opened or closed.
extension ConnectionPool {
    /// Gives waiting requests to idle connections and opens as many as are missing.
    func dispatch(_ now: MonotonicTime) {
        while !waiting.isEmpty, let connection = takeIdle(now) {
            guard let exchange = waiting.popFirst() else { break }
            if exchange.deadline <= now {
                fail(exchange, because: .timeout, text: "the deadline had passed before a connection was free")
                release(connection, at: now)
            } else {
                start(exchange, on: connection)
            }
        }
        while waiting.count > connecting, openConnections + connecting < configuration.maxConnections {
            guard open() else { break }
        }
    }

    /// An idle connection that is still open, as far as one can know.
    private func takeIdle(_ now: MonotonicTime) -> Connection? {
        while let slot = idle.popLast() {
            let connection = connections[slot]
            // A new connection takes one request however short its life is to be.
            let isYoung = !connection.isKept || now < connection.endOfLife
            if isYoung, isUsable(connection, at: now) { return connection }
            drop(connection)
        }
        return nil
    }

    /// Checks whether the peer closed an idle connection. A check counts for 10 ms, more than a turn of the loop with hundreds of events
    /// takes; to check each time would be a system call for each exchange under load.
    private func isUsable(_ connection: Connection, at now: MonotonicTime) -> Bool {
        if now.nanoseconds(since: connection.idleSince) < 10_000_000 { return true }
        connection.isKept = true
        return isQuiet(connection)
    }

    /// True if an idle connection is open and has said nothing. What it says without a request is never read as an answer.
    func isQuiet(_ connection: Connection) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            if case .wouldBlock = connector.receive(into: bytes, over: connection) { true } else { false }
        }
    }

    /// Starts to connect on behalf of the request that has waited longest. Returns false when libcurl cannot, and that request
    /// has failed.
    private func open() -> Bool {
        let slot = vacant.popLast() ?? connections.count
        if slot == connections.count { connections.append(Connection(slot: slot, limits: configuration.limits)) }
        let connection = connections[slot]
        guard let easy = connector.open(slot: slot, errorText: connection.errorText) else {
            vacant.append(slot)
            if let exchange = waiting.popFirst() { fail(exchange, because: .connect, text: "libcurl cannot make a handle") }
            return false
        }
        connection.easy = easy
        connection.phase = .connecting
        connecting += 1
        return true
    }

    /// Takes the connections that libcurl has finished.
    func collectFinished(_ now: MonotonicTime) {
        while let (slot, code) = connector.nextFinished() {
            guard connections.indices.contains(slot), connections[slot].phase == .connecting else { continue }
            let connection = connections[slot]
            if code == CURLE_OK { opened(connection, at: now) } else { connectFailed(connection, with: code) }
        }
    }

    private func opened(_ connection: Connection, at now: MonotonicTime) {
        guard let easy = connection.easy, let descriptor = connector.claim(easy),
            connector.watch(descriptor, for: .readable, slot: connection.slot)
        else { return connectFailed(connection, with: CURLE_COULDNT_CONNECT) }
        // What libcurl said of addresses that refused before this one took the connection is no reason for a later failure.
        connection.errorText.pointee = 0
        connecting -= 1
        openConnections += 1
        connectionsOpened += 1
        connection.descriptor = descriptor
        // Connections that were opened at once are not to be replaced at once.
        let early = Int64.random(in: 0...maximumAgeNanoseconds / 4)
        connection.endOfLife = now.advanced(byNanoseconds: maximumAgeNanoseconds - early)
        connection.isKept = false
        connection.peerHasEnded = false
        release(connection, at: now)
    }

    private func connectFailed(_ connection: Connection, with code: CURLcode) {
        let said = String(cString: connection.errorText)
        var text = said.isEmpty ? String(cString: curl_easy_strerror(code)) : said
        if let proxy = connector.proxy { text = "through the proxy \(proxy): \(proxy.redacting(text))" }
        let reason = TransportFailure.Cause(connecting: code, usesProxy: connector.proxy != nil)
        drop(connection)
        if let exchange = waiting.popFirst() { fail(exchange, because: reason, code: code, text: text) }
    }

    /// Makes a connection idle.
    func release(_ connection: Connection, at now: MonotonicTime) {
        connection.phase = .idle
        connection.idleSince = now
        idle.append(connection.slot)
        nextSweep = min(nextSweep, expiry(of: connection))
    }

    /// Closes a connection that carries no exchange. Its slot is vacant then. The caller takes it from `idle`.
    func drop(_ connection: Connection) {
        if connection.phase == .connecting { connecting -= 1 } else { openConnections -= 1 }
        if connection.descriptor >= 0 { connector.unwatch(connection.descriptor) }
        connection.tls = nil
        if let easy = connection.easy { connector.close(easy) }
        connection.easy = nil
        connection.descriptor = -1
        connection.waitsForRoom = false
        connection.phase = .closed
        vacant.append(connection.slot)
    }

    /// The moment when an idle connection must be closed.
    func expiry(of connection: Connection) -> MonotonicTime {
        min(connection.idleSince.advanced(byNanoseconds: idleNanoseconds), connection.endOfLife)
    }

    /// Ends what is overdue and finds out when to look again. Runs at most once for each deadline, not for each exchange.
    func sweep(_ now: MonotonicTime) {
        nextSweep = .never
        for _ in 0..<waiting.count {
            guard let exchange = waiting.popFirst() else { break }
            if exchange.deadline <= now {
                fail(exchange, because: .timeout, text: "no connection was free before the deadline")
            } else {
                nextSweep = min(nextSweep, exchange.deadline)
                waiting.append(exchange)
            }
        }
        for connection in connections where connection.phase == .busy {
            if connection.exchange.deadline <= now {
                fail(connection, because: .timeout, text: "no whole answer before the deadline")
            } else {
                nextSweep = min(nextSweep, connection.exchange.deadline)
            }
        }
        idle.removeAll { slot in
            let connection = connections[slot]
            let end = expiry(of: connection)
            if end <= now { drop(connection) } else { nextSweep = min(nextSweep, end) }
            return end <= now
        }
    }
}
