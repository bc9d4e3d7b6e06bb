import Delivery
import FanOut
import HTTP1
import HubAuth
import HubREST
import Payloads
import PushModel

/// The way of one request through the modules without Kafka and without a network. It does what the worker's loop does between a
/// record and its result, by the modules' public functions. Memory is used again as the loop's is.
///
/// What only the loop has is missing: the choice of what to do next, the result's headers, metrics and log.
final class RequestPath {
    /// A step failed that cannot fail for the sample request.
    enum Fault: Error {
        case refused(String)
    }

    private static let now: Int64 = 1_790_000_000_000
    /// Finished records between two commits, about as many as 30 ms bring at 2,000 a second.
    private static let recordsPerCommit = 64

    private let record = SampleRequest.json(1)
    /// What a Standard tier hub answers to a send.
    private static let answerBytes = Array(
        """
        HTTP/1.1 201 Created\r
        Content-Length: 0\r
        Content-Type: application/atom+xml; type=entry; charset=utf-8\r
        Location: https://demo.servicebus.windows.net/demo/messages/NH-0123456789abcdef-01?api-version=2020-06\r
        TrackingId: 6f2d1f0e-4a36-4a52-8e59-0a2f8a1d7b3c_G0\r
        Date: Sat, 21 Nov 2026 12:00:00 GMT\r
        \r\n
        """.utf8)

    private let reader = RequestReader(.tolerant)
    private let headers = RecordHeaders()
    private let origin = RecordOrigin(
        topic: "push.requests.v1", partition: 3, offset: 4711, timestamp: Timestamp(milliseconds: RequestPath.now))
    private var document = JSONDocument()
    private var request = PushRequest()
    private let planner = FanOutPlanner()
    private var fanOut = FanOutPlan()
    private var formatter = PayloadFormatter()
    private var payload = RenderedPayload()
    private var tokens: SASTokenCache
    private var hub: HubClient
    private var call = ByteWriter(capacity: 2048)
    private var tokenSerial: UInt64 = 0
    private var parser = AnswerParser()
    private var report = DeliveryReport()
    private var writer = ResultWriter(workerID: "bench", version: "0")
    private let hubMember = ResultWriter.hub("demo")
    private var results = ByteWriter()
    private var resultCount = 0
    private var ledger = OffsetLedger(start: 0)
    private var nextOffset: Int64 = 0

    init() throws {
        let configuration = try Self.hubConfiguration()
        tokens = try SASTokenCache(
            audience: configuration.endpoint.audience(of: configuration.hub), primary: configuration.credential)
        hub = try HubClient(configuration, userAgent: "pushfan/bench")
        // Once through everything, so that each step finds what those before it leave, and the memory that it needs.
        try pass()
    }

    private static func hubConfiguration() throws -> HubConfiguration {
        let connection = try ConnectionString(
            parsing: "Endpoint=sb://demo.servicebus.windows.net/;SharedAccessKeyName=bench;SharedAccessKey=YmVuY2htYXJrLWtleQ==")
        return HubConfiguration(endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential)
    }

    /// Takes one request the whole way.
    func pass() throws {
        try read()
        try plan()
        try format()
        try write()
        try receive()
        judge()
        conclude()
        commit()
    }

    /// Reads the record's JSON, and nothing more.
    func parse() throws {
        let record = record
        try document.read(record.span)
    }

    /// Reads the record and checks all of the contract's rules.
    func read() throws {
        let record = record
        guard reader.read(record.span, headers: headers, origin: origin, into: &request) == .request else {
            throw Fault.refused("the sample request is not valid")
        }
    }

    /// Turns the audience into hub calls.
    func plan() throws {
        fanOut.removeAll()
        do { try planner.plan(request, into: &fanOut) } catch { throw Fault.refused(error.message) }
    }

    /// Formats the message for the platform.
    func format() throws {
        do throws(PayloadError) {
            try formatter.format(request, for: .apple, now: Timestamp(milliseconds: Self.now), into: &payload)
        } catch {
            throw Fault.refused(error.sentence)
        }
    }

    /// Signs a token, which the worker does when 90 % of the life of the one before are over.
    func sign() throws {
        let configuration = try Self.hubConfiguration()
        let credential = configuration.credential
        _ = try SASToken.sign(
            resource: configuration.endpoint.audience(of: configuration.hub), policy: credential.policy, key: credential.key,
            expiry: Self.now / 1000)
    }

    /// Takes the token that was signed before, as each call does.
    func takeToken() throws {
        _ = try tokens.token(now: Self.now / 1000)
    }

    /// Writes the hub call with the token that is at hand.
    func write() throws {
        tokenSerial = try hub.write(fanOut.calls[0], of: fanOut, for: request, with: payload, now: Self.now / 1000, into: &call)
    }

    /// The hub call as it was written last.
    var callBytes: [UInt8] { call.bytes }

    /// Reads the hub's answer from its bytes.
    func receive() throws {
        parser.reset()
        guard try parser.feed(Self.answerBytes.span) else { throw Fault.refused("the answer is not whole") }
    }

    /// Draws the conclusion of the answer and notes it, as the loop does.
    func judge() {
        let now = Timestamp(milliseconds: Self.now)
        report.removeAll()
        report.consumedAt = now
        report.firstAttemptAt = now
        report.calls.append(DeliveryReport.Call(platform: .apple))
        report.calls[0].payloadByteCount = payload.body.count
        let reply = HubAnswer(parser.answer, toSend: true, now: Self.now)
        let verdict = CallVerdict(of: reply.result)
        let answer = parser.answer
        report.calls[0].httpStatus = reply.status
        if let id = reply.notificationID { report.calls[0].notificationID = report.keep(answer.text(id)) }
        if let id = reply.trackingID { report.calls[0].trackingID = report.keep(answer.text(id)) }
        report.calls[0].code = verdict.code
        report.calls[0].outcome = verdict.outcome
        hub.accepted(token: tokenSerial)
        var attempt = DeliveryReport.Attempt(number: 1, call: 0, startedAt: now)
        attempt.httpStatus = reply.status
        attempt.result = .ok
        attempt.bytesSent = true
        report.add(attempt)
    }

    /// Writes the final result's JSON.
    func conclude() {
        resultCount += 1
        if resultCount % Self.recordsPerCommit == 0 { results.removeAll() }
        writer.append(report, of: request, hub: hubMember, origin: origin, at: Timestamp(milliseconds: Self.now), to: &results)
    }

    /// Writes the final result's JSON as a request gets it that wants no list of its attempts.
    func concludeBriefly() {
        request.options.resultDetail = .none
        conclude()
        request.options.resultDetail = .attempts
    }

    /// Keeps the account of the offset, and every so often says what to commit.
    func commit() {
        _ = ledger.received(nextOffset)
        ledger.finished(nextOffset)
        nextOffset += 1
        if nextOffset % Int64(Self.recordsPerCommit) == 0 { _ = ledger.commit() }
    }
}
