import PushModel
import Testing

/// The keys of the topic of parents.
struct ParentKeyTests {
    private static let origin = RecordOrigin(
        topic: "push.requests.v1", partition: 3, offset: 4711, timestamp: Timestamp(milliseconds: 0))

    @Test(
        arguments: [
            (ParentKey(of: origin), .parent, "push.requests.v1:3:4711"),
            (ParentKey(of: origin), .part(0), "push.requests.v1:3:4711/0"),
            (ParentKey(of: origin), .part(9999), "push.requests.v1:3:4711/9999"),
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

    @Test func theLongestPlaceFits() {
        let longest = RecordOrigin(
            topic: String(repeating: "t", count: 249), partition: .max, offset: .max, timestamp: Timestamp(milliseconds: 0))
        #expect(ParentKey(of: longest).text.utf8.count <= ParentKey.maximumByteCount)
    }

    @Test(arguments: [1, 2, 12, 97] as [Int32])
    func partitionsAreUsedEvenly(_ count: Int32) throws {
        var used = [Int](repeating: 0, count: Int(count))
        for offset in 0..<20_000 {
            let origin = RecordOrigin(
                topic: "push.requests.v1", partition: 0, offset: Int64(offset), timestamp: Timestamp(milliseconds: 0))
            let place = Int(ParentKey(of: origin).partition(of: count))
            try #require(used.indices.contains(place))
            used[place] += 1
        }
        let even = 20_000 / Int(count)
        #expect(used.allSatisfy { (even / 2...even * 2).contains($0) })
        #expect(ParentKey("x").partition(of: 0) == 0)
    }
}
