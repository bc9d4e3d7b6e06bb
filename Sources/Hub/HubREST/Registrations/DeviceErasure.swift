public import Basics
internal import FanOut
internal import PushModel

/// Removes all devices of a user from one hub: facts in, calls out, at the end what became of it (page Privacy).
///
/// It makes no call and waits for nothing itself. Whoever uses it makes the calls in the order in which they are asked for:
///
///     var step = erasure.next()
///     while true {
///         switch step {
///         case .ask(let call): step = erasure.next(after: reply(to: call))
///         case .wait(let milliseconds): step = erasure.next()    // once so much time has passed
///         case .end(let ending): return ending
///         }
///     }
///
/// Its calls are made by ``DeviceUser/perform(_:by:)`` of the same user, which spares what is another's by now. A hub may show for a while
/// what was removed. So the lists are read again until they are empty twice. It may be repeated at any time.
public struct DeviceErasure: Sendable {
    /// The next thing to do.
    public enum Step: Sendable, Equatable {
        /// Make this call.
        case ask(RegistrationCall)
        /// Wait so many milliseconds.
        case wait(Int64)
        /// There is nothing more to do.
        case end(Ending)
    }

    /// The way it ends.
    public enum Ending: Sendable, Equatable {
        /// The hub has no device of the user any more.
        case done
        /// The hub refuses what is needed, or cannot be asked.
        case failed(RegistrationFailure)
        /// The hub still shows devices, though it has said that they are removed.
        case stillShown
        /// Whoever made the calls has stopped before the end.
        case stopped
    }

    /// The progress. An installation with all its templates counts once.
    public struct Progress: Sendable, Equatable {
        /// Devices that the hub has shown.
        public var found = 0
        /// Those that are removed.
        public var removed = 0
        /// Those that are not, or that the hub goes on to show.
        public var left = 0

        /// Nothing is found.
        public init() {}

        /// Adds what was found elsewhere.
        public static func += (sum: inout Progress, other: Progress) {
            sum.found += other.found
            sum.removed += other.removed
            sum.left += other.left
        }
    }

    private enum Device: Hashable {
        case installation(String)
        case registration(String)

        init(_ registration: DeviceRegistration) {
            self = registration.installationID.map(Self.installation) ?? .registration(registration.id)
        }

        func removal(in version: String?) -> RegistrationCall {
            switch self {
            case .installation(let id): .deleteInstallation(id: id)
            case .registration(let id): .deleteRegistration(id: id, etag: version)
            }
        }
    }

    /// The most devices of one user.
    static let maximumCount = 100_000
    /// The most times that all lists are read, within some two minutes.
    static let maximumPasses = 12
    /// The most tries of one call.
    static let maximumTries = 8
    /// The longest wait that is made, in milliseconds. A hub that asks for a longer one ends it.
    static let longestWait: Int64 = 600_000
    /// Pages of the lists of one pass. What is behind them is found by the next.
    private static let maximumPages = 1000

    private let user: DeviceUser
    /// The call that was asked for last, and that is asked for again after a wait.
    private var call: RegistrationCall?
    private var tries = 0

    /// The devices that this pass has yet to remove, the last first.
    private var queue: [(device: Device, version: String?)] = []
    /// The devices that this pass has found to be another user's by now.
    private var spared: Set<Device> = []
    /// The devices that this pass was shown, without those that the hub refuses to remove.
    private var shown: Set<Device> = []
    private var (pass, emptyPasses, pages, tagIndex) = (1, 0, 0, 0)
    private var token: RegistrationPage.Token?

    private var found: Set<Device> = []
    /// The pass in which each was removed.
    private var removed: [Device: Int] = [:]
    /// The device to which the call belongs.
    private var device: Device?
    private var refused: Set<Device> = []
    private var refusal: RegistrationFailure?

    /// Begins with nothing known of a user's devices.
    public init(of user: DeviceUser) { self.user = user }

    /// The progress.
    public var progress: Progress {
        var progress = Progress()
        (progress.found, progress.removed) = (found.count, removed.count)
        progress.left = max(found.count - removed.count, hasEnded ? shown.count : 0)
        return progress
    }

    /// One pass more is made where the last one was the first with empty lists.
    private var hasEnded: Bool { pass > Self.maximumPasses && !shown.isEmpty }

    /// The next step at the beginning, and after a wait.
    public mutating func next() -> Step {
        if let call { return .ask(call) }
        if let next = queue.popLast() {
            device = next.device
            return ask(next.device.removal(in: next.version))
        }
        device = nil
        guard tagIndex < user.tags.count else { return endPass() }
        return ask(.listTagged(tag: user.tags[tagIndex], count: 100, token: token))
    }

