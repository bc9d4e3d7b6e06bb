import Console
import TestSupport
import Testing

/// The commands on topics that ask no broker: no address here answers.
@Suite struct TopicsCommandTests {
    private static func run(_ line: String, _ environment: [String: String] = [:]) -> Outcome {
        var harness = Harness()
        harness.environment = environment.merging(["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]) { mine, _ in mine }
        return harness.run(line.split(separator: " ").map(String.init))
    }

    @Test func theTopicsArePrintedAsTheyWouldBeCreated() {
        let outcome = Self.run(
            "topics create --dry-run --partitions 6 -o ndjson", ["PUSHFAN_KAFKA_TOPICS_PREFIX": "app."])
        #expect(outcome.code == .done && outcome.lines.count == 22, "\(outcome)")
        #expect(
            outcome.lines.contains(
                #"{"topic":"app.held.v1","role":"held","partitions":18,"replication":3,"settings":{"cleanup.policy":"delete","#
                    + #""retention.ms":"604800000","min.insync.replicas":"2"}}"#), "\(outcome.output)")
        let single = Self.run("topics create --dry-run --replication 1")
        #expect(single.code == .done && !single.output.contains("min.insync.replicas"))
    }

    @Test func theRightsOfARoleFollowTheSettings() {
        let outcome = Self.run("topics acls --role worker -o ndjson --group shop --kafka.topics.prefix app.")
        #expect(outcome.code == .done)
        for line in [
            #"{"resource":"topic","name":"app.held.v1","pattern":"literal","operations":["Read","Write","DescribeConfigs"]}"#,
            #"{"resource":"group","name":"shop","pattern":"literal","operations":["Read"]}"#,
            #"{"resource":"transactional-id","name":"shop:","pattern":"prefixed","operations":["Write"]}"#,
        ] {
            #expect(outcome.lines.contains(Substring(line)), "\(outcome.output)")
        }
        #expect(!Self.run("topics acls --role worker --kafka.delivery_guarantee at_least_once").output.contains("transactional"))
        #expect(!Self.run("topics acls --role gateway").output.contains("transactional"))
        #expect(
            Self.run("topics acls --role gateway --gateway.state_dir /s").output.contains("--transactional-id pushfan-replay- "))
    }

    @Test func callbacksUseTheGroupOfTheSettingsAndThoseOfReceivers() {
        let outcome = Self.run("topics acls --role callbacks -o ndjson --callbacks.group_id calls --kafka.topics.prefix app.")
        for line in [
            #"{"resource":"topic","name":"app.callbacks.v1","pattern":"literal","operations":["Read","Write"]}"#,
            #"{"resource":"topic","name":"app.callbacks.deadletter.v1","pattern":"literal","operations":["Write"]}"#,
            #"{"resource":"group","name":"calls","pattern":"literal","operations":["Read"]}"#,
            #"{"resource":"group","name":"pushfan-callback-","pattern":"prefixed","operations":["Read"]}"#,
            #"{"resource":"transactional-id","name":"calls-","pattern":"prefixed","operations":["Write"]}"#,
        ] {
            #expect(outcome.lines.contains(Substring(line)), "\(outcome.output)")
        }
        #expect(!outcome.output.contains("app.requests") && !outcome.output.contains("app.control"))
    }

    @Test func aPublisherHasFurtherRightsOnRequest() {
        #expect(Self.run("topics acls --role publisher").lines.count == 1)
        let more = Self.run("topics acls --role publisher --with wait --with cancel --principal User:shop").output
        #expect(
            more.contains("User:shop --operation Read --topic push.results.v1 --topic push.status.v1\n")
                && more.contains("--topic push.control.v1\n"))
        #expect(Self.run("topics acls --role reader --with wait").code == .usage)
        let nobody = Self.run("topics acls")
        #expect(nobody.code == .usage && nobody.messages.contains("replayer    pushfan replay, failed"), "\(nobody.messages)")
    }
}
