import HubAuth
import HubREST
import Intake
import Publishing
import PushModel
import Testing

/// What a request would become, as a value.
@Suite struct RequestReportTests {
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)
    private static let topics = RequestTopics(high: "h", normal: "n", bulk: "b")
    private static let users = #""audience":{"users":["a"]}"#
    private static let message = #""message":{"title":"x"}"#

    private func reporter() throws -> RequestReporter {
        let connection = try ConnectionString(
            parsing: "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=CANARYkey")
        let hub = HubConfiguration(endpoint: connection.endpoint, hub: try HubName("shop"), credential: connection.credential)
        return try RequestReporter(
            WorkerSketch(only: WorkerSketch.Hub(name: "shop", configuration: hub)), topics: Self.topics, userAgent: "pushfan/1")
    }

    private func report(_ json: String) throws -> RequestReport {
        var request = PushRequest()
        let (what, isEvent) = StrictReader().read(Array(json.utf8), now: Self.now, into: &request)
        try #require(what == .request)
        var reporter = try reporter()
        let outgoing = OutgoingRequest(Array(json.utf8), saying: request, isEvent: isEvent)
        return reporter.report(on: outgoing, read: StrictReader(), at: Self.now)
    }

    private func sending(_ json: String) throws -> RequestReport.Sending {
        let report = try report(json)
        guard case .sent(let sending) = report.fate else { throw Refused(report: report) }
        return sending
    }

    private struct Refused: Error { let report: RequestReport }

    @Test(
        arguments: [
            ("{\(users),\(message)}", ["apple", "fcmv1", "windows"], 3, false),
            (#"{\#(users),"platforms":["gcm"],\#(message)}"#, ["gcm"], 1, false),
            (#"{"audience":{"broadcast":true},"template":{"a":"b"}}"#, ["template"], 1, false),
            (
                #"{"audience":{"users":[\#((0..<21).map { "\"u\($0)\"" }.joined(separator: ","))]},"platforms":["apple"],\#(message)}"#,
                ["apple", "apple"], 2, true
            ),
        ] as [(String, [String], Int, Bool)])
    func aReportHasTheCallsOfAWorker(json: String, platforms: [String], calls: Int, mayReachTwice: Bool) throws {
        let sending = try sending(json)
        #expect(sending.calls.map(\.platformName) == platforms)
        #expect(sending.calls.allSatisfy { !$0.body.isEmpty && $0.body.count <= $0.maximumBodyByteCount })
        #expect(sending.calls.map(\.byteCount).reduce(0, +) == sending.estimate.byteCount)
        #expect(sending.estimate.callCount == calls && sending.estimate.mayReachTwice == mayReachTwice)
        #expect(sending.hub == "shop" && sending.hubs.isEmpty)
    }

    @Test(
        arguments: [("high", "high", "h"), ("normal", "normal", "n"), ("low", "bulk", "b")])
    func thePriorityChoosesLaneAndTopic(priority: String, lane: String, topic: String) throws {
        let report = try report(#"{"id":"r","priority":"\#(priority)","ttl_seconds":60,\#(Self.users),\#(Self.message)}"#)
        #expect(report.lane == lane && report.topic == topic && report.recordKey == "r")
        #expect(report.expiresAt == Self.now.adding(seconds: 60) && report.notBefore == nil)
    }

    @Test func aHubThatTheWorkerDoesNotKnowIsRefused() throws {
        let report = try report("{\"hub\":\"other\",\(Self.users),\(Self.message)}")
        #expect(report.fate == .refused(RequestFault(.unknownHub, at: "/hub", message: "The only hub is shop.")))
        #expect(try sending("{\"hub\":\"shop\",\(Self.users),\(Self.message)}").hub == "shop")
    }

    @Test func anIDThatIsMadeIsNotSaid() throws {
        let report = try report("{\(Self.users),\(Self.message)}")
        #expect(report.id == nil && report.recordKey == nil)
        let named = try self.report("{\"id\":\"r\",\"ordering_key\":\"o\",\(Self.users),\(Self.message)}")
        #expect(named.leavingOut(id: "other") == named)
        #expect(named.leavingOut(id: "r").id == nil && named.leavingOut(id: "r").recordKey == "o")
    }

    @Test func whatAWorkerRefusesIsReportedAsItsFault() throws {
        let report = try report(#"{"id":"r",\#(Self.message),"audience":{"tag_expression":"a && b && c && d && e && f && g"}}"#)
        guard case .refused(let fault) = report.fate else { throw Refused(report: report) }
        #expect(fault.code == .tagLimitExceeded)
        #expect(String(decoding: report.json, as: UTF8.self).contains(#""error":{"code":"tag_limit_exceeded""#))
    }

    @Test func neitherKeyNorHandleIsShown() throws {
        let devices = #"{"platform":"fcmv1","handle":"CANARYhandle0123456789"}"#
        let text = String(
            decoding: try report(#"{"audience":{"devices":[\#(devices)]},\#(Self.message)}"#).json, as: UTF8.self)
        #expect(text.contains("Authorization: SharedAccessSignature …redacted"))
        #expect(!text.contains("CANARY") && !text.contains("sig="))
    }
}
