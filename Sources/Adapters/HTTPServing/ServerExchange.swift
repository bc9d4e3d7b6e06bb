import Basics
import CMicroHTTPD
import Glibc
import Synchronization

/// One request and its answer.
///
/// Touched only by callbacks of its own connection. While the connection is suspended nothing touches it.
final class ServerExchange {
    private enum Phase {
        /// The head is about to be read.
        case head
        case body
        /// The answer was given before the body came. The rest of the body is read and discarded.
        case declined
        /// The answer is not there yet.
        case deferred(PendingAnswer)
        /// The answer waits for the timer.
        case waiting
        /// An answer was queued, or the connection is lost.
        case answered
    }

    /// Its connection.
    let state: ConnectionState
    /// The number of the request on its connection, from 1 on.
    let ordinal: Int
    /// True if the server was stopping when the request began, which is answered 503 then.
    let comesLate: Bool
    private let core: ServerCore
    private let connection: OpaquePointer
    private let target: String
    /// The bytes of the target as it came, of which `target` is the text.
    private let targetByteCount: Int
    /// True if the request is among `waitingCount`.
    private(set) var isDeferred = false
    private var phase = Phase.head
    /// The request from its head until the handler has it.
    private var request: HTTPServerRequest?
    private var announcesBody = false
    private var isHEAD = false
    private var body: IncomingBody
    /// The answer that is fixed before the handler is called. Given when the body has ended.
    private var earlyAnswer: HTTPServerResponse?
    private var response = HTTPServerResponse(status: 500)

    init(core: ServerCore, connection: OpaquePointer, state: ConnectionState, target: UnsafePointer<CChar>) {
        self.state = state
        ordinal = state.begin()
        comesLate = core.isDraining.load(ordering: .relaxed)
        self.core = core
        self.connection = connection
        self.target = String(cString: target)
        targetByteCount = strlen(target)
        body = IncomingBody(limit: core.maximumBodyByteCount, budget: core.bodies)
    }

    /// Takes the next event of the request. `piece` is the next bytes of the body, empty for the head, the end and the call after
    /// a suspension. `false` ends the connection without an answer.
    func advanced(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>, piece: UnsafeRawBufferPointer) -> Bool {
        switch phase {
        case .head:
            return readHead(method: method, version: version)
        case .body where !piece.isEmpty, .declined where !piece.isEmpty:
            return receive(piece)
        case .body:
            return answer()
        case .declined:
            // The client has its answer, and nothing of its body is left that would reset the connection.
            return false
        case .deferred(let pending):
            // The connection is resumed only after the answer has come.
            guard let given = pending.take() else { return false }
            return respond(given)
        case .waiting:
            return deliver()
        case .answered:
            return true
        }
    }

    private func readHead(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>) -> Bool {
        if ordinal == 1 { core.deadlines?.speak(pushfan_mhd_socket(connection)) }
        if state.phase == .declined {
            body.readPast()
            phase = .declined
            return true
        }
        var reader = HeadReader(method: method, targetByteCount: targetByteCount, version: version)
        withUnsafeMutablePointer(to: &reader) { pointer in
            _ = MHD_get_connection_values_n(connection, .HEADER_KIND, headerFound, pointer)
        }
        let isUnsafe =
            reader.isUnsafe(headByteCount: pushfan_mhd_head_size(connection)) || target.utf8.contains { $0 < 32 || $0 == 127 }
        announcesBody = reader.announcesBody
        isHEAD = strcmp(method, "HEAD") == 0
        if isUnsafe { return refuseHead(400) }
        if reader.byteCount > core.maximumHeaderByteCount { return refuseHead(431) }
        let head = HTTPServerRequest(
            method: String(cString: method), target: HTTPServerRequest.originForm(target), headers: reader.fields,
            remoteAddress: state.remoteAddress,
            ordinalOnConnection: ordinal, isSecure: core.isSecure)
        request = head
        phase = .body
        if announcesBody, !core.isSecure { core.deadlines?.awaitBody(pushfan_mhd_socket(connection)) }
        if comesLate { return decline(core.refusal(503)) }
        let length = reader.contentLength ?? 0
        if length > body.limit { return decline(core.refusal(413)) }
        switch core.admission?(head) ?? .read(atMost: body.limit) {
        case .read(let limit): body.restrict(to: limit)
        case .readUnpacked(let limit):
            let coding = BodyCoding(head.headers)
            if coding == .other { return decline(unsupportedCoding) }
            body.restrict(to: limit)
            if coding == .gzip { body.unpack() }
        case .skip: body.readPast()
        case .answer(let given): return decline(given)
        }
        if length > body.limit { return decline(core.refusal(413)) }
        // Much is done for a large body, whose answer is large, too.
        let isLarge = reader.contentLength.map { $0 > AnswerBudget.uncountedByteCount } ?? announcesBody
        return isLarge && core.answers?.isSpent(by: state.remoteAddress) == true ? decline(core.overload(head)) : true
    }

