internal import Basics
internal import CCurl
internal import Crypto
internal import EventLoop
internal import HTTP1

/// One request and its answer on an open connection.
extension ConnectionPool {
    /// Pieces of a request on a TLS connection: one record each (RFC 8446, section 5.1), so that what libcurl counts as sent is
    /// exactly what the peer may have been able to read.
    private static var recordByteCount: Int { 16 << 10 }

    func start(_ exchange: consuming Exchange, on connection: Connection) {
        connection.begin(exchange)
        busyConnections += 1
        send(connection)
    }

    /// Does what an event of an open connection leads to.
    func connectionReady(_ connection: Connection, for readiness: Poller.Interest) {
        if readiness.contains(.ended) { connection.peerHasEnded = true }
        switch connection.phase {
        case .busy:
            // The answer first: it may have come early, and then there is no more to send.
            if readiness.contains(.readable) { receive(connection) }
            if readiness.contains(.writable), connection.phase == .busy, connection.waitsForRoom { send(connection) }
        case .idle:
            if isQuiet(connection) { return }
            habits.learn(closedAfter: connection.answers, idleFor: MonotonicTime.now().nanoseconds(since: connection.idleSince))
            idle.removeAll { $0 == connection.slot }
            drop(connection)
        case .connecting, .closed:
            break
        }
    }

    /// Writes the rest of the request, or as much of it as the socket has room for.
    private func send(_ connection: Connection) {
        let isSecure = !connector.isPlain
        while !connection.isRequestSent {
            let (sent, byteCount) = (connection.sent, connection.exchange.byteCount)
            let transfer = connection.exchange.request.withUnsafeBytes { bytes in
                let end = isSecure ? min(byteCount, sent + Self.recordByteCount) : byteCount
                return connector.send(UnsafeRawBufferPointer(rebasing: bytes[sent..<end]), over: connection)
            }
            switch transfer {
            case .moved(let count):
                connection.sent += count
            case .wouldBlock:
                if isSecure { connection.mayHaveSentMore = true }
                return waitForRoom(connection, waits: true)
            case .failed(let code):
                return sendFailed(connection, with: code)
            }
        }
        waitForRoom(connection, waits: false)
    }

    private func waitForRoom(_ connection: Connection, waits: Bool) {
        guard connection.waitsForRoom != waits else { return }
        let interest: Poller.Interest = waits ? [.readable, .writable] : .readable
        guard connector.watch(connection.descriptor, for: interest, slot: connection.slot) else {
            return fail(connection, because: .reset, text: "the socket cannot be watched")
        }
        connection.waitsForRoom = waits
    }

    private func sendFailed(_ connection: Connection, with code: CURLcode) {
        if connection.requestBytesSent {
            // The peer may have answered before it closed; if not, this error is the cause, not what receiving says after it.
            receive(connection, afterSendError: code)
            if connection.phase == .busy {
                endedUnanswered(connection, because: .reset, code: code, text: text(of: connection, for: code))
            }
        } else if connection.isKept {
            // It had closed while it was idle and has taken nothing: the request goes first on another.
            habits.learn(closedAfter: connection.answers, idleFor: connection.idleBeforeRequest)
            requestsSentAgain += 1
            waiting.prepend(endExchange(connection))
            drop(connection)
        } else {
            fail(connection, because: .sendFailed, code: code, text: text(of: connection, for: code))
        }
    }

    /// Takes what has come of the answer.
    private func receive(_ connection: Connection, afterSendError sendError: CURLcode? = nil) {
        while true {
            var transfer = CurlConnector.Transfer.wouldBlock
            let connector = self.connector
            let space = connection.parser.fill { memory, free in
                transfer = memory.withUnsafeMutableBytes { bytes in
                    connector.receive(into: UnsafeMutableRawBufferPointer(rebasing: bytes[free...]), over: connection)
                }
                return if case .moved(let count) = transfer { count } else { 0 }
            }
            switch transfer {
            case .wouldBlock:
                return
            case .failed(let code):
                let code = sendError ?? code
                let text = text(of: connection, for: code)
                if !connection.parser.hasStarted { return endedUnanswered(connection, because: .reset, code: code, text: text) }
                return fail(connection, because: .reset, code: code, text: text)
            case .moved(0):
                if sendError != nil, !connection.parser.hasStarted { return }
                return peerClosed(connection)
            case .moved:
                do throws(AnswerFault) {
                    if try connection.parser.advance() { return finish(connection, mayReuse: true) }
                } catch {
                    return invalidAnswer(connection, because: error)
                }
            }
            // Plain sockets that gave less than asked have no more; OpenSSL gives one record at a time.
            if space.received < space.offered, connector.isPlain { return }
        }
    }

