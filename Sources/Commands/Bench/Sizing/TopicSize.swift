import Delivery
import KafkaCare

/// The partitions of a topic, and its share of Kafka's disks.
struct TopicSize: Codable, Equatable {
    var topic: String
    var partitions: Int
    /// Bytes on the disks of all brokers, or nil where they cannot be known beforehand.
    var bytes: Double?
    /// The arithmetic, or the content of a topic that has none.
    var because: String
}

extension TopicSize {
    /// Bytes of a user's name in a part, with quotes and comma.
    private static let userBytes = 24.0
    /// Bytes of a result with its headers: those of every result, and those of each call.
    private static let resultBytes = (base: 1000.0, call: 250.0)

    /// The topics that `topics create` makes, for the demand of a sizing.
    static func all(_ sizing: Sizing) -> [TopicSize] {
        TopicRole.all(Topics()).map { role in
            let (bytes, because) = disk(of: role, for: sizing)
            return TopicSize(
                topic: role.name, partitions: role.partitionCount(sizing.partitions), bytes: bytes, because: because)
        }
    }

    private static func disk(of role: TopicRole, for sizing: Sizing) -> (bytes: Double?, because: String) {
        let demand = sizing.demand
        let copies = Double(demand.replication)
        if role.isPassing {
            let most = Double(role.mostBytes)
            return (most * copies, "at most \(SizeText.number(most / 0x1p20)) MiB × \(demand.replication)")
        }
        let days = demand.retentionDays ?? role.days.map(Double.init) ?? 0
        let requests = demand.requestsPerSecond * 86_400
        let parts = (sizing.largeRequest?.parts ?? 0) * demand.largeRequestsPerDay
        let rest = "× \(SizeText.number(days)) d × \(demand.replication)"
        let requestsText = "\(SizeText.number(requests)) requests a day × \(SizeText.number(demand.payloadBytes)) bytes \(rest)"
        switch role.role {
        case "requests":
            return (requests * demand.payloadBytes * days * copies, requestsText)
        case "delay-10s":
            return (
                demand.retries * requests * demand.payloadBytes * days * copies,
                "at most \(SizeText.percent(demand.retries)) of \(requestsText)"
            )
        case "requests-own" where parts > 0:
            let users = demand.users * demand.largeRequestsPerDay
            return (
                (users * userBytes + parts * demand.payloadBytes) * days * copies,
                "(\(SizeText.number(users)) users × \(SizeText.number(userBytes)) bytes + \(SizeText.number(parts)) parts × "
                    + "\(SizeText.number(demand.payloadBytes)) bytes) a day \(rest)"
            )
        case "results":
            let size = resultBytes.base + resultBytes.call * Double(demand.platforms)
            return (
                (requests + parts) * size * days * copies,
                "\(SizeText.number(requests + parts)) results a day × \(SizeText.number(size)) bytes \(rest), before lz4"
            )
        default: return (nil, content(of: role.role))
        }
    }

    /// The content of a topic whose size cannot be known beforehand.
    private static func content(of role: String) -> String {
        switch role {
        case "requests-high", "requests-bulk": "in push.requests.v1, as if all were there"
        case "requests-own": "replays, and parts of large requests"
        case "held": "requests that wait for their ordering keys"
        case "parents": "large requests until their parts have ended"
        case "deadletter": "records that cannot be read"
        case "handles": "dead handles"
        case "secure": "texts of secure push, for a day"
        case "control": "cancellations and orders"
        case "replays": "replays and how far they are"
        case "callbacks": "receivers that are paused or disabled"
        case "callbacks-deadletter": "results that a receiver did not take"
        case "callbacks-replay": "results that go to a receiver once more"
        default: "in push.delay-10s.v1, as if all were there"
        }
    }
}