    private func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        let fault = body.take(piece)
        if case .endless = fault { return false }
        // Whoever has an answer already gets no other.
        guard case .body = phase, earlyAnswer == nil else { return true }
        switch fault {
        case .tooLarge: return decline(core.refusal(413))
        case .noRoom: return decline(request.map(core.overload) ?? core.refusal(500))
        case .broken: return decline(core.refusal(400))
        case .endless, nil: return true
        }
    }

    private var unsupportedCoding: HTTPServerResponse {
        var refusal = core.refusal(415)
        refusal.headers.append("Accept-Encoding", value: "gzip")
        return refusal
    }

    private func refuseHead(_ status: Int) -> Bool {
        body.readPast()
        return announcesBody && !core.isSecure ? write(core.refusal(status)) : refuse(status)
    }

    private func refuse(_ status: Int) -> Bool {
        guard state.claim() else { return false }
        response = core.refusal(status)
        response.closesConnection = true
        return queue(body: response.body)
    }

    /// Answers before the body is there, of which nothing is kept. Without one the answer takes the usual way, and the connection stays.
    private func decline(_ given: HTTPServerResponse) -> Bool {
        body.readPast()
        earlyAnswer = given
        guard announcesBody else { return true }
        earlyAnswer?.closesConnection = true
        guard core.isSecure else { return write(given) }
        // Only the library can encrypt. It takes an answer before the body, whose unread rest may reset the connection then, or after it.
        // During a stop there is time for the body.
        return body.byteCount > 0 || comesLate ? true : answer()
    }

    /// Answers past the library, and reads on.
    private func write(_ given: HTTPServerResponse) -> Bool {
        guard state.decline(with: given.bytesOnTheWire(hasBody: !isHEAD)) else { return false }
        phase = .declined
        core.deadlines?.decline(pushfan_mhd_socket(connection))
        return true
    }

    private func answer() -> Bool {
        // The server's stop has answered, and the whole request was read.
        guard state.claim() else { return false }
        // From here on the client waits for us. A client that was ended has its answer, and nothing is done for it.
        if let deadlines = core.deadlines, !deadlines.end(pushfan_mhd_socket(connection)) { return false }
        if earlyAnswer == nil, !body.isComplete { return refuse(400) }
        if let earlyAnswer {
            response = earlyAnswer
            return queue(body: response.body)
        }
        // The request may wait for long. It has its own reference.
        guard var request = request.take() else { return false }
        request.body = body.giveBytes()
        switch core.handler {
        case .direct(let handler): return respond(handler(request))
        case .deferred(let handler): return ask(handler, about: request)
        }
    }

    /// Gives the request to a deferred handler, and suspends the connection unless the answer is there when the handler returns.
    private func ask(_ handler: @Sendable (HTTPServerRequest, Responder) -> Void, about request: HTTPServerRequest) -> Bool {
        // Counted even when it is not asked: stopping waits until the answers of all these have left.
        isDeferred = true
        core.waitingCount.add(1, ordering: .relaxed)
        if let closingAnswer = core.suspended.closingAnswer { return respond(closingAnswer) }
        let pending = PendingAnswer(in: core.suspended)
        phase = .deferred(pending)
        handler(request, Responder(pending, core: core, peer: state.remoteAddress))
        guard let given = pending.suspend(ConnectionHandle(pointer: connection)) else { return true }
        return respond(given)
    }

    /// Sends the answer, now or after its delay.
    private func respond(_ given: HTTPServerResponse) -> Bool {
        response = given
        guard given.delay > .zero else { return deliver() }
        response.delay = .zero
        return wait(given.delay, for: .resume)
    }

    /// Suspends the connection until the timer has done `duty`. Then ``advanced(method:piece:)`` is called again.
    private func wait(_ duration: Duration, for duty: DelayTimer.Duty) -> Bool {
        phase = .waiting
        MHD_suspend_connection(connection)
        core.timer.take(connection, after: UInt64(clamping: duration.wholeNanoseconds), for: duty)
        return true
    }

    private func deliver() -> Bool {
        switch response.delivery {
        case .whole:
            return response.streamed.map { stream($0.pipe) } ?? queue(body: response.body)
        case .reset:
            phase = .answered
            resetConnection()
            return false
        case .hang:
            response.delivery = .reset
            return wait(.milliseconds(500), for: .watch(socket: pushfan_mhd_socket(connection)))
        case .truncated(let keeping):
            return queueTruncated(keeping: keeping)
        case .dripped(let byteCount, let interval):
            return drip(max(1, byteCount), every: interval)
        }
    }

    /// Ends the TCP connection with RST: on Linux that is what connecting to "no address" does (connect(2), tcp(7)).
    private func resetConnection() {
        var nowhere = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        _ = connect(pushfan_mhd_socket(connection), &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private func drip(_ byteCount: Int, every interval: Duration) -> Bool {
        let bytes = response.bytesOnTheWire(hasBody: !isHEAD)
        if core.isSecure {
            response.delivery = .whole
            response.closesConnection = true
            return wait(interval * (bytes.count / byteCount), for: .resume)
        }
        // The timer writes the whole answer itself. Afterwards only the connection must be ended.
        response.delivery = .truncated(keeping: -1)
        let socket = pushfan_mhd_socket(connection)
        return wait(
            .zero,
            for: .drip(
                socket: socket, bytes: bytes, written: 0, pieceByteCount: byteCount,
                interval: UInt64(max(1, interval.wholeNanoseconds))))
    }

    private func queue(body: [UInt8]) -> Bool {
        if body.count > KeptBody.pieceByteCount { return queue(KeptBody(body).makeResponse(promising: body.count)) }
        let made = body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        return queue(made)
    }

    /// Sends the head, and as the body the bytes that are written into `pipe`.
    private func stream(_ pipe: StreamPipe) -> Bool {
        let socket = pushfan_mhd_socket(connection)
        guard pipe.open(ConnectionHandle(pointer: connection), socket: socket) else {
            phase = .answered
            return false
        }
        let made = StreamReader(pipe, core: core, socket: socket).makeResponse()
        // libmicrohttpd 0.9.75 sends a last chunk even where HEAD gets no other.
        if isHEAD, let made { pushfan_mhd_end_with_connection(made) }
        return queue(made)
    }

    private func queueTruncated(keeping: Int) -> Bool {
        guard keeping >= 0 else {
            phase = .answered
            return false
        }
        // The library sends the head together with the first byte, so there must be one.
        let beginning = Array(response.body.prefix(keeping))
        let kept = beginning.isEmpty ? [0x20] : beginning
        return queue(KeptBody(kept).makeResponse(promising: max(response.body.count, kept.count + 64)))
    }

    private func queue(_ made: OpaquePointer?) -> Bool {
        phase = .answered
        guard let made else { return false }
        // The library has it.
        response.body = []
        for field in response.sentFields { MHD_add_response_header(made, field.name, field.value) }
        core.deadlines?.begin(pushfan_mhd_socket(connection))
        if response.closesConnection || !core.keepsConnections || core.isDraining.load(ordering: .relaxed) {
            MHD_add_response_header(made, "Connection", "close")
        }
        let queued = MHD_queue_response(connection, UInt32(clamping: response.status), made)
        MHD_destroy_response(made)
        return queued == .YES
    }
}
