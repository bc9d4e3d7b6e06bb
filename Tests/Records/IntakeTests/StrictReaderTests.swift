import Intake
import Publishing
import PushModel
import Testing

/// How a request is read before it is written.
@Suite struct StrictReaderTests {
    private static let body = #"{"audience":{"users":["a"]},"message":{"title":"x"},"ordering_key":"o","priority":"low"}"#
    private static let event = #"{"specversion":"1.0","id":"e-1","source":"/shop","data":\#(body)}"#

    @Test(
        arguments: [(body, false, false), (event, false, true), (event, true, true)] as [(String, Bool, Bool)])
    func anEventIsKnownByItsVersionOrItsContentType(json: String, isAnnounced: Bool, isEvent: Bool) {
        let reader = StrictReader(headers: isAnnounced ? [("content-type", RequestWriter.eventContentType)] : [])
        var request = PushRequest()
        let reading = reader.read(Array(json.utf8), now: Timestamp(milliseconds: 0), into: &request)
        #expect(reading.what == .request && reading.isEvent == isEvent)
        let outgoing = OutgoingRequest(Array(json.utf8), saying: request, isEvent: reading.isEvent)
        #expect(outgoing.id == (isEvent ? "e-1" : nil) && outgoing.source == (isEvent ? "/shop" : nil))
        #expect(outgoing.orderingKey == "o" && outgoing.priority == .low && outgoing.isEvent == isEvent)
    }

    @Test func whatTheContractDoesNotKnowIsAFault() {
        var request = PushRequest()
        let json = Array(#"{"audience":{"users":["a"]},"mesage":{}}"#.utf8)
        guard case .rejected(let faults) = StrictReader().read(json, now: Timestamp(milliseconds: 0), into: &request).what else {
            Issue.record("it is not refused")
            return
        }
        #expect(faults.map(\.pointer) == ["/mesage", ""])
    }
}
