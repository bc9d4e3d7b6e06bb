public import Basics
import Crypto
import Dispatch
public import EventLoop
public import Keys
public import Observability
import Synchronization
import Tokens

/// Says who the bearer of a JSON Web Token is (RFC 7519). Any thread may ask, and none waits.
///
/// The issuer's public keys are read on a thread of its own. A key counts until a later read does not have it. Where no read succeeds, the
/// known keys go on to count.
public final class TokenVerifier: Sendable {
    /// An answer about a token.
    public enum Outcome: Sendable, Equatable {
        /// The token is right. Without scopes its user may do all that a user may.
        case user(name: String, scopes: Set<Scope>?)
        /// It is no token, or one that does not count.
        case refused
        /// Its key may be one that is not known yet. Another try makes sense after so many milliseconds.
        case unavailable(Int64)
    }

    /// The state of the keys.
    public enum State: Sendable, Equatable {
        /// The last read succeeded.
        case healthy
        /// No read has succeeded since this moment, in milliseconds since 1970.
        case stale(since: Int64)
    }

    /// The part that callers and the thread share.
    private struct Shared {
        var keys: VerifyingKeys?
        /// The number of times that the keys changed.
        var generation = 0
        var remembered = RememberedTokens()
        var readings: KeyReadings
        var state: State
        /// The reason for which the last read failed.
        var failure: String?
    }

    private let rules: TokenRules
    private let source: TokenKeySource
    private let log: Log
    private let now: @Sendable () -> MonotonicTime
    private let wallClock: @Sendable () -> Int64
    private let makePoller: @Sendable () throws -> Poller
    private let retryPause: DispatchTimeInterval
    private let wakeUp: WakeUp
    /// Ends a pause without a poller.
    private let ending = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()
    private let isStarted = Atomic<Bool>(false)
    private let isStopped = Atomic<Bool>(false)
    /// Held for a few instructions, never while a key is used or read.
    private let shared: Mutex<Shared>

    /// Makes a verifier. A file is read at once, and an address from `start` on.
    ///
    /// - Parameters:
    ///   - configuration: The tokens that count.
    ///   - log: Gets a line when keys change, and when they cannot be read.
    ///   - now: The present moment. Default: the system's.
    ///   - wallClock: Milliseconds since 1970. Default: the system's.
    /// - Throws: Settings that cannot work, or no descriptor is left.
    public convenience init(
        _ configuration: Configuration, log: Log, now: @escaping @Sendable () -> MonotonicTime = { .now() },
        wallClock: @escaping @Sendable () -> Int64 = { WallClock.millisecondsSince1970() }
    ) throws(Problem) {
        try self.init(
            configuration, log: log, now: now, wallClock: wallClock, makePoller: { try Poller() }, retryPause: .seconds(10))
    }

    /// Makes a verifier whose thread gets its pollers here, and pauses after one that failed.
    init(
        _ configuration: Configuration, log: Log, now: @escaping @Sendable () -> MonotonicTime,
        wallClock: @escaping @Sendable () -> Int64, makePoller: @escaping @Sendable () throws -> Poller,
        retryPause: DispatchTimeInterval
    ) throws(Problem) {
        let audiences = configuration.audiences
        guard !configuration.issuer.isEmpty, !audiences.isEmpty, !audiences.contains("") else { throw .expectations }
        rules = TokenRules(
            issuer: configuration.issuer, audiences: audiences, clockSkew: configuration.clockSkew.components.seconds,
            userClaim: configuration.userClaim, scopesClaim: configuration.scopesClaim)
        source = try TokenKeySource(configuration, now: now())
        do throws(SystemCallError) { wakeUp = try WakeUp() } catch { throw .system(reason: error.description) }
        (self.log, self.now, self.wallClock) = (log, now, wallClock)
        (self.makePoller, self.retryPause) = (makePoller, retryPause)
        let keys = source.keysOfFile(at: now())
        shared = Mutex(
            Shared(
                keys: keys, readings: KeyReadings(every: source.interval(configuration.refresh)),
                state: keys == nil ? .stale(since: wallClock()) : .healthy))
    }

    /// Starts to read the keys, on a thread that holds this object until `stop`.
    public func start() {
        guard !isStarted.exchange(true, ordering: .relaxed) else { return }
        report(shared.withLock { $0.keys }, failure: nil, hasRecovered: false)
        thread.start(named: "token-keys") { self.run() }
    }

