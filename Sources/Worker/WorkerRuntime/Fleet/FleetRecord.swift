import Delivery
import PushModel

/// An announcement to the fleet as a record of the topic for shares: a JSON object that a person can read.
enum FleetRecord {
    /// The partition that all announcements are in, so that all workers read them in the same order.
    static let partition: Int32 = 0

    /// The record's key, by which a person finds a worker.
    static func key(hub: String, worker: String) -> [UInt8] { Array("\(hub)/\(worker)".utf8) }

    /// The record's value.
    static func value(of announcement: FleetShare.Announcement, hub: String, worker: String) -> [UInt8] {
        var text = ByteWriter()
        text.append("{\"schema_version\":1,\"kind\":\"share\",\"hub\":", json: hub)
        text.append(",\"worker\":", json: worker)
        // Text, because not every JSON reader keeps 64 bits of a number.
        text.append(",\"member\":\"")
        text.append(String(announcement.member, radix: 16))
        text.append("\",\"sequence\":", decimal: announcement.sequence)
        text.append(",\"seen\":", decimal: announcement.seen)
        text.append(",\"weight\":", decimal: announcement.claim.weight)
        text.append(",\"most\":", decimal: announcement.claim.most)
        if announcement.hasLeft { text.append(",\"left\":true") }
        text.append(UInt8(ascii: "}"))
        return text.bytes
    }

    /// Reads a record of the topic for shares. Nil for anything else than an announcement about `hub` that can be understood, as
    /// one of another version can not.
    static func announcement(in value: Span<UInt8>, using document: inout JSONDocument, hub: String) -> FleetShare.Announcement? {
        do { try document.read(value) } catch { return nil }
        let root = document.root
        guard let kind = document.member("kind", of: root), document.isEqual(document.text(of: kind), to: "share"),
            let name = document.member("hub", of: root), document.isEqual(document.text(of: name), to: hub),
            let member = document.member("member", of: root),
            let number = UInt64(document.string(document.text(of: member)), radix: 16)
        else { return nil }
        func integer(_ name: StaticString) -> Int64? { document.member(name, of: root).flatMap { document.integer(at: $0) } }
        // What another version writes may mean something else.
        guard integer("schema_version") == 1, let sequence = integer("sequence"), let seen = integer("seen"),
            let weight = integer("weight"), let most = integer("most")
        else { return nil }
        let claim = FleetShare.Claim(weight: Int(weight), most: Int(most))
        let hasLeft = document.isTrue("left", of: root)
        return FleetShare.Announcement(member: number, sequence: sequence, seen: seen, claim: claim, hasLeft: hasLeft)
    }
}
