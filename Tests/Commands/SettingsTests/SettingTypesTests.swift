import Observability
import Testing

@testable import Settings

@Suite struct SettingTypesTests {
    private func read<Value>(_ type: SettingType<Value>, _ text: String) -> Result<Value, SettingFault> {
        do throws(SettingFault) { return .success(try type.read(.text(text))) } catch { return .failure(error) }
    }

    private func value<Value>(_ type: SettingType<Value>, _ text: String) -> Value? { try? read(type, text).get() }

    private func fault<Value>(_ type: SettingType<Value>, _ text: String) -> String? {
        if case .failure(let fault) = read(type, text) { fault.message } else { nil }
    }

    /// What is legal is taken as it is written. Anything else has its fault.
    private func expect(_ text: String, as type: SettingType<String>, fault: String?) {
        #expect(value(type, text) == (fault == nil ? text : nil))
        #expect(self.fault(type, text) == fault)
    }

    static let integers: [(String, Int?, String?)] = [
        ("1", 1, nil), ("64", 64, nil), ("-5", -5, nil), ("65", nil, "is out of range"), ("-6", nil, "is out of range"),
        ("99999999999999999999", nil, "is out of range"), ("+5", nil, "is not a whole number"),
        ("0x10", nil, "is not a whole number"),
        ("1e1", nil, "is not a whole number"), (" 1", nil, "is not a whole number"), ("-", nil, "is not a whole number"),
        ("", nil, "is empty"), ("1\n", nil, "contains a line break or another control character"),
    ]

    @Test(arguments: integers) func integerIsDigitsWithinItsRange(_ text: String, _ number: Int?, _ message: String?) {
        #expect(value(.integer(-5...64), text) == number)
        #expect(fault(SettingType.integer(-5...64), text) == message)
    }

    @Test(arguments: [
        ("2", 2.0), ("1.5", 1.5), ("10", 10), ("0.9", nil), ("nan", nil), ("inf", nil), ("1e1", nil), ("1.2.3", nil),
    ])
    func decimalHasNoExponent(_ text: String, _ number: Double?) {
        #expect(value(.decimal(1...10), text) == number)
    }

    @Test(arguments: [("true", true), ("false", false), ("yes", nil), ("1", nil), ("True", nil), ("", nil)])
    func booleanIsSpelledOut(_ text: String, _ truth: Bool?) {
        #expect(value(.boolean, text) == truth)
    }

    static let addresses: [(String, String?)] = [
        ("127.0.0.1:9464", "127.0.0.1:9464"), ("localhost:0", "localhost:0"), ("[::1]:80", "[::1]:80"),
        ("a_b-c.d:65535", "a_b-c.d:65535"),
        ("localhost", nil), (":80", nil), ("::1:80", nil), ("host:", nil), ("host:65536", nil), ("host:-1", nil),
        ("ho st:1", nil),
        ("host:80a", nil), ("http://host:80", nil), ("[]:80", nil), ("host:000080", nil), ("", nil),
    ]

    @Test(arguments: addresses) func addressIsHostAndPort(_ text: String, _ shown: String?) {
        #expect(ListenAddress(text)?.description == shown)
    }

    static let brokers: [(String, [String]?, String?)] = [
        ("a:9092", ["a:9092"], nil), ("a:1,b:2", ["a:1", "b:2"], nil), ("a:1, b:2", ["a:1", "b:2"], nil),
        ("PLAINTEXT://a:9092", ["PLAINTEXT://a:9092"], nil), ("[::1]:9092", ["[::1]:9092"], nil), ("", nil, "is empty"),
        ("a:1,", nil, "is empty"), ("a b:1", nil, "has a blank in it"), ("a:x", nil, "is not host:port"),
        ("a:", nil, "is not host:port"), (":1", nil, "is not host:port"), ("a/b:1", nil, "is not host:port"),
        ("a", nil, "has no port"), ("SSL://a", nil, "has no port"), ("[::1]", nil, "has no port"),
        ("a:0", nil, "has a port that is not from 1 to 65535"), ("a:65536", nil, "has a port that is not from 1 to 65535"),
        ("a:99999999999999999999", nil, "has a port that is not from 1 to 65535"),
        ("a:1,b", nil, "has \"b\", which has no port"), ("a:1,b c:2", nil, "has \"b c:2\", which has a blank in it"),
        ("a:1,a:1", nil, "names \"a:1\" twice"),
    ]

