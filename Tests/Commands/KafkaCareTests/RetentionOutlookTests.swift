import Groups
import Kafka
import Testing

@testable import KafkaCare

@Suite struct RetentionOutlookTests {
    private static let day: Int64 = 86_400_000
    private static let now: Int64 = 1_795_262_400_000

    private static func settings(policy: String? = "delete", retention: String? = "604800000") -> [TopicSetting] {
        [TopicSetting(name: "cleanup.policy", value: policy), TopicSetting(name: "retention.ms", value: retention)]
    }

    private static func outlook(age: Int64?, settings: [TopicSetting] = settings()) -> RetentionOutlook? {
        RetentionOutlook("t", settings: settings, oldest: age.map { now - $0 }, now: now)
    }

    private static let ages: [(age: Int64?, left: Int64, isShort: Bool, isUrgent: Bool)] = [
        (nil, 7 * day, false, false), (0, 7 * day, false, false), (-5 * day, 7 * day, false, false),
        (5 * day, 2 * day, false, false), (6 * day, day, true, false), (7 * day - day / 4, day / 4, true, true),
        (7 * day, 0, true, true), (30 * day, 0, true, true), (.max, 0, true, true),
    ]

    @Test(arguments: ages)
    func whatIsLeftIsTheRetentionWithoutTheAge(age: Int64?, left: Int64, isShort: Bool, isUrgent: Bool) {
        let outlook = Self.outlook(age: age)
        #expect(outlook?.kept == 7 * Self.day)
        #expect(outlook?.left == left)
        #expect(outlook?.isShort == isShort)
        #expect(outlook?.isUrgent == isUrgent)
    }

    private static let endless: [(policy: String?, retention: String?)] = [
        ("compact", "604800000"), ("delete", "-1"), ("delete", nil), ("delete", "soon"), (nil, "604800000"),
    ]

    @Test(arguments: endless)
    func aTopicThatDeletesNothingByAgeHasNone(policy: String?, retention: String?) {
        #expect(Self.outlook(age: Self.day, settings: Self.settings(policy: policy, retention: retention)) == nil)
    }

    @Test func aTopicThatIsCompactedAndDeletedHasOne() {
        #expect(Self.outlook(age: 0, settings: Self.settings(policy: "compact,delete"))?.left == 7 * Self.day)
    }

    private static let words: [(age: Int64, state: Finding.State?, text: String)] = [
        (2 * day, nil, ""), (6 * day, .warning, "brokers may delete its oldest request in 24 h: it keeps"),
        (7 * day - 3_600_000, .failed, "in 60 min 0 s: it keeps records for 168 h"),
    ]

    @Test(arguments: words)
    func doctorSaysThatItIsShort(age: Int64, state: Finding.State?, text: String) throws {
        var facts = GroupFacts(
            id: "pushfan", positions: .success([]), description: .success(.init(state: .stable, members: [])))
        facts.retention = [try #require(Self.outlook(age: age))]
        let found = GroupFindings.of(facts, tool: KafkaTool(brokers: "b:9092")).filter { $0.check == "topic" }
        #expect(found.map(\.state) == (state.map { [$0] } ?? []))
        #expect(found.allSatisfy { $0.subject == "t" && $0.text.contains(text) })
        #expect(found.allSatisfy { $0.remedy?.contains("--add-config retention.ms=1209600000") == true })
    }
}
