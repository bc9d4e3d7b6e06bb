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
            connection.idleBeforeRequest = now.nanoseconds(since: connection.idleSince)
            // A new connection takes one request however short its life is to be.
            if connection.isKept, now >= expiry(of: connection) {
                retire(connection, at: now)
            } else if isOpen(connection) {
                // The peer may close what says nothing for so long, although it never had an exchange.
                if connection.idleBeforeRequest >= 10_000_000 { connection.isKept = true }
                return connection
            } else {
                drop(connection)
            }
        }
        return nil
    }

    /// Looks for the peer's end right before a request is written, in one system call.
    private func isOpen(_ connection: Connection) -> Bool {
        if !connector.hasArrivals(connection) || isQuiet(connection) { return true }
        habits.learn(closedAfter: connection.answers, idleFor: connection.idleBeforeRequest)
        return false
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
        if slot == connections.count { connections.append(Connection(slot: slot, configuration: configuration)) }
        let connection = connections[slot]
        guard let easy = connector.open(connection) else {
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
        connection.answers = 0
        connection.isTrial = false
        connection.hasPromise = false
        connection.idleAllowance = habits.idleTime.limit
        connection.peerHasEnded = false
        release(connection, at: now)
    }

    private func connectFailed(_ connection: Connection, with code: CURLcode) {
        let said = String(cString: connection.errorText)
        var text = said.isEmpty ? String(cString: curl_easy_strerror(code)) : said
        if let proxy = connector.proxy { text = "through the proxy \(proxy): \(proxy.redacting(text))" }
        var reason = TransportFailure.Cause(connecting: code, usesProxy: connector.proxy != nil)
        if connection.addresses.areAllRefused {
            (reason, text) = (.addressRefused, "each of its addresses is one that may not be called")
        }
        drop(connection)
        if let exchange = waiting.popFirst() { fail(exchange, because: reason, code: code, text: text) }
    }

    /// Closes an idle connection at the end of its time.
    private func retire(_ connection: Connection, at now: MonotonicTime) {
        let idle = now.nanoseconds(since: connection.idleSince)
        if idle < idleNanoseconds, now < connection.endOfLife { connectionsRetired += 1 }
        habits.learn(lastedIdle: idle)
        drop(connection)
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
        min(connection.idleSince.advanced(byNanoseconds: min(idleNanoseconds, connection.idleAllowance)), connection.endOfLife)
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
            if expiry(of: connection) <= now, !becomesTrial(connection, at: now) {
                retire(connection, at: now)
                return true
            }
            nextSweep = min(nextSweep, expiry(of: connection))
            return false
        }
    }

    /// Keeps an idle connection now and then for longer than the peer's habit, to see if it still has it.
    private func becomesTrial(_ connection: Connection, at now: MonotonicTime) -> Bool {
        guard connection.idleAllowance == habits.idleTime.limit, connection.idleAllowance < idleNanoseconds,
            now < connection.endOfLife, habits.allowsLongerIdleTime()
        else { return false }
        (connection.isTrial, connection.idleAllowance) = (true, .max)
        return true
    }
}
