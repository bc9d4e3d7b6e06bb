import JobSupport
import Settings

extension Command {
    static let healthcheck = Command(
        "healthcheck", .operators, "Ask a running worker whether it is well", operands: "[URL]", maximumOperands: 1,
        examples: [
            "pushfan healthcheck", "pushfan healthcheck --live --listen 127.0.0.1:9464",
            "pushfan healthcheck http://127.0.0.1:9464/startupz",
        ],
        groups: [
            .selection([
                Flag("ready", nil, "Whether it works, its hub included (/readyz); the default"),
                Flag("live", nil, "Whether it runs (/livez)"),
                Flag("startup", nil, "Whether it has started (/startupz)"),
                .timeout("3s", "How long to wait for the answer"),
            ]),
            FlagGroup("Connection", FlagGroup.settings([("listen", "HOST:PORT", "listen")]) + [FlagGroup.configFile]),
        ],
        readOn: "pushfan help worker", run: HealthcheckCommand.run)
}

private enum HealthcheckCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        let kinds = ["ready", "live", "startup"].filter(arguments.has)
        guard kinds.count <= 1 else { throw .usage("ask one thing: --\(kinds.joined(separator: " or --"))") }
        let timeout = try invocation.timeout()
        let target: HealthTarget
        if let url = arguments.operands.first {
            guard kinds.isEmpty else { throw .usage("give a URL or --\(kinds[0]), not both") }
            guard let parsed = HealthTarget(url: url) else {
                throw .usage("\(Sanitised.quoted(url)) is no URL such as http://127.0.0.1:9464/readyz; only http is spoken")
            }
            target = parsed
        } else {
            let path = ["ready": "/readyz", "live": "/livez", "startup": "/startupz"][kinds.first ?? "ready"] ?? "/readyz"
            target = HealthTarget(try invocation.settings().listen, path: path)
            guard target.port > 0 else {
                throw CommandFailure(.configuration, "listen is a free port that only the worker knows; give a URL")
            }
        }
        let answer = try PlainRequest.get(target, timeout: timeout)
        let body = answer.body.split(separator: "\n").map { Sanitised.line(String($0), atMost: 2048) }
        if !body.isEmpty { try invocation.streams.out(body.joined(separator: "\n")) }
        guard (200..<300).contains(answer.status) else {
            throw CommandFailure(.failed, "\(target) answered \(answer.status)")
        }
        return .done
    }
}

extension HealthTarget {
    /// Reads `http://host:port/path`.
    package init?(url: String) {
        guard url.lowercased().hasPrefix("http://") else { return nil }
        let rest = url.dropFirst(7)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        let behindHost = authority.lastIndex(of: "]").map { authority[$0...] } ?? authority
        let withPort = behindHost.contains(":") ? String(authority) : "\(authority):80"
        guard !authority.contains("@"), let address = ListenAddress(withPort) else { return nil }
        self.init(
            host: address.host, port: address.port, path: slash == rest.endIndex ? "/" : String(rest[slash...]))
    }

    /// The worker of this machine. If it listens on every address, the loopback address is called.
    init(_ address: ListenAddress, path: String) {
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][address.host] ?? address.host
        self.init(host: host, port: address.port, path: path)
    }
}

extension PlainRequest {
    /// Asks a worker or gateway for a page.
    static func get(_ target: HealthTarget, timeout: Duration) throws(CommandFailure) -> (status: Int, body: String) {
        do throws(Failure) { return try call(at: target, timeout: timeout) } catch { throw CommandFailure(error) }
    }
}
