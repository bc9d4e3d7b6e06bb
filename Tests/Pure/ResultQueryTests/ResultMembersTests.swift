import PushModel
import TestSupport
import Testing

@testable import ResultQuery

/// One walk finds what a search for each member finds.
@Suite struct ResultMembersTests {
    private static func texts(_ nodes: [JSONDocument.Node?], in document: JSONDocument) -> [String?] {
        nodes.map { $0.map { "\(document.kind(of: $0)) \(document.string(document.text(of: $0)))" } }
    }

    @Test(arguments: 0..<8) func everyMemberIsThatOfASearch(seed: Int) {
        var random = RandomResults(seed: seed)
        var result = ResultMembers()
        var document = JSONDocument()
        var foundCount = 0
        for value in random.records(500).compactMap(\.value) {
            let isResult = document.readResult(value.span)
            let isRead = result.read(value.span)
            #expect(isRead == isResult, "\(String(decoding: value, as: UTF8.self))")
            guard isResult else { continue }
            let members = ResultMember.allCases
            let searched = members.map { document.member($0.name, of: document.root) }
            let found = members.map { result.value(of: $0) }
            #expect(Self.texts(found, in: result.document) == Self.texts(searched, in: document))
            foundCount += found.count { $0 != nil }
        }
        #expect(foundCount > 2000)
    }

    /// Indices keep parts and look for them by their bytes, so these stay what they were when parts were written by searches.
    @Test func partsAndValuesStayAsTheyWere() {
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ bytes: [UInt8]) { for byte in bytes + [0xFF] { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 } }
        var result = ResultMembers()
        for seed in 0..<20 {
            var random = RandomResults(seed: seed)
            for value in random.records(1000).compactMap(\.value) where result.read(value.span) {
                for facet in ResultFacet.allCases {
                    var part = ByteWriter()
                    facet.write(of: result, to: &part)
                    add(part.bytes)
                }
                for index in ResultField.singular.indices {
                    let value = result.value(ofSingular: index).map { result.document.string(result.document.text(of: $0)) }
                    add(Array((value ?? "").utf8))
                }
            }
        }
        #expect(digest == 0x548c_9264_1239_45d1)
    }

    @Test(
        arguments: [
            (#"{"request_id":"a","origin":{"offset":"17"}}"#, 17),
            (#"{"request_id":"a","origin":{"offset":"-1","offset":"2"}}"#, -1),
            (#"{"request_id":"a","origin":{"offset":17}}"#, nil), (#"{"request_id":"a","origin":[]}"#, nil),
            (#"{"request_id":"a","origin":{},"origin":{"offset":"1"}}"#, nil), (#"{"request_id":"a"}"#, nil),
            (#"{"request_id":"a","\u006frigin":{"offs\u0065t":"9223372036854775807"}}"#, Int64.max),
        ] as [(String, Int64?)])
    func theOffsetIsThatOfTheFirstOrigin(json: String, offset: Int64?) throws {
        #expect(try #require(Records.members(json)).originOffset == offset)
    }

    @Test(arguments: [
        "", "nonsense", "[]", "7", "{}", #"{"request_id":7}"#, #"{"request_id":7,"request_id":"a"}"#, #"{"request_id":"a","#,
    ])
    func whatIsNoResultIsNone(json: String) {
        #expect(Records.members(json) == nil)
        #expect(Records.read(json) == nil)
    }

    @Test func nothingIsLeftOfTheResultBefore() throws {
        var members = try #require(Records.members(Records.partial))
        let isRead = members.read(Array(Records.least.utf8).span)
        #expect(isRead)
        #expect(ResultMember.allCases.filter { members.value(of: $0) != nil } == [.request])
        let isResult = members.read(Array("[]".utf8).span)
        #expect(!isResult)
        #expect(ResultMember.allCases.allSatisfy { members.value(of: $0) == nil })
    }
}
