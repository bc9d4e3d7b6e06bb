import CRDKafka
import TestSupport
import Testing

@testable import Kafka

/// The library's private format of group metadata, and the metadata that must never be committed with.
@Suite(.tags(.threads, .c)) struct GroupMetadataTests {
    private static func serialized(_ generation: [UInt8], _ rest: String) -> [UInt8] {
        Array("CGMDv2:".utf8) + generation + Array(rest.utf8)
    }

    @Test func generationGroupAndMemberAreRead() {
        let bytes = Self.serialized([5, 1, 0, 0], "group\0member-1\0\u{1}")
        let identity = GroupMetadata.Identity(serialized: bytes.span)
        #expect(identity?.generation == 261)
        #expect(identity?.groupID == "group")
        #expect(identity?.memberID == "member-1")
    }

    @Test func aNegativeGenerationAndAnEmptyMemberAreRead() {
        let identity = GroupMetadata.Identity(serialized: Self.serialized([255, 255, 255, 255], "g\0\0").span)
        #expect(identity?.generation == -1)
        #expect(identity?.memberID == "")
    }

    @Test(arguments: [
        [], Array("CGMDv2:".utf8), Array("CGMDv3:".utf8) + [0, 0, 0, 0, 0, 0], serialized([0, 0, 0, 0], "group"),
        serialized([0, 0, 0, 0], "group\0member"),
    ])
    func whatIsCutOffOrOfAnotherVersionIsUnknown(bytes: [UInt8]) {
        #expect(GroupMetadata.Identity(serialized: bytes.span) == nil)
    }

    @Test func theInstalledLibraryWritesTheKnownFormat() throws {
        let pointer = try #require(rd_kafka_consumer_group_metadata_new_with_genid("group", 42, "member", "instance"))
        let metadata = try GroupMetadata(consuming: pointer, currentMemberID: "")
        #expect(metadata.generation == 42)
        #expect(metadata.memberID == "member")
    }

    @Test func metadataThatNoBrokerWouldFenceIsRefused() throws {
        let bare = try #require(rd_kafka_consumer_group_metadata_new("group"))
        #expect(throws: KafkaError.self) { try GroupMetadata(consuming: bare, currentMemberID: "") }
        let old = try #require(rd_kafka_consumer_group_metadata_new_with_genid("group", -1, "member", nil))
        #expect(throws: KafkaError.self) { try GroupMetadata(consuming: old, currentMemberID: "member") }
        let nameless = try #require(rd_kafka_consumer_group_metadata_new_with_genid("group", 3, "", nil))
        #expect(throws: KafkaError.self) { try GroupMetadata(consuming: nameless, currentMemberID: "") }
    }
}

/// What a failed login says, and what it must not say.
@Suite(.tags(.c)) struct DiagnosisTests {
    private func configuration(_ mechanism: String) -> KafkaConfiguration {
        KafkaConfiguration(
            bootstrapServers: "b:1",
            properties: [.init(key: "sasl.mechanism", value: mechanism), .init(key: "sasl.password", value: "hunter2")])
    }

    @Test(arguments: [
        ("SCRAM-SHA-512", 0x0200_02ff, true), ("scram-sha-256", 0x0206_00ff, true), ("SCRAM-SHA-512", 0x0206_01ff, false),
        ("PLAIN", 0x0200_02ff, false),
    ])
    func theHintIsForScramWithAnOldLibrary(mechanism: String, version: Int, isNeeded: Bool) {
        #expect(KafkaLibrary.needsScramHint(mechanism: mechanism, version: Int32(version)) == isNeeded)
    }

    @Test func aFailedScramLoginIsPutInPlainWords() {
        let failure = KafkaError(RD_KAFKA_RESP_ERR__AUTHENTICATION, message: "invalid credentials")
        let explained = Diagnosis(configuration("SCRAM-SHA-512")).explain(failure)
        #expect(explained.message.contains("Kafka 4") == !KafkaLibrary.supportsScramOnKafka4)
        #expect(Diagnosis(configuration("PLAIN")).explain(failure) == failure)
    }

    @Test func secretsAreBlottedOut() {
        let diagnosis = Diagnosis(configuration("PLAIN"))
        #expect(diagnosis.redact("user a, password hunter2, again hunter2") == "user a, password ***, again ***")
    }
}