    /// The next step after the hub's reply to the call of the step before.
    public mutating func next(after reply: Result<RegistrationReply, RegistrationFailure>) -> Step {
        switch reply {
        case .failure(let failure): return step(after: failure)
        case .success(.page(let page)) where device == nil:
            guard take(page) else {
                return .end(.failed(RegistrationFailure(.unreadable(.unexpected("Tags")), code: .responseInvalid)))
            }
        case .success(.installation):
            // Another user has it by now, and the lists do not show that yet.
            if let device {
                shown.remove(device)
                spared.insert(device)
                found.remove(device)
                removed[device] = nil
            }
        case .success:
            if let device { removed[device] = pass } else { tagIndex += 1 }
        }
        (call, tries) = (nil, 0)
        return found.count > Self.maximumCount
            ? .end(.failed(RegistrationFailure(.unreadable(.endless), code: .responseInvalid))) : next()
    }

    private mutating func ask(_ next: RegistrationCall) -> Step {
        call = next
        return .ask(next)
    }

    /// Takes the devices of a page. False for a page with anything else: what lists too much would have too much removed.
    private mutating func take(_ page: RegistrationPage) -> Bool {
        guard page.registrations.allSatisfy({ $0.hasTag(user.tags[tagIndex]) }) else { return false }
        for registration in page.registrations {
            let device = Device(registration)
            guard !refused.contains(device), !spared.contains(device), shown.insert(device).inserted else { continue }
            found.insert(device)
            // A hub is late with the removals of the pass before. An older one was registered again, or forgotten by the hub.
            if removed[device].map({ $0 < pass - 1 }) ?? true { queue.append((device, registration.etag)) }
        }
        pages += 1
        let next = page.next == token || pages > Self.maximumPages ? nil : page.next
        if next == nil { tagIndex += 1 }
        token = next
        return true
    }

    private mutating func endPass() -> Step {
        emptyPasses = shown.isEmpty ? emptyPasses + 1 : 0
        if emptyPasses == 2 { return .end(ofEmptyLists) }
        let wait: Int64 = shown.isEmpty ? 1000 : min(500 << Int64(pass - 1), 15_000)
        pass += 1
        guard !hasEnded else { return .end(.stillShown) }
        (shown, spared, tagIndex, pages, token) = ([], [], 0, 0, nil)
        return .wait(wait)
    }

    private var ofEmptyLists: Ending { refusal.map(Ending.failed) ?? .done }

    private mutating func step(after failure: RegistrationFailure) -> Step {
        if failure.isWorthRetrying {
            tries += 1
            let wait = max(failure.retryAfter ?? 0, min(1000 << Int64(tries - 1), 30_000))
            return tries < Self.maximumTries && wait <= Self.longestWait ? .wait(wait) : .end(.failed(failure))
        }
        // A fault of one device keeps no other.
        guard let device, failure.cause == .unusable || [400, 405, 412, 422].contains(failure.status) else {
            return .end(.failed(failure))
        }
        (call, tries) = (nil, 0)
        // A registration that was changed since is judged again in the next pass.
        if failure.status == 412 {
            found.remove(device)
            return next()
        }
        refused.insert(device)
        shown.remove(device)
        refusal = refusal ?? failure
        return next()
    }
}

extension DeviceErasure {
    /// Makes all calls.
    ///
    /// - Parameters:
    ///   - client: Makes them.
    ///   - wait: Waits so many milliseconds, and returns false where it shall go no further.
    ///   - note: Hears after each call how far it is.
    /// - Returns: How it ends.
    public mutating func run(
        by client: RegistrationClient, wait: (Int64) -> Bool, note: (Progress) -> Void = { _ in }
    ) -> Ending {
        var step = next()
        while true {
            switch step {
            case .ask(let call):
                guard wait(0) else { return .stopped }
                step = next(
                    after: Result { () throws(RegistrationFailure) in
                        try user.perform(call) { (call) throws(RegistrationFailure) in try client.perform(call) }
                    })
                note(progress)
            case .wait(let milliseconds):
                guard wait(milliseconds) else { return .stopped }
                step = next()
            case .end(let ending): return ending
            }
        }
    }
}

extension DeviceErasure.Ending: CustomStringConvertible {
    /// A part of a sentence.
    public var description: String {
        switch self {
        case .done: "done"
        case .failed(let failure) where failure.status == 401 || failure.status == 403:
            "\(failure) (a list by tag needs the right Manage)"
        case .failed(let failure): "\(failure)"
        case .stillShown: "the hub still shows devices that it was told to remove"
        case .stopped: "it was stopped"
        }
    }
}

extension DeviceErasure: Concealed {
    /// The name alone: whose devices they are belongs into no log.
    public var description: String { "DeviceErasure" }
}
