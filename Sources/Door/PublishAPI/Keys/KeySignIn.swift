package import Basics
import EventLoop
package import GatewayAPI
package import Keys
import Observability
import Synchronization
import Users

/// Says whose key a request has (RFC 6750), and whether its rate allows the call.
///
/// A key costs one hash, so it is checked first. One that is not right is checked by the file as it is now. Only those whose key was wrong have to wait, as for a wrong password; no
/// wrong key holds up a right one. Any thread may ask, and waits for nothing but a reading of the file.
package final class KeySignIn: Sendable {
    private let keys: KeySource
    private let services: GatewayServices
    /// The present by which keys expire, in seconds since 1970.
    package let wallClock: @Sendable () -> Int64
    /// The counter of right keys, which each call needs.
    private let accepted: Counter
    /// Nothing else is locked while one of these two is held.
    private let limits = Mutex(SignInLimits())
    private let uses = Mutex(KeyUses())

    /// Makes one for the publishers of `keys`. `wallClock` gives the present by which keys expire, in seconds since 1970.
    init(
        _ keys: KeySource, services: GatewayServices,
        wallClock: @escaping @Sendable () -> Int64 = { WallClock.millisecondsSince1970() / 1000 }
    ) {
        self.keys = keys
        self.services = services
        self.wallClock = wallClock
        accepted = services.metrics.keyChecks.series(["accepted"])
    }

    /// Reads the keys file of a configuration. Returns nil where it names none, and fails where it is missing or not right.
    package static func make(_ configuration: GatewayConfiguration, services: GatewayServices) throws(GatewayFailure)
        -> KeySignIn?
    {
        let keys = try KeySource.watch(
            configuration.keysFile, setting: "gateway.keys_file", read: "the keys file was read again",
            kept: "the keys file cannot be used; the keys from before stay", services: services)
        return keys.map { KeySignIn($0, services: services) }
    }

    /// Checks the value of an `Authorization` header.
    package func check(_ authorization: String?, from address: NumericAddress?) -> KeyOutcome {
        check(PresentedKey(authorization: authorization), from: address).outcome
    }

    /// Checks a key, and gives it if it is right.
    package func check(_ presented: PresentedKey?, from address: NumericAddress?) -> (outcome: KeyOutcome, key: APIKey?) {
        guard let presented else { return (count(.refused, as: "refused"), nil) }
        let now = services.now()
        let (verdict, known) = verdict(on: presented, now: now)
        switch verdict {
        case .right(let key): return (admit(key, of: known, now: now), key)
        // Whoever has it guesses at nothing.
        case .ended: return (count(.refused, as: "ended"), nil)
        case .wrong: return (refuse(presented, from: address, now: now), nil)
        }
    }

    /// Checks a key by those that are known, and one that is not right by those that the file has now.
    private func verdict(on presented: PresentedKey, now: MonotonicTime) -> (KeyVerdict, KnownKeys) {
        let (known, seconds) = (keys.current(now: now), wallClock())
        let verdict = known.verdict(on: presented, at: seconds)
        if case .right = verdict { return (verdict, known) }
        let latest = keys.latest(now: now)
        return latest.generation == known.generation ? (verdict, known) : (latest.verdict(on: presented, at: seconds), latest)
    }

    /// Checks a key that was right when a session began, and gives it with its present terms if it still is. The call counts as the key's.
    package func check(again key: APIKey) -> (outcome: KeyOutcome, key: APIKey?) {
        let now = services.now()
        let known = keys.current(now: now)
        guard case .right(let key) = known.verdict(on: key, at: wallClock()) else { return (count(.refused, as: "ended"), nil) }
        return (admit(key, of: known, now: now), key)
    }

    /// The holder of a key that was right when a session began, or nil if it is not right any more. Counts as no call.
    package func publisher(of key: APIKey) -> Publisher? {
        guard case .right(let key) = keys.latest(now: services.now()).verdict(on: key, at: wallClock()) else { return nil }
        return Publisher(key)
    }

    /// The comment on a key of the file, by its id.
    package func comment(on id: String) -> String? { keys.current(now: services.now()).file[id]?.terms.comment }

    /// True as long as the key of an `Authorization` header is right, and gives the rights that a publisher has. Counts as no call.
    package func isRight(_ authorization: String?, for publisher: Publisher) -> Bool {
        guard let presented = PresentedKey(authorization: authorization) else { return false }
        let verdict = keys.latest(now: services.now()).verdict(on: presented, at: wallClock())
        return if case .right(let key) = verdict { Publisher(key) == publisher } else { false }
    }

    /// Asks whether a key's rate allows all requests of a batch, at least one. Its call was checked before, and has counted as
    /// one.
    package func check(_ count: Int, of publisher: Publisher) -> KeyUses.BatchVerdict {
        let now = services.now()
        let verdict = uses.withLock { $0.take(count, of: publisher.keyID, now: now) }
        if verdict != .allowed { services.metrics.keyChecks.series(["limited"]).increment() }
        if case .limited = verdict { services.limited.note(publisher) }
        return verdict
    }

    private func admit(_ key: APIKey, of known: KnownKeys, now: MonotonicTime) -> KeyOutcome {
        let (wait, burst, gone) = uses.withLock { uses in
            let gone = uses.forgetAll(but: known)
            return (uses.take(key, now: now), uses.burst(of: key.id), gone)
        }
        for id in gone { services.metrics.keyLastUsed.remove([id]) }
        guard wait == 0 else {
            services.limited.note(Publisher(key))
            return count(.limited(wait, burst: burst), as: "limited")
        }
        services.metrics.keyLastUsed.series([key.id]).set(Double(wallClock()))
        accepted.increment()
        return .signedIn(Publisher(key))
    }

    private func refuse(_ presented: PresentedKey, from address: NumericAddress?, now: MonotonicTime) -> KeyOutcome {
        // Known ids get no rank of their own: an answer must not say which there are.
        let attempt = SignInLimits.Attempt(from: ClientNetwork(address), as: presented.id, isUser: false)
        let decision = limits.withLock { limits in
            let decision = limits.decision(on: attempt, now: now)
            if case .check = decision { limits.noteFailure(of: attempt, now: now) }
            return decision
        }
        if case .wait(let milliseconds) = decision { return count(.held(milliseconds), as: "held") }
        return count(.refused, as: "refused")
    }

    private func count(_ outcome: KeyOutcome, as label: String) -> KeyOutcome {
        services.metrics.keyChecks.series([label]).increment()
        return outcome
    }
}
