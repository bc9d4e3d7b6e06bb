import Kafka
import Testing

@testable import Console

@Suite struct VersionTests {
    @Test(arguments: [
        (Build(), "commit unknown"), (Build(commit: "0123456789abcdef0123"), "commit 0123456789ab"),
        (Build(commit: "0123abc", date: "2026-11-27"), "commit 0123abc of 2026-11-27"),
    ])
    func theVersionNamesCommitAndDate(build: Build, words: String) {
        let said = Harness(build: build).run("version")
        #expect(said.output == "pushfan \(Program.version) (\(words), librdkafka \(KafkaLibrary.version))\n")
    }

    @Test func asJSONTheCommitIsWhole() {
        let said = Harness(build: Build(commit: "0123456789abcdef0123", date: "2026-11-27")).run("version -o json")
        let facts = #"{"version":"\#(Program.version)","commit":"0123456789abcdef0123","date":"2026-11-27","#
        #expect(said.output == facts + #""librdkafka":"\#(KafkaLibrary.version)"}"# + "\n")
    }
}
