import PushModel
import Testing

/// The keys of the topic of parents.
struct ParentKeyTests {
    private static func key(
        _ id: String = "news", offset: Int64 = 4711, time: Int64 = 1_795_176_000_000, isDated: Bool = true
    ) -> ParentKey {
        let origin = RecordOrigin(
            topic: "push.requests.v1", partition: 3, offset: offset, timestamp: Timestamp(milliseconds: time), isDated: isDated)
        let id = Array(id.utf8)
        return ParentKey(of: origin, id: id.span)
    }

    private static let old = ParentKey("push.requests.v1:3:4711")

    @Test(
        arguments: [
            (key(), .parent, "push.requests.v1:3:4711:b8f8baf361a1f912"),
            (key(), .part(0), "push.requests.v1:3:4711:b8f8baf361a1f912/0"),
            (key(), .part(9999), "push.requests.v1:3:4711:b8f8baf361a1f912/9999"),
            (old, .parent, "push.requests.v1:3:4711"),
            (old, .part(12), "push.requests.v1:3:4711/12"),
            (ParentKey(fileID: "news-7"), .parent, ":file:news-7"),
            (ParentKey(fileID: "news-7"), .progress, ":file:news-7/progress"),
        ] as [(ParentKey, ParentKey.Role, String)])
    func aKeyIsReadAsItIsWritten(_ key: ParentKey, _ role: ParentKey.Role, _ text: String) throws {
        var bytes = ByteWriter()
        key.append(role, to: &bytes)
        #expect(bytes.text == text)
        let found = ParentKey.read(bytes.span)
        let read = try #require(found)
        #expect(read.parent == key && read.role == role)
    }

    @Test(arguments: ["", "a/", "a/-1", "a/x", "a/10000000", "a/1/2", String(repeating: "k", count: 400)])
    func whatNobodyWroteIsNoKey(_ text: String) {
        for bytes in [Array(text.utf8), [0xFF, 0x2F, 0x31]] {
            let found = ParentKey.read(bytes.span)
            #expect(found == nil)
        }
    }

    /// A topic may be made again, so that one place holds several requests one after another.
    @Test func aKeyIsThatOfARequestAndNotOfItsPlace() {
        let keys = [Self.key(), Self.key(time: 1_795_176_000_001), Self.key("other"), Self.key(isDated: false), Self.old]
        #expect(Set(keys).count == keys.count)
        #expect(Set(keys.map(\.digest)).count == keys.count)
        #expect(keys.allSatisfy { $0.isKey(at: "push.requests.v1:3:4711") && !$0.isKey(at: "push.requests.v1:3:471") })
        // The moment of its reading tells nothing: it is another one when it is read again.
        #expect(Self.key(time: 1, isDated: false) == Self.key(time: 2, isDated: false))
    }

    @Test func theLongestPlaceFits() {
        let longest = RecordOrigin(
            topic: String(repeating: "t", count: 249), partition: .max, offset: .max, timestamp: Timestamp(milliseconds: .max))
        let id = [UInt8](repeating: 0x61, count: 500)
        #expect(ParentKey(of: longest, id: id.span).text.utf8.count <= ParentKey.maximumByteCount)
    }

    @Test(arguments: [1, 2, 12, 97] as [Int32])
    func partitionsAreUsedEvenly(_ count: Int32) throws {
        var used = [Int](repeating: 0, count: Int(count))
        for offset in 0..<20_000 {
            let place = Int(Self.key(offset: Int64(offset)).partition(of: count))
            try #require(used.indices.contains(place))
            used[place] += 1
        }
        let even = 20_000 / Int(count)
        #expect(used.allSatisfy { (even / 2...even * 2).contains($0) })
        #expect(ParentKey("x").partition(of: 0) == 0)
    }
}