    private func peerClosed(_ connection: Connection) {
        guard connection.parser.hasStarted else {
            return endedUnanswered(
                connection, because: .closedBeforeAnswer, code: CURLE_OK, text: "the connection was closed before an answer")
        }
        do throws(AnswerFault) {
            try connection.parser.connectionClosed()
            finish(connection, mayReuse: false)
        } catch {
            invalidAnswer(connection, because: error)
        }
    }

    private func invalidAnswer(_ connection: Connection, because fault: AnswerFault) {
        if fault == .bodyTooLarge, configuration.dropsLargeBodies {
            connection.parser.dropBody()
            return finish(connection, mayReuse: false)
        }
        fail(
            connection, because: fault.isTooLarge ? .answerTooLarge : .invalidAnswer(fault),
            text: "invalid answer: \(fault.rawValue)")
    }

    /// Hands the answer over and keeps the connection if it can carry another request.
    private func finish(_ connection: Connection, mayReuse: Bool) {
        connection.answers += 1
        // An early answer leaves the peer in the middle of our request; one with the end behind it leaves nobody to read the next.
        let connectionLasts = connection.isRequestSent && !connection.peerHasEnded
        let mayLast = mayReuse && connection.parser.answer.keepsAlive
        if mayLast, connection.peerHasEnded { habits.learn(closedAfter: connection.answers, idleFor: 0) }
        let reuses = mayLast && connectionLasts && peerKeeps(connection)
        var answer = spareAnswers.popLast() ?? Answer()
        swap(&answer, &connection.parser.answer)
        let exchange = endExchange(connection)
        completions.append(Completion(id: exchange.id, request: exchange.request, outcome: .answer(answer)))
        // What came behind the answer, and no event of the socket will tell of.
        let mayHoldMore = connection.tls?.mayHoldMore ?? connector.isWithinProxyTLS
        let isClean = !mayHoldMore || isQuiet(connection)
        if reuses && isClean {
            connection.isKept = true
            connector.takeOver(connection)
            release(connection, at: .now())
        } else {
            drop(connection)
        }
    }

    /// Decides by what the peer does and promises if a connection is kept, and for how long.
    private func peerKeeps(_ connection: Connection) -> Bool {
        habits.learn(answered: connection.answers, afterIdle: connection.idleBeforeRequest)
        var promised = Int64.max
        // A peer that promises does so from its first answer on.
        if connection.answers == 1 || connection.hasPromise, let field = connection.parser.answer.value(of: "Keep-Alive") {
            connection.hasPromise = true
            let promise = KeepAlivePromise(connection.parser.answer.bytes[field])
            promised = promise.idleNanoseconds
            if promised == 0 || promise.max == 0 { return false }
        }
        if !connection.isTrial, Int64(connection.answers) >= habits.answers.limit {
            guard habits.allows(answers: connection.answers) else {
                connectionsRetired += 1
                return false
            }
            connection.isTrial = true
        }
        connection.idleAllowance = min(promised, connection.isTrial ? .max : habits.idleTime.limit)
        return true
    }

    private func endExchange(_ connection: Connection) -> Exchange {
        busyConnections -= 1
        connection.phase = .idle
        return connection.takeExchange()
    }

    // MARK: Failures

    /// Fails the exchange of a kept connection that ended before a byte of the answer, be it that the request met the peer's close or
    /// that the peer had it and died.
    private func endedUnanswered(_ connection: Connection, because reason: TransportFailure.Cause, code: CURLcode, text: String) {
        habits.learn(closedAfter: connection.answers, idleFor: connection.idleBeforeRequest)
        let count = connection.answers
        let idle = "was idle for \(connection.idleBeforeRequest / 1_000_000) ms"
        let past = count > 0 ? "; it had given \(count) answer\(count == 1 ? "" : "s") and \(idle) before" : ""
        fail(connection, because: reason, code: code, text: text + past)
    }

    /// Fails the exchange of a busy connection and closes it.
    func fail(_ connection: Connection, because reason: TransportFailure.Cause, code: CURLcode = CURLE_OK, text: String) {
        let (bytesSent, bodySent) = (connection.requestBytesSent, connection.isRequestSent)
        let exchange = endExchange(connection)
        drop(connection)
        fail(exchange, because: reason, code: code, bytesSent: bytesSent, bodySent: bodySent, text: text)
    }

    func fail(
        _ exchange: consuming Exchange, because reason: TransportFailure.Cause, code: CURLcode = CURLE_OK,
        bytesSent: Bool = false,
        bodySent: Bool = false, text: String
    ) {
        let failure = TransportFailure(
            reason: reason, curlCode: Int32(bitPattern: code.rawValue), requestBytesSent: bytesSent, bodySent: bodySent,
            detail: "\(configuration.authority): \(text.prefix(200))")
        completions.append(Completion(id: exchange.id, request: exchange.request, outcome: .failure(failure)))
    }

    private func text(of connection: Connection, for code: CURLcode) -> String {
        let said = String(cString: connection.errorText)
        return said.isEmpty ? String(cString: curl_easy_strerror(code)) : said
    }
}
