@testable import OperatorAPI
@testable import PublishAPI
@testable import Page
@testable import GatewayAPI
import HTTPServing
import TestSupport
import Testing

@testable import Gateway

/// The bytes of answers that clients do not take.
@Suite struct AnswerUpkeepTests {
    private static func address(of answer: APIAnswer) -> UnsafePointer<UInt8>? {
        answer.response.body.withUnsafeBufferPointer { $0.baseAddress }
    }

    @Test func theDescriptionIsThereOnceForAllAnswers() {
        let (first, second) = (APIDescription.answer(to: [:]), APIDescription.answer(to: [:]))
        #expect(first.response.upkeep == .shared && first.body.count > 16 << 10)
        #expect(Self.address(of: first) == Self.address(of: second))
    }

    @Test(arguments: [[:], ["Accept-Encoding": "gzip"]] as [HTTPFields])
    func aPageFileIsThereOnceForAllAnswers(headers: HTTPFields) throws {
        let stage = try PageStage([])
        let page = try WebPage(stage.sessions, version: "0.1.0", proxies: TrustedProxies())
        let call = HTTPServerRequest(method: "GET", target: "/ui/main.js", headers: headers)
        let (first, second) = (
            page.answer(.giveFile, file: "main.js", to: call), page.answer(.giveFile, file: "main.js", to: call)
        )
        #expect(first.status == 200 && first.response.upkeep == .shared)
        #expect(Self.address(of: first.onPage()) == Self.address(of: second.onPage()))
    }

    /// The answers that cannot be asked for again.
    @Test(arguments: [
        (APIOperation.Operate.listRequests, HTTPServerResponse.Upkeep.counted), (.searchRequests, .counted),
        (.searchFailures, .counted), (.listDeadLetters, .counted), (.cancelScope, .owed),
        (.planReplay, .owed), (.runReplay, .owed), (.showStatus, .counted),
    ])
    func whatWasDoneIsToldInAnyCase(operation: APIOperation.Operate, upkeep: HTTPServerResponse.Upkeep) {
        #expect(operation.upkeep == upkeep)
    }

    @Test func whatBecameOfABatchIsToldInAnyCase() {
        var verdicts = BatchVerdicts(count: 1)
        verdicts.note(.refused(.ackUnknown("r")), at: 0)
        #expect(verdicts.answer.response.upkeep == .owed)
    }
}
