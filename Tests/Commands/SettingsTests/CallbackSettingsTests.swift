import CallbackRecords
import Settings
import Testing

/// What the service of callbacks is told, and with which settings there is none.
@Suite struct CallbackSettingsTests {
    @Test func theServiceNeedsAFileOfReceivers() throws {
        let settings = try load()
        #expect(settings.callbacks.groupID == "pushfan-callbacks" && settings.callbacks.instance == "host-1")
        #expect(throws: SettingsError.self) { try settings.callbackConfiguration(version: "1") }
        do throws(SettingsError) {
            _ = try settings.receiversFile()
            Issue.record("there is no file")
        } catch {
            #expect(error.problems.map(\.key) == ["callbacks.receivers_file"])
        }
        let file = "callbacks: {receivers_file: /run/receivers.yaml, group_id: calls, instance: c-1}"
        let named = try load(file: file)
        #expect(try named.receiversFile() == "/run/receivers.yaml")
        #expect(named.callbacks.groupID == "calls" && named.callbacks.instance == "c-1")
        #expect(throws: Never.self) { try named.callbackConfiguration(version: "1") }
    }

    @Test func probesAreServedBesideThoseOfWorkerAndGateway() throws {
        #expect(try load().callbackProbes == "127.0.0.1:9466")
        #expect(try load(["PUSHFAN_LISTEN": "127.0.0.1:9464"]).callbackProbes == "127.0.0.1:9464")
    }

    @Test func topicsFollowThatOfTheRequestsUnlessTheyAreNamed() throws {
        let usual = try load().callbackTopics
        #expect(usual.results == "push.results.v1" && usual.states == "push.callbacks.v1")
        #expect(usual.deadLetters == "push.callbacks.deadletter.v1" && usual.replays == "push.callbacks.replay.v1")
        let others = try load(
            ["PUSHFAN_KAFKA_TOPICS_PREFIX": "app.", "PUSHFAN_KAFKA_TOPICS_CALLBACKS_REPLAY": "again"]
        ).callbackTopics
        #expect(others.states == "app.callbacks.v1" && others.replays == "again")
        #expect(problems(["PUSHFAN_KAFKA_TOPICS_CALLBACKS": "push.results.v1"]).contains { $0.contains("is the same topic as") })
    }
}
