import Basics
import Delivery
import PushModel

/// The rules by which a loop recognises requests that come again.
struct RepetitionRules {
    /// The number of offsets that are looked back.
    let reach: Int
    /// The longest distance between the times of two requests of one source and id, milliseconds, or 0 to send all.
    let window: Int64
    /// Keeps publishers from finding two requests that look alike.
    let seed = UInt64.random(in: .min ... .max)

    init(_ configuration: WorkerConfiguration.Dedupe) {
        reach = configuration.reach
        window = configuration.window.wholeMilliseconds
    }

    /// The names that a request is known by. Its tenant and where it is to go belong to each of them. Two tenants may use one source and
    /// one id, and one that named a hub that is not there, and is corrected, is another one, whoever looks at the two and however late.
    ///
    /// Names are kept nowhere: each worker finds them from the records of its partition. So the records of earlier versions have them
    /// too, and one without a tenant has the same as ever.
    func names(of request: borrowing PushRequest) -> (key: RecentRequests.Name?, id: RecentRequests.Name?) {
        (key(of: request), id(of: request))
    }

    /// The request's key, among those of its tenant.
    private func key(of request: borrowing PushRequest) -> RecentRequests.Name? {
        guard let key = request.dedupeKey else { return nil }
        var identity = RequestIdentity(seed: seed)
        if let tenant = request.tenant { identity.add(request.document.span(tenant)) }
        identity.add(request.document.span(key))
        addHub(of: request, to: &identity)
        return RecentRequests.Name(identity, window: request.dedupeWindow * 1000)
    }

    /// The request's source and id, among those of its tenant, or nil when its publisher gave it no id, or they do not count.
    private func id(of request: borrowing PushRequest) -> RecentRequests.Name? {
        guard request.hasOwnID, window > 0 else { return nil }
        var identity = RequestIdentity(seed: ~seed)
        if let source = request.source { identity.add(request.document.span(source)) }
        identity.add(request.document.span(request.id))
        addHub(of: request, to: &identity)
        if let tenant = request.tenant {
            identity.add(2)
            identity.add(request.document.span(tenant))
        }
        return RecentRequests.Name(identity, window: window)
    }

    /// Adds the name of the hub that a request itself names. Settings do not count.
    private func addHub(of request: borrowing PushRequest, to identity: inout RequestIdentity) {
        guard let hub = request.hub else { return }
        identity.add(1)
        identity.add(request.document.span(hub))
    }
}
