import Basics
import CurlHTTP
import Delivery
import HTTP1
import HubAuth
import HubREST
import JobSupport
import KafkaCare
import PushModel
import Settings

/// Queries the telemetry of a notification that never existed: this needs the key and sends nothing (`GET /messages/{id}`).
/// Workers send the same query, and interpret the answer alike (`HubFinding`).
enum HubProbe {
    /// Makes the call on a connection of its own. `now` is in milliseconds since 1970. Every failure is a fact as well.
    static func ask(_ settings: Settings, _ own: HubSettings, now: Int64, timeout: Duration) -> HubFacts {
        guard own.connectionString != nil || own.name != nil else { return HubFacts(outcome: .unset) }
        let hub: HubConfiguration
        do throws(SettingsError) {
            hub = try settings.hubConfiguration(of: own)
        } catch {
            return HubFacts(outcome: .misconfigured(error.problems.map(\.description).joined(separator: "; ")))
        }
        var facts = HubFacts(
            hub: "\(hub.endpoint.authority)/\(hub.hub.text)",
            url: "\(hub.endpoint.scheme.rawValue)://\(hub.endpoint.authority)/", outcome: .failed(reason: "", detail: ""),
            tokenLifetime: hub.tokenLifetime.wholeMilliseconds)
        facts.places.connectionString = settings.place(of: "connection_string", in: own)
        facts.places.secondaryKey = settings.place(of: "secondary_key", in: own)
        facts.places.name = settings.place(of: "name", in: own)
        facts.places.authorityFile = settings.place(of: "ca_file", in: own)
        do {
            let connections = settings.connections(to: hub.endpoint, like: own)
            let choice = try connections.proxyChoice()
            facts.proxy = choice.proxy.map { "\($0) (\(choice.variable ?? own.path("proxy")))" }
            facts.ownProxy = choice.variable == nil ? choice.proxy.map { "\($0)" } : nil
            let peer = try WebPeer(
                named: "the hub", configuration: connections, timeout: timeout, isCancelled: { Interruption.isRequested })
            facts.outcome = try question(to: hub, by: peer, now: now, dating: &facts)
            if let other = hub.secondaryCredential, case .answered = facts.outcome {
                var second = hub
                second.credential = other
                facts.secondOutcome = try question(to: second, by: peer, now: now, dating: &facts)
            }
        } catch let failure as JobFailure {
            facts.outcome = .misconfigured(CommandFailure(failure, brokers: "").message)
        } catch {
            facts.outcome = .misconfigured("the call cannot be made: \(Sanitised.line("\(error)"))")
        }
        return facts
    }

    /// Asks with the first key of `hub`.
    private static func question(
        to hub: HubConfiguration, by peer: WebPeer, now: Int64, dating facts: inout HubFacts
    ) throws -> HubFacts.Outcome {
        var client = try HubClient(hub, userAgent: "pushfan/\(Program.version)")
        var request = ByteWriter()
        _ = try client.writeQuestion(now: now / 1000, into: &request)
        switch try peer.ask(request.bytes) {
        case .answer(let answer): return read(answer, now: now, dating: &facts)
        case .failure(let failure):
            return .failed(reason: failure.reason.label, detail: Sanitised.line(failure.description))
        }
    }

    /// The outcome of an answer, whose date the facts get.
    private static func read(_ answer: Answer, now: Int64, dating facts: inout HubFacts) -> HubFacts.Outcome {
        let said = HubAnswer(answer, now: now)
        let ours = Timestamp(milliseconds: now)
        if let date = answer.string(of: "Date"), let theirs = RetryAfter.date(date, now: ours) {
            // The date's second may have begun up to 1 s before.
            let skew = theirs.milliseconds(since: ours)
            facts.skew = abs(skew) <= 1000 ? 0 : skew
        }
        return .answered(
            status: said.status, detail: said.detail.map { Sanitised.line(answer.string($0)) } ?? "",
            isThrottled: said.retryAfter != nil, isHubs: !said.isPage)
    }
}
