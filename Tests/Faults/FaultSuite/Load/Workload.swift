import FaultOracle
import PushModel

/// What is published in one scenario: how much, how fast, and of what kinds.
struct Workload: Sendable {
    /// Records in all.
    var count: Int
    /// Records per second; nil for as fast as Kafka takes them.
    var rate: Int?
    /// One of so many is flawed and must be rejected; 0 for none.
    var flawedEvery = 29
    /// One of so many is no request at all; 0 for none.
    var unreadableEvery = 37
    /// One of so many goes to two platforms; 0 for none.
    var twofoldEvery = 11
    /// One of so many asks for another try after an ambiguous call; 0 for none.
    var retryEvery = 3
    /// One of so many has no id and is named by its place; 0 for none.
    var namelessEvery = 13
    /// Bytes of text in each message.
    var textByteCount = 40
    /// Every request asks for another try after an ambiguous call.
    var alwaysRetries = false
    /// Bytes of flawed requests, and of some unreadable records, beyond their usual ones.
    var ballastByteCount = 0
    /// Bytes of text in a member that the contract does not know, in each sound request.
    var fillerByteCount = 0
    /// Bytes of a list of small numbers in such a member.
    var valuesByteCount = 0
    /// How long a request is of use.
    var timeToLive: Int?
    /// One of so many is not to be sent before a moment of its own; 0 for none.
    var waitEvery = 0
    /// One of so many goes to many users, and is sent in parts; 0 for none.
    var largeEvery = 0
    /// The users of each of those.
    var usersOfLarge = 300
    /// Bytes that each of them repeats in all of its parts.
    var ballastOfLarge = 0
    /// When its publishing begins, milliseconds since 1970.
    var beginning: Int64 = 0
    /// One of so many is a request that was published a little before; 0 for none.
    var repeatEvery = 0
    /// Every other request has one of so many ordering keys, each in a partition of `keyPartitions`; 0 for none.
    var keys = 0
    var keyPartitions = 6
    /// One of so many is for the hub `Workload.secondHub`; 0 for none.
    var secondHubEvery = 0
    /// Records in each transaction of the publisher, which aborts every other one; 0 for no transactions.
    var transactionSize = 0

    /// A workload of nothing but sound requests for one platform.
    static func plain(_ count: Int, rate: Int?) -> Workload {
        var workload = Workload(count, rate: rate)
        (workload.flawedEvery, workload.unreadableEvery, workload.twofoldEvery) = (0, 0, 0)
        (workload.retryEvery, workload.namelessEvery) = (0, 0)
        return workload
    }

    init(_ count: Int, rate: Int?) {
        self.count = count
        self.rate = rate
    }

    /// Before when the request of a number must not be sent, milliseconds since 1970: 11 to 20 s after it is published.
    func moment(of number: Int) -> Int64? {
        guard waitEvery > 0, number % waitEvery == waitEvery - 1 else { return nil }
        return due(number) + 11_000 + Int64(number % 7) * 1500
    }

    /// When the record of a number is published at the earliest, milliseconds since 1970.
    func due(_ number: Int) -> Int64 { beginning + Int64(number * 1000 / (rate ?? 1000)) }

    /// Whether the record of a number is neither flawed nor unreadable.
    func isSound(_ number: Int) -> Bool { !isNth(number, flawedEvery) && !isNth(number, unreadableEvery) }

    /// The ordering key of the request of a number; nil for none.
    func key(of number: Int) -> Int? { keys > 0 && number % 2 == 0 ? number / 2 % keys : nil }

    /// The second hub's name in requests.
    static let secondHub = "second"

    /// Whether the request of a number is for the second hub.
    func isForSecondHub(_ number: Int) -> Bool { isNth(number, secondHubEvery) }

    /// One record by its number: the same for the same number and seed.
    struct Record {
        /// Where it goes; nil for where its key says.
        var partition: Int32?
        let key: [UInt8]?
        let value: [UInt8]
    }

    /// The number of the request that the record of a number repeats, between 1 and some 400 before it; nil for one of its own.
    private func original(of number: Int) -> Int? {
        guard repeatEvery > 0, isNth(number, repeatEvery) else { return nil }
        let distance = [1, 20, 100, 400][number / repeatEvery % 4]
        return (max(0, number - distance - 20)...max(0, number - distance)).last { candidate in
            let kinds = [repeatEvery, unreadableEvery, flawedEvery, namelessEvery]
            return kinds.allSatisfy { !isNth(candidate, $0) } && candidate < number
        }
    }

    /// Whether a number is the last one of `count`.
    private func isNth(_ number: Int, _ count: Int) -> Bool { count > 0 && number % count == count - 1 }

    /// The record of a number.
    func record(_ number: Int, using generator: inout SeededGenerator) -> Record {
        if largeEvery > 0 && number % largeEvery == largeEvery - 1 {
            return Record(key: Array("l\(number)".utf8), value: Array(large(number).utf8))
        }
        let number = original(of: number) ?? number
        if unreadableEvery > 0 && number % unreadableEvery == unreadableEvery - 1 { return unreadable(number, using: &generator) }
        let isFlawed = flawedEvery > 0 && number % flawedEvery == flawedEvery - 1
        return Record(
            partition: key(of: number).map { Int32($0 % keyPartitions) }, key: Array("\(isFlawed ? "x" : "u")\(number)".utf8),
            value: Array(request(number, isFlawed).utf8))
    }

