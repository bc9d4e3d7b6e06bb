import Delivery
import FanOut
package import HubREST
import JobSupport
import Keys
package import PushModel
import Replay
import Replays

/// Decides what a key may have written: by publishing, alone or in a batch, by explaining, by a replay with changes, and in place of a dead
/// letter. Page Gateway has the table of it.
package struct PublishRights: Sendable {
    package let publisher: Publisher
    /// The way of each tenant's requests. A key with a tenant names no other hub.
    let hubs: HubRoutes

    package init(publisher: Publisher, hubs: HubRoutes) {
        self.publisher = publisher
        self.hubs = hubs
    }

    /// Checks the right to publish at all.
    package func checkScope() throws(APIProblem) {
        guard publisher.scopes.contains(.publish) else { throw .forbiddenScope(.publish) }
    }

    /// Checks a request that was read without faults.
    package func check(_ request: borrowing PushRequest) throws(APIProblem) {
        try checkReach(of: request)
        if let source = request.source, request.document.string(source) != publisher.source { throw .forbiddenSource }
    }

    /// Checks what a request says, but for its source.
    private func checkReach(of request: borrowing PushRequest) throws(APIProblem) {
        try checkScope()
        if let own = publisher.tenant, let named = request.tenant, request.document.string(named) != own {
            throw .forbiddenTenant
        }
        if let hub = request.hub { try check(hub: request.document.string(hub)) }
        if !publisher.scopes.contains(.broadcast), request.reachesStrangers { throw .forbiddenScope(.broadcast) }
    }

    private func check(hub name: String) throws(APIProblem) {
        guard let tenant = publisher.tenant, !hubs.lead(TenantID(tenant), to: name) else { return }
        throw .forbiddenHub
    }

    /// Checks the changes of a replay, and what goes back in place of its one dead letter.
    ///
    /// - Parameters:
    ///   - texts: The changes, as they were typed.
    ///   - replacement: A request in place of the letter's value, or nil for none.
    /// - Returns: The source that the replacement names, if that is not the key's: then it must be the letter's. Else nil.
    /// - Throws: 403 that says what the key may not do, and 422 for what is no change or no request.
    package func check(edits texts: [String], replacement: [UInt8]?) throws(APIProblem) -> String? {
        let edits = try APIProblem.catching { () throws(JobFailure) in try RequestEdit.read(texts) }
        try check(edits)
        guard let replacement else { return nil }
        return try check(replacement, edits: edits)
    }

    /// Checks changes. Whom the originals are for is not known before they are read, so other content needs what a broadcast needs.
    private func check(_ edits: [RequestEdit]) throws(APIProblem) {
        for edit in edits where edit.path == ["hub"] {
            var document = JSONDocument()
            guard let json = edit.json, (try? document.read(json.span)) != nil else { continue }
            try check(hub: document.string(document.text(of: document.root)))
        }
        guard edits.contains(where: \.changesContent) else { return }
        try checkScope()
        guard publisher.scopes.contains(.broadcast) else { throw .forbiddenScope(.broadcast) }
    }

    /// Checks a replacement with its changes, as strictly as a request that is published.
    private func check(_ replacement: [UInt8], edits: [RequestEdit]) throws(APIProblem) -> String? {
        try checkScope()
        var document = JSONDocument()
        guard (try? document.read(replacement.span)) != nil else { throw APIProblem(ReplayFailure.replacement(.invalidRequest)) }
        let edited = RequestEdit.apply(edits, to: document)
        var request = PushRequest()
        let origin = RecordOrigin(topic: "value", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let reading = RequestReader(.strict).read(
            edited.span, headers: PushModel.RecordHeaders(), origin: origin, into: &request)
        guard reading == .request else { throw APIProblem(ReplayFailure.replacement(.invalidRequest)) }
        try checkReach(of: request)
        let source = request.source.map { request.document.string($0) }
        return source == publisher.source ? nil : source
    }
}

extension PushRequest {
    /// True if it is for devices of which it knows nothing: for all, or by a negation for each that lacks a tag.
    fileprivate var reachesStrangers: Bool {
        switch audience {
        case .broadcast: return true
        case .tagExpression(let text):
            let bytes = document.span(text)
            return TagExpression.matchesUntagged(bytes.indices.map { bytes[$0] })
        case .none, .users, .installations, .categories, .devices: return false
        }
    }
}

extension APIProblem {
    /// 403: the request names a hub that is not the tenant's.
    static let forbiddenHub = APIProblem(
        403, code: .forbiddenTenant,
        detail: "The request names another hub than the one of the key's tenant. Leave hub out, or use a key without a tenant.")

    /// 403: what stands in place of a dead letter names a source that neither the key nor the letter has.
    static let foreignMendedSource = APIProblem(
        403, code: .forbiddenSource,
        detail: "The value names another source than the dead letter and the key. Leave source out, or give that of the letter.")
}
