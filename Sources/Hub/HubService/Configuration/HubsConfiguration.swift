import Basics
import HTTPServing
package import HubServer

/// The hubs of a process, and how they are served.
package struct HubsConfiguration: Sendable, Equatable {
    /// The files of a certificate, as PEM.
    package struct TLS: Sendable, Equatable {
        package var certificateFile: String
        package var keyFile: String

        package init(certificateFile: String, keyFile: String) {
            (self.certificateFile, self.keyFile) = (certificateFile, keyFile)
        }
    }

    /// One hub.
    package struct Hub: Sendable, Equatable {
        /// The first segment of its paths.
        package var name: String
        /// The path of its file.
        package var state: String
        /// The policies whose keys may sign. Two of one name are one policy while its keys are replaced.
        package var policies: [HubPolicy] = []
        /// True if a policy with all rights, whose key is made once and kept in the file, comes before the others.
        package var makesPolicy = false
        package var tier = HubTier.standard
        /// True if a token's audience must name the host of the request.
        package var checksHost = false
        /// The file of the key that encrypts handles. Nil leaves them plain.
        package var handleKeyFile: String?
        /// The time for which the telemetry of a notification is kept after its end.
        package var telemetryRetention = Duration.seconds(30 * 86_400)
        /// The time after which no push service is asked any more.
        package var messageLifetime = Duration.seconds(86_400)
        /// The file that gets a line for each recorded push.
        package var recordFile: String?

        package init(name: String, state: String) { (self.name, self.state) = (name, state) }
    }

    /// The address to listen on. Port 0 takes a free port.
    package var listen = "127.0.0.1:8800"
    /// The certificate to serve with. Nil serves plain HTTP.
    package var tls: TLS?
    /// The address of probes and metrics. Nil for none of its own.
    package var probes: String?
    /// Threads that serve, 1 to 64. Each waits for the disk while it writes, and those that wait together share one wait.
    package var threadCount = 64
    /// True if `X-Forwarded-Proto` decides the scheme of links.
    package var trustsForwardedProto = false
    /// True if programs on this machine need no token to see devices, and learn the reasons of probes.
    package var opensDevices = false
    package var hubs: [Hub]
    /// The files that were read for it. A change of any is one of the settings.
    package var files: [String] = []

    package init(hubs: [Hub] = []) { self.hubs = hubs }

    /// True if a call from this machine counts as one of its owner. A proxy in front makes all calls come from this machine.
    var trustsThisMachine: Bool { opensDevices && !trustsForwardedProto }

    /// True if calls, and the keys in them, are not encrypted on their way from other machines.
    package var isExposed: Bool {
        guard tls == nil, !trustsForwardedProto, let host = HTTPServerConfiguration.host(of: listen) else { return false }
        return !host.equalsIgnoringCase("localhost") && NumericAddress(host)?.isLoopback != true
    }

    /// The key in the example of such a file, `Config/hub.yaml`.
    package static let exampleKey = "ZXhhbXBsZTogcmVwbGFjZSB0aGlzIGtleSE="
    /// The most hubs of a process.
    package static let maximumHubCount = 50
    /// The names that no hub may have, since they are paths beside the hubs.
    private static let reservedNames = [
        "blobs", "calls", "devices", "faults", "feedback", "livez", "metrics", "readyz", "startupz", "storage", "telemetry",
    ]

    /// A path without empty segments and `.`, so that two spellings of one file are found.
    static func folded(_ path: String) -> String {
        (path.hasPrefix("/") ? "/" : "") + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    /// Finds another use of the file of a hub's record of pushes.
    ///
    /// - Parameters:
    ///   - path: The path of the record.
    ///   - hub: The hub.
    /// - Returns: The end of a sentence about the file, or nil if it is the record's alone.
    func user(ofRecord path: String, besides hub: Hub) -> String? {
        let record = Self.folded(path)
        let keys = [hub.handleKeyFile, tls?.certificateFile, tls?.keyFile].compactMap(\.self) + files
        if keys.contains(where: { Self.folded($0) == record }) { return "is one of the settings" }
        for other in hubs + [hub] {
            let state = Self.folded(other.state)
            if ["", "-wal", "-shm", ".lock"].contains(where: { state + $0 == record }) { return "is the state of a hub" }
            if other.name != hub.name, other.recordFile.map(Self.folded) == record { return "is the record of another hub" }
        }
        return nil
    }

    /// True if a hub of this name could not be told from a path beside the hubs.
    package static func isReserved(_ name: String) -> Bool { reservedNames.contains(name.lowercased()) }
}
