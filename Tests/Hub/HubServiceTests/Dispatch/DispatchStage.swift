import Basics
import FanOut
import HTTPServing
import Synchronization
import TestSupport
import Testing

@testable import HubServer
@testable import HubService

/// A push service whose outcomes a test gives.
final class ScriptedService: PushService {
    struct Push: Sendable {
        let deliveries: [Delivery]
        let message: PushedMessage
        let done: @Sendable ([PushOutcome]) -> Void

        /// One outcome for all of them.
        func end(_ outcome: PushOutcome = .success) { done([PushOutcome](repeating: outcome, count: deliveries.count)) }
    }

    /// Sees each push when it comes.
    let watch = Mutex<@Sendable (Delivery, PushedMessage) -> Void>({ _, _ in })
    private let open = Mutex<[Push]>([])
    private let taken = Mutex<[Push]>([])
    /// Answers at once. Without it, pushes wait.
    private let answer: (@Sendable (Delivery) -> PushOutcome)?

    init(answer: (@Sendable (Delivery) -> PushOutcome)? = nil) { self.answer = answer }

    func push(_ deliveries: [Delivery], of message: PushedMessage, done: @escaping @Sendable ([PushOutcome]) -> Void) {
        let push = Push(deliveries: deliveries, message: message, done: done)
        let see = watch.withLock { $0 }
        for delivery in deliveries { see(delivery, message) }
        taken.withLock { $0.append(push) }
        if let answer { done(deliveries.map(answer)) } else { open.withLock { $0.append(push) } }
    }

    /// All pushes so far, in their order.
    var pushes: [Push] { taken.withLock { $0 } }

    /// The handles of all pushes so far, in their order.
    var handles: [String] { pushes.flatMap { $0.deliveries.map(\.handle) } }

    /// The pushes that wait for their outcomes.
    var openPushes: [Push] { open.withLock { $0 } }

    /// Takes a push out that waits for its outcome.
    func takeOpen(_ index: Int = 0) -> Push? { open.withLock { $0.indices.contains(index) ? $0.remove(at: index) : nil } }
}

/// A walker on the test's own thread, with clocks that the test moves.
final class DispatchStage {
    static let start: Int64 = 1_767_225_600_000

    let devices = MemoryDevices()
    /// The devices as the walker sees them.
    let failingDevices: FailingDevices
    let journal: MemoryJournal
    let service: ScriptedService
    var terms = DispatchTerms()
    private(set) var inbox = WalkerInbox()
    private(set) var walker: Walker
    private let seen = Box<[DispatchEvent]>([])
    /// The clock that people read, and the steady one.
    var wall = start
    var steady = MonotonicTime(nanoseconds: 0)

    init(_ service: ScriptedService = ScriptedService()) {
        self.service = service
        failingDevices = FailingDevices(devices)
        journal = MemoryJournal(devices: devices)
        walker = Self.walker(journal, devices: failingDevices, service: service, inbox: inbox, seen: seen)
    }

    private static func walker(
        _ journal: MemoryJournal, devices: any DeviceStore, service: ScriptedService, inbox: WalkerInbox,
        seen: Box<[DispatchEvent]>
    ) -> Walker {
        let services = Dictionary(uniqueKeysWithValues: HubPlatform.allCases.map { ($0, service as any PushService) })
        return Walker(journal: journal, devices: devices, services: services, inbox: inbox) { event in
            seen.withLock { $0.append(event) }
        }
    }

    var events: [DispatchEvent] { seen.withLock { $0 } }

    /// Another process begins with the same journal and devices.
    func restart() {
        inbox = WalkerInbox()
        walker = Self.walker(journal, devices: failingDevices, service: service, inbox: inbox, seen: seen)
    }

    /// Both clocks go on.
    func advance(_ duration: Duration) {
        wall += duration.wholeMilliseconds
        steady = steady.advanced(by: duration)
    }

    /// One turn. Returns true if another can do something at once.
    @discardableResult
    func turn() -> Bool {
        let content = inbox.take(waitingUntil: .past)
        let wake = walker.turn(with: content, at: WalkMoment(wall: wall, steady: steady), by: terms)
        return !content.isEmpty || wake <= steady
    }

    /// Turns until nothing can be done at once.
    func settle() {
        for _ in 0..<100_000 where !turn() { return }
        Issue.record("the walker finds no rest")
    }

    /// Writes devices with handles from `first` on.
    func register(_ count: Int, on platform: HubPlatform = .fcmv1, tags: [String] = [], from first: Int = 0) throws {
        try devices.change { (book) throws(RefusedCall) in
            for number in first..<first + count {
                try book.write(
                    Registration(
                        id: "\(platform.format)-\(number)", platform: platform, handle: "\(platform.format)-\(number)", tags: tags
                    ))
            }
        }
    }

    /// Writes devices with a template that takes `m`.
    func registerTemplates(_ count: Int, on platform: HubPlatform = .gcm, from first: Int = 0) throws {
        let text = #"{"data":{"m":"$(m)"}}"#
        let body = try BodyTemplate(text)
        try devices.change { (book) throws(RefusedCall) in
            for number in first..<first + count {
                let name = "\(platform.format)-t\(number)"
                var registration = Registration(id: name, platform: platform, handle: name, tags: [])
                registration.template = Registration.Template(name: nil, text: text, body: body)
                try book.write(registration)
            }
        }
    }

    /// The devices that a notification is for now, by handle.
    func audience(of notification: Notification) throws -> [String: DevicePlace] {
        guard let audience = notification.devices(at: wall) else {
            let found = notification.directReach.rung.enumerated().map { index, delivery in
                (delivery.handle, DevicePlace(platform: delivery.device.platform, number: Int64(index + 1)))
            }
            return Dictionary(uniqueKeysWithValues: found)
        }
        let found = try devices.read { (book) throws(RefusedCall) in try book.devices(of: audience, after: nil, limit: .max) }
        return Dictionary(uniqueKeysWithValues: found.devices.map { ($0.registrations[0].handle, $0.place) })
    }

    /// Accepts a notification, and wakes the walker.
    func accept(_ notification: Notification, due: Int64? = nil, lifetime: Int64 = 86_400_000) throws {
        try journal.add(notification, of: .sample(at: wall), due: due, deadline: (due ?? wall) + lifetime)
        if due == nil { inbox.waitingCount.add(1, ordering: .relaxed) }
        inbox.add { content in
            if let due { content.due = min(content.due ?? due, due) } else { content.hasNews = true }
        }
    }
}

extension HubCall {
    /// A call in the newest version.
    static func sample(at time: Int64) -> HubCall {
        HubCall(
            request: HTTPServerRequest(method: "POST", target: "/hub/messages/?api-version=2020-06"), id: 1,
            moment: Moment(milliseconds: time), apiVersion: .answers429, tier: .standard, baseURL: "http://127.0.0.1/hub")
    }
}

extension Notification {
    /// A notification that push services take.
    static func sample(
        _ id: String, format: String = "fcmv1", to audience: Audience = .everyone, body: String? = nil
    ) throws -> Notification {
        let usual = format == "apple" ? #"{"aps":{"alert":"x"}}"# : format == "fcmv1" ? #"{"message":{}}"# : #"{"text":"x"}"#
        return try Notification(
            id: id, callID: 1, format: format, audience: audience, body: Array((body ?? usual).utf8), headers: [:])
    }
}
