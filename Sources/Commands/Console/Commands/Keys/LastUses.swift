import JobSupport

/// The last uses of keys, by the metrics of gateways, in seconds since 1970, by the keys' ids.
struct LastUses {
    private(set) var seconds: [String: Int64] = [:]

    /// No key was used.
    init() {}

    /// Queries the gateways that flags name.
    init(_ arguments: Arguments) throws(CommandFailure) {
        let timeout = try arguments.duration("timeout") ?? .seconds(5)
        for url in arguments.values("gateway") {
            guard let target = HealthTarget(url: url), ["/", "/metrics"].contains(target.path) else {
                throw .usage("--gateway: \(Sanitised.quoted(url)) is no URL such as http://127.0.0.1:9465; only http is spoken")
            }
            let answer = try PlainRequest.get(target.at("/metrics"), timeout: timeout)
            guard answer.status == 200 else {
                throw CommandFailure(.failed, "\(target) answered \(answer.status), and not as a gateway does")
            }
            add(metrics: answer.body)
        }
    }

    /// Adds a gateway's metrics. Of two times of a key the later one counts.
    mutating func add(metrics: String) {
        for line in metrics.split(separator: "\n") {
            guard let found = line.wholeMatch(of: #/pushfan_gateway_key_last_used_seconds\{key="([0-9a-z]+)"\} ([0-9]+)/#),
                let moment = Int64(found.2)
            else { continue }
            seconds[String(found.1)] = max(seconds[String(found.1)] ?? 0, moment)
        }
    }
}