    private func request(_ number: Int, _ isFlawed: Bool) -> String {
        let isNameless = namelessEvery > 0 && number % namelessEvery == namelessEvery - 1
        let isTwofold = twofoldEvery > 0 && number % twofoldEvery == twofoldEvery - 1
        let retries = alwaysRetries || (retryEvery > 0 && number % retryEvery == retryEvery - 1)
        let audience = isFlawed ? "{\"tag_expression\":\"username:u\(number) && (\"}" : "{\"users\":[\"u\(number)\"]}"
        return "{" + (isNameless ? "" : "\"id\":\"r\(number)\",") + "\"audience\":\(audience),"
            + "\"platforms\":[\(isTwofold ? "\"apple\",\"fcmv1\"" : "\"apple\"")],"
            + "\"message\":{\"title\":\"\(number)\",\"body\":\"\(String(repeating: "m", count: textByteCount))\"}"
            + (retries ? ",\"options\":{\"on_ambiguous\":\"retry\"}" : "")
            + (moment(of: number).map { ",\"not_before\":\"\(Self.text($0))\"" } ?? "")
            + (key(of: number).map { ",\"ordering_key\":\"k\($0)\"" } ?? "")
            + (isForSecondHub(number) ? ",\"hub\":\"\(Self.secondHub)\"" : "")
            + (timeToLive.map { ",\"ttl_seconds\":\($0)" } ?? "")
            + (isFlawed ? "" : unknownMembers)
            + (isFlawed && ballastByteCount > 0 ? ",\"ballast\":\"\(String(repeating: "b", count: ballastByteCount))\"" : "")
            + "}"
    }

    /// Members that make a request large and mean nothing to a worker.
    private var unknownMembers: String {
        var members = ""
        if fillerByteCount > 0 { members += ",\"filler\":\"\(String(repeating: "f", count: fillerByteCount))\"" }
        if valuesByteCount > 0 { members += ",\"x\":[0\(String(repeating: ",0", count: valuesByteCount / 2))]" }
        return members
    }

    /// A request for so many users that it is sent in parts, on all platforms.
    private func large(_ number: Int) -> String {
        let users = (0..<usersOfLarge).map { "\"l\(number)-\($0)\"" }.joined(separator: ",")
        // A payload that is used on no platform.
        let ballast = String(repeating: "b", count: ballastOfLarge)
        let payloads = ballast.isEmpty ? "" : ",\"payloads\":{\"baidu\":{\"body\":\"\(ballast)\"}}"
        return "{\"id\":\"l\(number)\",\"audience\":{\"users\":[\(users)]},\"message\":{\"title\":\"\(number)\"},"
            + "\"platforms\":[\"apple\",\"fcmv1\",\"windows\"],\"options\":{\"on_ambiguous\":\"retry\"}\(payloads)}"
    }

    private static func text(_ moment: Int64) -> String {
        var text = ByteWriter()
        text.append(Timestamp(milliseconds: moment))
        return text.text
    }

    /// Bytes that are no request, each of another kind; some without a key, some without a value.
    private func unreadable(_ number: Int, using generator: inout SeededGenerator) -> Record {
        let kind = number / max(unreadableEvery, 1) % 5
        let key = kind == 1 ? nil : Array("p\(number)".utf8)
        switch kind {
        case 0: return Record(key: key, value: Array("{\"id\":\"p\(number)\",".utf8))
        case 1: return Record(key: nil, value: Array("no JSON \(number)".utf8))
        case 2: return Record(key: key, value: Array("[\(number)]".utf8))
        case 3:
            return Record(
                key: key,
                value: (0..<200 + min(ballastByteCount, Self.readableByteCount)).map { _ in
                    UInt8.random(in: 128...255, using: &generator)
                })
        default: return Record(key: key, value: [])
        }
    }

    /// Bytes of a record that is still read; larger ones are rejected unread, so they are no unreadable records.
    private static let readableByteCount = 500_000

    /// A request that no worker may ever see, because its transaction is aborted.
    static func decoy(_ number: Int) -> Record {
        let user = 1_000_000_000 + number
        let value = "{\"id\":\"r\(user)\",\"audience\":{\"users\":[\"u\(user)\"]},\"message\":{\"body\":\"never\"}}"
        return Record(key: Array("u\(user)".utf8), value: Array(value.utf8))
    }

    /// What a record of the topic is, by its key and value alone.
    static func content(key: [UInt8]?, value: [UInt8]?) -> InputFact.Content {
        let name = key.map { String(decoding: $0, as: UTF8.self) } ?? ""
        if let user = FactReader.number(in: name, after: "u") { return .request(user: user, isFlawed: false) }
        if let user = FactReader.number(in: name, after: "x") { return .request(user: user, isFlawed: true) }
        if let number = FactReader.number(in: name, after: "l") { return .large(number: number) }
        return .unreadable(digest: Digest.ofRecord(key: key, value: value))
    }
}
