public import Delivery
public import FanOut
public import HubREST
internal import Payloads
public import PushModel

/// Finds the faults for which workers would refuse a request that was read without faults: its audience, its content for each
/// platform, its expiry.
public struct RequestTrial: Sendable {
    /// Something for which a request would not be sent.
    public struct Finding: Sendable, Equatable {
        /// The fault that was found.
        public let fault: RequestFault
        /// True if this machine's settings make it a fault, while those of a worker may not.
        public let isBySettings: Bool
    }

    /// Plans as the workers are thought to do.
    public let planner: FanOutPlanner
    private let routes: HubRoutes?
    private let hubNames: [String?]
    /// True if these are all hubs, so that a name that is not among them leads nowhere.
    private let knowsHubs: Bool
    /// Plans by the settings under which most requests can be sent: what it refuses, every worker does.
    private let lenient: FanOutPlanner
    /// The platforms that a fault of a message names where the request names none.
    private let inUse: PlatformSet
    private var formatter = PayloadFormatter()
    /// The plan of the last request. Its memory serves the next.
    private var plan = FanOutPlan()
    private var payload = RenderedPayload()
    /// True if the planner is the lenient one, whose refusal no setting decides.
    private var isLenient = false

    /// A trial by settings that stand for a worker's.
    ///
    /// - Parameters:
    ///   - planner: Plans by them.
    ///   - routes: The targets of the names of hubs.
    ///   - hubNames: The names of the hubs by number, with nil for a hub without one.
    ///   - knowsHubs: True if these are all hubs. Several always are.
    public init(_ planner: FanOutPlanner, routes: HubRoutes, hubNames: [String?], knowsHubs: Bool = false) {
        self.init(
            planner, lenient: Self.lenientPlanner, routes: routes, hubNames: hubNames, knowsHubs: knowsHubs || hubNames.count > 1,
            inUse: Self.messagePlatforms)
    }

    /// A trial that finds the faults that every worker would refuse, whatever its settings are. Of a message without platforms it
    /// names the faults on those in use alone, by default on all.
    public init(inUse: PlatformSet = Self.messagePlatforms) {
        let planner = Self.lenientPlanner
        self.init(planner, lenient: planner, routes: nil, hubNames: [], knowsHubs: false, inUse: inUse)
        isLenient = true
    }

    private init(
        _ planner: FanOutPlanner, lenient: FanOutPlanner, routes: HubRoutes?, hubNames: [String?], knowsHubs: Bool,
        inUse: PlatformSet
    ) {
        self.inUse = inUse
        self.knowsHubs = knowsHubs
        self.planner = planner
        self.lenient = lenient
        self.routes = routes
        self.hubNames = hubNames
    }

    /// The platforms that a message can be formatted for.
    public static var messagePlatforms: PlatformSet {
        Platform.allCases.filter(\.formatsMessages).reduce(into: []) { $0.insert(PlatformSet($1)) }
    }

    private static var lenientPlanner: FanOutPlanner {
        var configuration = FanOutPlanner.Configuration()
        configuration.userTag = ("", "")
        configuration.defaultPlatforms = messagePlatforms
        return FanOutPlanner(configuration)
    }

    /// Everything for which the request would not be sent.
    ///
    /// - Parameters:
    ///   - request: A request that was read without faults.
    ///   - now: The time at which it would be written.
    /// - Returns: The findings, empty for a request that can be sent.
    public mutating func findings(in request: PushRequest, now: Timestamp) -> [Finding] {
        var findings: [Finding] = []
        do throws(RequestFault) {
            _ = try route(of: request)
        } catch {
            findings.append(Finding(fault: error, isBySettings: true))
        }
        do throws(RequestFault) {
            try planner.plan(request, into: &plan)
        } catch {
            findings.append(Finding(fault: error, isBySettings: !isLenient && canBePlanned(request)))
        }
        findings += contentFindings(in: request, at: now)
        return findings + request.lateness(at: now).map { Finding(fault: $0, isBySettings: false) }
    }

