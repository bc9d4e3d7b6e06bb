import GatewayAPI
import Intake
import Publishing
import PushModel

extension APIAnswer {
    /// 200 with the report on a request, also where a worker with these settings would refuse it. `newID` was made for it, and
    /// says nothing about another call.
    init(explaining publication: Publication, at now: Timestamp, without newID: String, by reporter: inout RequestReporter) {
        let outgoing = publication.outgoing
        let headers = outgoing.headers + (outgoing.source.map { [("ce_source", $0)] } ?? [])
        let report = reporter.report(on: outgoing, read: StrictReader(headers: headers), at: now).leavingOut(id: newID)
        self.init(status: 200, json: report.json)
    }
}
