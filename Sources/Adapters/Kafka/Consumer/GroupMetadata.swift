import CRDKafka

/// The place of a member in its group, with which the broker fences the offsets of a transaction.
///
/// A broker takes offsets with an empty member and generation −1 without any check, and librdkafka can hand out just that after a long stall;
/// such metadata is refused here. `@unchecked Sendable`: the object behind the pointer never changes, and the library copies it when used.
public final class GroupMetadata: @unchecked Sendable {
    /// The generation of the group, or nil if this version of the library writes metadata in a way unknown to us.
    public let generation: Int32?
    /// The name that the group gave the member.
    public let memberID: String

    let pointer: OpaquePointer

    convenience init(of client: ClientHandle) throws(KafkaError) {
        guard let pointer = rd_kafka_consumer_group_metadata(client.pointer) else {
            throw Self.notAMember("the consumer belongs to no group")
        }
        var memberID = ""
        if let text = rd_kafka_memberid(client.pointer) {
            memberID = String(cString: text)
            rd_kafka_mem_free(client.pointer, text)
        }
        try self.init(consuming: pointer, currentMemberID: memberID)
    }

    /// The metadata that moves the positions of a group that has no members. Brokers take it without a check: be sure that there
    /// are none.
    ///
    /// - Parameter group: The group's name.
    /// - Throws: A name that Kafka does not allow.
    public init(withoutMembers group: String) throws(KafkaError) {
        guard !group.isEmpty, !group.utf8.contains(0), let pointer = rd_kafka_consumer_group_metadata_new(group) else {
            throw .invalidArgument("the consumer group has no valid name")
        }
        self.pointer = pointer
        generation = -1
        memberID = ""
    }

    /// Takes over `pointer`, which is destroyed here in any case, and checks what it says. `currentMemberID` is the member's name
    /// by another way, for metadata in an unknown format. Throws an error that `requiresAbort` if the metadata would not be
    /// fenced.
    init(consuming pointer: OpaquePointer, currentMemberID: String) throws(KafkaError) {
        self.pointer = pointer
        let identity = Identity(serialized: Self.serialize(pointer).span)
        generation = identity?.generation
        memberID = identity?.memberID ?? currentMemberID
        if memberID.isEmpty { throw Self.notAMember("the group does not know this member") }
        if let generation, generation < 0 { throw Self.notAMember("the group gave this member up") }
    }

    deinit {
        rd_kafka_consumer_group_metadata_destroy(pointer)
    }

    private static func serialize(_ pointer: OpaquePointer) -> [UInt8] {
        var buffer: UnsafeMutableRawPointer?
        var size = 0
        guard KafkaError(consuming: rd_kafka_consumer_group_metadata_write(pointer, &buffer, &size)) == nil, let buffer else {
            return []
        }
        defer { rd_kafka_mem_free(nil, buffer) }
        return Array(UnsafeRawBufferPointer(start: buffer, count: size))
    }

    private static func notAMember(_ reason: String) -> KafkaError {
        KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, message: "offsets cannot be committed: \(reason)", requiresAbort: true)
    }
}

extension GroupMetadata {
    /// The content of serialised metadata, in librdkafka's private format (`rd_kafka_consumer_group_metadata_write`,
    /// rdkafka_cgrp.c): `CGMDv2:`, the generation as a native 32-bit integer, then group and member, each ended by a zero byte.
    struct Identity: Equatable {
        let generation: Int32
        let groupID: String
        let memberID: String

        /// Nil for a format that is not the known one.
        init?(serialized bytes: Span<UInt8>) {
            let magic: [UInt8] = Array("CGMDv2:".utf8)
            guard bytes.count >= magic.count + 4 else { return nil }
            for index in magic.indices where bytes[index] != magic[index] { return nil }
            var generation: UInt32 = 0
            // Native order, which is little-endian on every machine that Swift for Linux runs on.
            for index in 0..<4 { generation |= UInt32(bytes[magic.count + index]) << (8 * UInt32(index)) }
            self.generation = Int32(bitPattern: generation)
            var position = magic.count + 4
            guard let group = Self.text(in: bytes, from: &position), let member = Self.text(in: bytes, from: &position) else {
                return nil
            }
            groupID = group
            memberID = member
        }

        private static func text(in bytes: Span<UInt8>, from position: inout Int) -> String? {
            var text: [UInt8] = []
            while position < bytes.count {
                defer { position += 1 }
                if bytes[position] == 0 { return String(decoding: text, as: UTF8.self) }
                text.append(bytes[position])
            }
            return nil
        }
    }
}
