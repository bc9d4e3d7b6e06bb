import HubAuth
public import HubServer

/// The settings of one ``EmulatedHub``.
public struct HubEmulatorConfiguration: Sendable {
    /// The source of the certificate.
    public enum TLS: Sendable, Equatable {
        /// Plain HTTP.
        case off
        /// A certificate made at the start for the listen address, `localhost` and the loopback addresses.
        case selfSigned
        /// PEM files: the certificate chain and its key.
        case files(certificate: String, key: String)
    }

    /// The part of each call that is kept for `GET /calls`.
    public enum Recording: String, Sendable, CaseIterable {
        /// Everything, with headers and bodies for the newest 100,000 calls.
        case full
        /// Everything but headers and bodies.
        case light
        /// Nothing, no telemetry either, and only the counts of rings. Meant for measurements.
        case off
    }

    /// The hub's name: the first segment of every path. Default `demo`.
    public var hubName = "demo"
    /// The address to listen on. Default `127.0.0.1:8800`. Port 0 takes a free port.
    public var listen = "127.0.0.1:8800"
    /// Plain HTTP or TLS. Default plain.
    public var tls = TLS.off
    /// The policies whose keys may sign. Default: one with all rights and a well-known key.
    public var policies = [Self.defaultPolicy]
    /// The tier. Default standard.
    public var tier = HubTier.standard
    /// True if a token's audience must name the host of the request. Default no.
    public var checksHost = false
    /// True if `X-Forwarded-Proto` decides the scheme of `Location`. Safe only behind a front that sets it. Default no.
    public var trustsForwardedProto = false
    /// Faults to begin with, in the order in which they are tried.
    public var faults: [Fault] = []
    /// The scripted telemetry and the refusals by push services, in the order in which the lines are tried.
    public var telemetry: [TelemetryScript] = []
    /// A file with a JSON array of installations to begin with.
    public var devicesFile: String?
    /// A file to which every call is appended as a line of JSON. Default: none.
    public var journalFile: String?
    /// The part of the calls that is kept. Default full.
    public var recording = Recording.full
    /// Calls, rings and notifications that are kept, each. Default 1,000,000.
    public var maximumRecords = 1_000_000
    /// Threads that serve. Default 1, range 1 to 64.
    public var threadCount = 1
    /// The seed of ids and of random choices. The same seed gives the same sequence. Default: by the clock.
    public var seed: UInt64?

    /// The default policy, `DefaultFullSharedAccessSignature`. Its key is no secret: it opens emulators only.
    public static let defaultPolicy = HubPolicy(
        name: "DefaultFullSharedAccessSignature", key: "cHVzaGZhbi1lbXVsYXRvci1rZXktbm90LWEtc2VjcmV0ISE=", rights: .all)

    /// The defaults.
    public init() {}

    /// The terms of the hub itself.
    var terms: HubTerms {
        HubTerms(
            hubName: hubName, policies: policies, tier: tier, listen: listen, checksHost: checksHost,
            trustsForwardedProto: trustsForwardedProto)
    }

    /// Every problem of the settings, each a plain sentence that begins with the setting's name.
    public func problems() -> [String] {
        var problems: [String] = []
        do { _ = try HubName(hubName) } catch { problems.append("hub name: \(error)") }
        if EmulatedHub.isReserved(hubName) {
            problems.append("hub name: '\(hubName)' is a path of the emulator itself")
        }
        if policies.isEmpty { problems.append("policies: at least one is needed") }
        if Set(policies.map(\.name)).count < policies.count { problems.append("policies: a name is given twice") }
        if !(1...64).contains(threadCount) { problems.append("threads: \(threadCount) is not in the range 1 to 64") }
        if !(1...100_000_000).contains(maximumRecords) {
            problems.append("records: \(maximumRecords) is not in the range 1 to 100000000")
        }
        return problems
    }
}

/// An error on making or starting an emulator.
public enum HubEmulatorError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The settings are not usable. Each problem is a sentence.
    case invalidConfiguration([String])
    /// A file cannot be read.
    case unreadableFile(path: String)
    /// A file cannot be written. The reason is the system's own text.
    case unwritableFile(path: String, reason: String)
    /// The devices file has faulty content.
    case invalidDevices(path: String, reason: String)
    /// The certificate could not be made.
    case noCertificate(reason: String)
    /// The address cannot be listened on. The reason names the address and, if known, the process that has it.
    case cannotListen(reason: String)
    /// The address, or TLS, could not be served.
    case cannotServe(reason: String)

    /// One plain sentence.
    public var description: String {
        switch self {
        case .invalidConfiguration(let problems): problems.joined(separator: "; ")
        case .unreadableFile(let path): "the file '\(path)' cannot be read"
        case .unwritableFile(let path, let reason): "the file '\(path)' cannot be written: \(reason)"
        case .invalidDevices(let path, let reason): "the devices file '\(path)' cannot be used: \(reason)"
        case .noCertificate(let reason): "no certificate could be made: \(reason)"
        case .cannotListen(let reason), .cannotServe(let reason): reason
        }
    }
}