    /// The hub that a request goes to. A publisher need not know the worker's hubs: an unknown name goes to the first.
    ///
    /// - Parameter request: Only its hub and tenant matter.
    /// - Returns: The way.
    /// - Throws: A hub that there is not, where several are known.
    public func route(of request: borrowing PushRequest) throws(RequestFault) -> HubRoutes.Route {
        guard let routes else { return .hub(0) }
        do throws(HubRouter.Fault) {
            return try routes.route(of: request, tenant: Self.tenant(of: request))
        } catch {
            guard knowsHubs else { return .hub(0) }
            let names = hubNames.compactMap { $0 } + routes.spreads.map(\.name)
            let known = names.count == 1 ? "The only hub is \(names[0])." : "The hubs are \(names.joined(separator: ", "))."
            throw RequestFault(
                .unknownHub, at: "/hub",
                message: error == .unnamed ? "The request names no hub, and there is no default." : known)
        }
    }

    /// The tenant whose request it is.
    public static func tenant(of request: borrowing PushRequest) -> TenantID {
        guard let tenant = request.tenant else { return .none }
        return TenantID(request.document.span(tenant))
    }

    private func canBePlanned(_ request: PushRequest) -> Bool {
        var plan = FanOutPlan()
        do throws(RequestFault) { try lenient.plan(request, into: &plan) } catch { return false }
        return true
    }
}

extension RequestTrial {
    private mutating func contentFindings(in request: PushRequest, at now: Timestamp) -> [Finding] {
        guard request.template == nil else {
            return fault(of: request, for: nil, at: now).map { [Finding(fault: $0, isBySettings: false)] } ?? []
        }
        // Without a plan, what the audience does not decide: so a fault there hides none of the content.
        var platforms: PlatformSet = plan.calls.isEmpty && request.audience != .none ? planner.platforms(of: request) : []
        for call in plan.calls { if let platform = call.platform { platforms.insert(PlatformSet(platform)) } }
        var findings: [Finding] = []
        for platform in Platform.allCases where platforms.contains(platform) {
            guard let fault = fault(of: request, for: platform, at: now) else { continue }
            let isByRequest = request.namesPlatforms || request.payload(for: platform) != nil
            guard isByRequest || inUse.contains(platform) else { continue }
            findings.append(Finding(fault: fault, isBySettings: !isByRequest && canBeSent(request, at: now)))
        }
        return findings
    }

    /// True if there is a platform that a worker could choose for a message.
    private mutating func canBeSent(_ request: PushRequest, at now: Timestamp) -> Bool {
        for platform in Platform.allCases where platform.formatsMessages {
            if request.payload(for: platform) != nil || fault(of: request, for: platform, at: now) == nil { return true }
        }
        return false
    }

    /// The fault of the content for a platform, or with nil of the template.
    private mutating func fault(of request: PushRequest, for platform: Platform?, at now: Timestamp) -> RequestFault? {
        do throws(PayloadError) {
            _ = try byteCount(of: request, for: platform, at: now)
            return nil
        } catch {
            return RequestFault(error.code, at: error.pointer, message: error.sentence)
        }
    }

    /// The bytes of the content for a platform, or with nil of the template.
    mutating func byteCount(
        of request: PushRequest, for platform: Platform?, at now: Timestamp
    ) throws(PayloadError) -> Int {
        if let platform {
            try formatter.format(request, for: platform, now: now, into: &payload)
        } else {
            try formatter.formatTemplate(request, now: now, into: &payload)
        }
        return payload.body.count
    }
}

extension PushRequest {
    /// True if the request itself names its platforms, rather than `hub.platforms` of the worker.
    fileprivate var namesPlatforms: Bool {
        if case .devices = audience { return true }
        return !platforms.isEmpty
    }
}
