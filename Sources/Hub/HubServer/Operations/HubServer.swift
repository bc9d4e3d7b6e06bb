package import HTTPServing
package import HubAuth
import Synchronization

/// A notification hub: its REST data plane, its answers and their meaning, over stores of devices, messages and jobs.
///
/// It verifies tokens, evaluates tags and fills in templates as the service does. The hub's paths begin with its name.
package final class HubServer: Sendable {
    /// The terms, with what verifies tokens by them, and its decisions: what a former door granted is no grant of the next.
    private final class Door: Sendable {
        let terms: HubTerms
        let verifier: SASVerifier
        /// Protects the decisions about tokens. Nothing else is locked while it is held.
        let grants = Mutex(GrantCache())

        init(_ terms: HubTerms, verifier: SASVerifier) { (self.terms, self.verifier) = (terms, verifier) }
    }

    package let devices: any DeviceStore
    package let messages: any MessageStore
    package let jobs: any JobStore
    /// The beginning of the paths of error details and feedback, with a slash at its end.
    package let blobPath: String
    /// Signs the links to error details and feedback.
    let blobs: BlobAccess
    /// Protects the terms. Nothing else is locked while it is held.
    private let door: Mutex<Door>
    /// Protects the ids that come next. Nothing else is locked while it is held.
    private let identifiers: Mutex<HubIdentifiers>
    private let wrote: @Sendable ([Registration]) -> Void

    /// A hub over stores.
    ///
    /// - Parameters:
    ///   - terms: What it allows.
    ///   - devices: The registrations and installations.
    ///   - messages: The notifications.
    ///   - jobs: The bulk jobs.
    ///   - blobPath: The beginning of the paths of error details and feedback, with a slash at its end.
    ///   - seed: The seed of its ids.
    ///   - linkKey: The key that signs links, 32 bytes. Nil for one that follows from the seed, and so is no secret.
    ///   - wrote: Gets registrations after they are written, on the thread of the call.
    package init(
        _ terms: HubTerms, devices: any DeviceStore, messages: any MessageStore, jobs: any JobStore,
        blobPath: String, seed: UInt64, linkKey: [UInt8]? = nil, wrote: @escaping @Sendable ([Registration]) -> Void = { _ in }
    ) {
        (self.devices, self.messages, self.jobs) = (devices, messages, jobs)
        (self.blobPath, self.wrote) = (blobPath, wrote)
        door = Mutex(Self.door(terms))
        identifiers = Mutex(HubIdentifiers(seed: seed))
        blobs = linkKey.map { BlobAccess(key: $0) } ?? BlobAccess(seed: seed)
    }

    private static func door(_ terms: HubTerms) -> Door {
        var policies: [SASPolicy] = []
        for policy in terms.policies {
            let former = policies.firstIndex { $0.name == policy.name }
            let keys = (former.map { policies[$0].keys } ?? []) + [SecretKey(policy.key)]
            let whole = SASPolicy(name: policy.name, keys: keys, rights: policy.rights)
            if let former { policies[former] = whole } else { policies.append(whole) }
        }
        return Door(terms, verifier: SASVerifier(policies: policies, comparesHost: terms.checksHost))
    }

    /// The present terms.
    package var terms: HubTerms { door.withLock { $0.terms } }

    /// Takes other terms. Calls that have begun end by the former ones.
    package func take(_ terms: HubTerms) { door.withLock { $0 = Self.door(terms) } }

    /// Makes ids.
    package func identify<Result: Sendable>(_ make: (inout HubIdentifiers) -> Result) -> Result {
        identifiers.withLock { make(&$0) }
    }

    /// Announces registrations that were just written.
    func announce(_ registrations: [Registration]) { wrote(registrations) }

    /// Writes an installation in place of the one with its id.
    package func write(_ installation: StoredInstallation, at now: Int64) throws(RefusedCall) {
        let registrations = derived(from: installation, at: now)
        try devices.change { (book) throws(RefusedCall) in
            try book.checkRoom(for: registrations, replacing: installation.id)
            try book.write(installation, as: registrations)
        }
        announce(registrations)
    }

    /// The registrations that stand for an installation, with new ids.
    func derived(from installation: StoredInstallation, at now: Int64) -> [Registration] {
        identify { identifiers in
            installation.registrations(makeID: { identifiers.registrationID() }).map { registration in
                var registration = registration
                registration.writtenAt = now
                return registration
            }
        }
    }

    /// Fields of which two say nothing (RFC 9110, section 5.3).
    private static let singleFields =
        ["Authorization", "Content-Type"]
        + ["Format", "Tags", "DeviceHandle", "ScheduleTime", "Apns-Expiry"].map { "ServiceBusNotification-" + $0 }

    /// Finds the route of a request.
    package func route(of request: HTTPServerRequest) -> HubRoute { HubRoute(of: request, hubName: terms.hubName) }

    /// Performs a call, if its token allows it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - route: Its route.
    ///   - callID: The call's number in the records.
    ///   - moment: The time.
    /// - Returns: The answer.
    package func perform(_ request: HTTPServerRequest, route: HubRoute, callID: Int, moment: Moment) -> HubReply {
        let operation: HubOperation
        switch route {
        case .otherHub: return .error(404, detail: "No service is hosted at the specified address")
        case .unknown: return .error(404, detail: "The requested resource does not exist")
        case .methodNotAllowed(let allowed):
            var answer = HubReply.error(405, detail: "The method is not allowed for this resource")
            answer.headers = ["Allow": allowed]
            return answer
        case .operation(let found): operation = found
        }
        if let name = Self.singleFields.first(where: { request.headers.count(of: $0) > 1 }) {
            return .error(400, detail: "The HTTP header \"\(name)\" is there more than once")
        }
        let door = door.withLock { $0 }
        let refusal = refusal(
            of: request.headers["Authorization"], in: request, for: String(request.rawPath), by: door, rights: operation.rights,
            at: moment)
        if let refusal {
            return HubReply(status: refusal.status, detail: refusal.detail)
        }
        guard let version = APIVersion(request.queryValue("api-version")) else {
            return .error(400, detail: "The api-version is missing or not valid: expected api-version=YYYY-MM in the query")
        }
        let call = HubCall(
            request: request, id: callID, moment: moment, apiVersion: version, tier: door.terms.tier,
            baseURL: Self.baseURL(of: request, by: door.terms))
        guard operation.tiers.contains(call.tier) else { return call.refusedByTier() }
        return operation.perform(self, call)
    }

    /// True if a token has one of some rights on the whole hub.
    ///
    /// - Parameters:
    ///   - request: The request, at any path.
    ///   - authorization: The token as an `Authorization` field has it, wherever the request gives it.
    ///   - rights: The rights.
    ///   - moment: The time.
    /// - Returns: Whether it has.
    package func allows(
        _ request: HTTPServerRequest, by authorization: String?, rights: SASRights, at moment: Moment
    ) -> Bool {
        let door = door.withLock { $0 }
        return refusal(of: authorization, in: request, for: "/" + door.terms.hubName, by: door, rights: rights, at: moment) == nil
    }

    private func refusal(
        of authorization: String?, in request: HTTPServerRequest, for path: String, by door: Door, rights: SASRights,
        at moment: Moment
    ) -> SASRefusal? {
        let second = moment.milliseconds / 1000
        let key = GrantCache.Key(
            authorization: authorization ?? "", host: door.terms.checksHost ? request.headers["Host"] ?? "" : "", path: path,
            rights: rights)
        if door.grants.withLock({ $0.isGranted(key, second: second) }) { return nil }
        do {
            try door.verifier.verify(
                authorization: authorization, host: request.headers["Host"] ?? "", path: path, anyOf: rights, now: second)
        } catch {
            return error
        }
        door.grants.withLock { $0.grant(key, second: second) }
        return nil
    }

    private static func baseURL(of request: HTTPServerRequest, by terms: HubTerms) -> String {
        var scheme = request.isSecure ? "https" : "http"
        if terms.trustsForwardedProto, let forwarded = request.headers.members("X-Forwarded-Proto").first?.lowercased(),
            forwarded == "https" || forwarded == "http"
        {
            scheme = forwarded
        }
        return "\(scheme)://\(request.headers["Host"] ?? terms.listen)/\(terms.hubName)"
    }
}