    /// Ends the reading, and waits for the end. The known keys go on to count.
    public func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeUp.signal()
        ending.signal()
        if isStarted.load(ordering: .relaxed) { thread.waitForEnd() }
    }

    /// The state of the keys.
    public var state: State { shared.withLock { $0.state } }

    /// The number of keys that count.
    public var keyCount: Int { shared.withLock { $0.keys?.count ?? 0 } }

    /// Judges a token. It costs one verification of a signature, up to four where the token names no key, and none where it was right before.
    ///
    /// - Parameter authorization: The value of the header `Authorization`, or nil where there is none.
    /// - Returns: The bearer, or why there is none.
    public func check(_ authorization: String?) -> Outcome {
        guard let bytes = Self.token(in: authorization) else { return .refused }
        let digest = SHA256.digest(of: bytes)
        let seconds = wallClock() / 1000
        if let bearer = shared.withLock({ $0.remembered.bearer(digest, at: seconds) }) { return Self.outcome(bearer) }
        let (token, claims): (JSONWebToken, TokenBearer)
        do throws(TokenFault) {
            token = try JSONWebToken(bytes)
            claims = try rules.bearer(of: token, at: seconds)
        } catch {
            return .refused
        }
        let (keys, generation) = shared.withLock { ($0.keys, $0.generation) }
        guard let keys else { return .unavailable(shared.withLock { $0.readings.wait(at: now()) }) }
        let candidates = keys.candidates(for: token)
        guard !candidates.isEmpty else {
            let age = claims.issued.map { seconds - $0 - rules.clockSkew }
            return keys.listed.hasKey(of: token) ? .refused : outcomeOfUnknownKey(age: age)
        }
        guard candidates.contains(where: { $0.verifies(token.signature, of: token.signedBytes) }) else { return .refused }
        let bearer = RememberedTokens.Bearer(claims)
        shared.withLock { if $0.generation == generation { $0.remembered.remember(bearer, as: digest) } }
        return Self.outcome(bearer)
    }

    /// The key may be new. It is none when a read that has just succeeded does not have it, unless the token is newer than that.
    private func outcomeOfUnknownKey(age: Int64?) -> Outcome {
        let moment = now()
        let (isComing, hasFailed, wait) = shared.withLock {
            ($0.readings.ask(at: moment, tokenAge: age), $0.readings.hasFailed, $0.readings.wait(at: moment))
        }
        if isComing { wakeUp.signal() }
        return isComing || hasFailed ? .unavailable(wait) : .refused
    }

    private static func outcome(_ bearer: RememberedTokens.Bearer) -> Outcome { .user(name: bearer.user, scopes: bearer.scopes) }

    /// The token of a header (RFC 6750, section 2.1). Nil for another scheme, and for one that is too long to be read.
    private static func token(in authorization: String?) -> [UInt8]? {
        let blank = UInt8(ascii: " ")
        guard let authorization, authorization.utf8.count <= JSONWebToken.maximumByteCount + 16 else { return nil }
        let bytes = Array(authorization.utf8).drop { $0 == blank }
        let scheme = bytes.prefix { $0 != blank }
        // The bit tells small letters from others.
        guard scheme.elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        var token = bytes.dropFirst(scheme.count).drop { $0 == blank }
        while token.last == blank { token.removeLast() }
        return token.isEmpty ? nil : Array(token)
    }

    private func run() {
        while !isStopped.load(ordering: .acquiring) {
            do { try watch() } catch {
                endReading(nil, failure: "\(error)")
                _ = ending.wait(timeout: .now() + retryPause)
            }
        }
    }

    /// Reads the keys whenever it is time, until the end. Throws where the system gives no descriptor.
    private func watch() throws {
        let poller = try makePoller()
        try poller.add(wakeUp.fileDescriptor, token: 0, interest: .readable)
        while !isStopped.load(ordering: .acquiring) {
            if shared.withLock({ $0.readings.begin(at: now()) }) { readKeys(poller) }
            let pause = shared.withLock { $0.readings.next } - now()
            _ = try poller.wait(until: .now() + max(0, pause))
            wakeUp.drain()
        }
    }

    /// Says if the reading is to end. Takes the signals that would wake a poller again at once.
    private func hasEnded() -> Bool {
        wakeUp.drain()
        return isStopped.load(ordering: .acquiring)
    }

    private func readKeys(_ poller: Poller) {
        let (found, failure): (VerifyingKeys?, String?)
        do throws(TokenKeySource.Failure) {
            (found, failure) = (try source.read(poller, now: now(), isCancelled: hasEnded), nil)
        } catch {
            (found, failure) = (nil, error.reason)
        }
        guard !isStopped.load(ordering: .acquiring) else { return }
        endReading(found, failure: failure)
    }

    /// Notes what a read has found, and says what is new about it.
    private func endReading(_ found: VerifyingKeys?, failure: String?) {
        let moment = now()
        let (isNew, isOther) = shared.withLock { shared in
            let isNew = found.map { $0.listed != shared.keys?.listed } ?? false
            if isNew {
                (shared.keys, shared.generation) = (found, shared.generation + 1)
                shared.remembered.removeAll()
            }
            shared.readings.end(at: moment, failed: failure != nil)
            if failure == nil {
                shared.state = .healthy
            } else if shared.state == .healthy {
                shared.state = .stale(since: wallClock())
            }
            defer { shared.failure = failure }
            return (isNew, shared.failure != failure)
        }
        report(isNew ? found : nil, failure: isOther ? failure : nil, hasRecovered: isOther && failure == nil && !isNew)
    }

    private func report(_ keys: VerifyingKeys?, failure: String?, hasRecovered: Bool) {
        if let failure {
            log.warning(
                .configurationLoaded, "keys of tokens cannot be read; those from before count, if any",
                [.reason: .string(failure)])
        }
        if hasRecovered { log.info(.configurationLoaded, "keys of tokens can be read again") }
        guard let keys else { return }
        log.info(.configurationLoaded, "keys of tokens were read", [.count: LogValue(keys.count)])
        if keys.count == 0 { log.warning(.configurationDoubtful, "no key of tokens is left, so no token counts") }
        guard keys.skippedCount > 0 else { return }
        log.warning(.configurationDoubtful, "keys of tokens are of no use and passed over", [.count: LogValue(keys.skippedCount)])
    }
}