    @Test(arguments: brokers) func brokersAreAddresses(_ text: String, _ brokers: [String]?, _ message: String?) {
        #expect(value(.list(of: .broker), text) == brokers)
        #expect(fault(SettingType.list(of: .broker), text) == message)
    }

    @Test(
        arguments: [
            ("push.requests.v1", nil), ("a_b-C", nil), (String(repeating: "a", count: 249), nil),
            (".", "is not a legal name"), ("..", "is not a legal name"), ("a b", "is not a legal name"),
            ("a/b", "is not a legal name"), ("ä", "is not a legal name"), (String(repeating: "a", count: 250), "is too long"),
        ] as [(String, String?)])
    func nameIsWhatKafkaTakes(_ text: String, _ message: String?) {
        expect(text, as: .name("a topic", atMost: 249), fault: message)
    }

    @Test(
        arguments: [
            ("username:{user}", nil), ("$UserId:{{user}}", nil), ("{user}", nil),
            (String(repeating: "a", count: 94) + "{user}", nil), ("username:", "does not contain {user} once"),
            ("{user}{user}", "does not contain {user} once"), ("a b{user}", "contains a character that no tag may have"),
            (String(repeating: "a", count: 95) + "{user}", "is too long"),
        ] as [(String, String?)])
    func userTagHoldsTheUserOnce(_ text: String, _ message: String?) {
        expect(text, as: .userTag, fault: message)
    }

    static let properties: [(String, [String: String]?)] = [
        ("security.protocol=SASL_SSL,sasl.mechanisms=PLAIN", ["security.protocol": "SASL_SSL", "sasl.mechanisms": "PLAIN"]),
        ("a=1\nb=2\r\n\n c = 3 ", ["a": "1", "b": "2", "c": "3"]),
        ("debug=broker,topic,a=b", ["debug": "broker,topic", "a": "b"]),
        ("sasl.password=a=b,c", ["sasl.password": "a=b,c"]), ("a=", ["a": ""]), ("a=1,", ["a": "1"]),
        ("a", nil), ("a=1\nb", nil), ("=1", nil), ("a=1,a=2", nil), ("a b=1", nil), ("a=\0", nil),
    ]

    @Test(arguments: properties) func propertiesAreSplitAtCommasAndLines(_ text: String, _ pairs: [String: String]?) {
        let read = value(.properties, text)
        #expect(read.map { Dictionary($0.map { ($0.name, $0.value.secret) }, uniquingKeysWith: { "\($0), \($1)" }) } == pairs)
    }

    static let tenantWeights: [(String, [String: Int]?)] = [
        ("acme=3", ["acme": 3]), (" a = 1 ,b=1000", ["a": 1, "b": 1000]), ("a.b-c_9=2\nd=4", ["a.b-c_9": 2, "d": 4]),
        ("acme", nil), ("a=0", nil), ("a=1001", nil), ("a=x", nil), ("a=1,2", nil), ("a=1,a=2", nil), ("=1", nil),
        ("Acme=1", nil),
        ("-a=1", nil), (String(repeating: "a", count: 64) + "=1", nil),
        ((0...1000).map { "t\($0)=1" }.joined(separator: ","), nil),
    ]

    @Test(arguments: tenantWeights) func tenantsHaveWeightsByName(_ text: String, _ weights: [String: Int]?) {
        let read = value(.tenantWeights, text)
        #expect(read.map { Dictionary($0.map { ($0.tenant, $0.weight) }, uniquingKeysWith: { _, _ in 0 }) } == weights)
    }

    @Test func platformsTakeTheServicesNamesToo() {
        let type = SettingType.list(of: .word(HubSettings.platformWords))
        #expect(value(type, "apns, fcm,wns,gcm") == ["apple", "fcmv1", "windows", "gcm"])
        #expect(fault(type, "apple,apns") == "names \"apns\" twice")
        #expect(fault(type, "nokia") == "is none of the words")
    }

    @Test(arguments: [("2020-06", true), ("2016-12", true), ("2020-13", false), ("2020-6", false), ("2020-06&x", false)])
    func apiVersionIsAMonth(_ text: String, _ isMonth: Bool) {
        expect(text, as: .month, fault: isMonth ? nil : "is not a month")
    }
}
