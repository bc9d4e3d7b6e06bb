@testable import PublishAPI
@testable import GatewayAPI
import DoorStage
import PushModel
import Testing
import TestSupport

/// Cancellations of single requests by keys that may cancel those of others.
@Suite struct OperateCancelTests {
    private static let operate = Asker(
        keyID: "k9", source: "office", tenant: nil, mayPublish: false, mayRead: false, mayOperate: true)
    private static let ofTenant = Asker(
        keyID: "k9", source: "office", tenant: "t4", mayPublish: false, mayRead: false, mayOperate: true)

    @Test func aRequestOfAnySourceIsCancelledAsItsOwn() {
        let stage = LookupStage()
        stage.publish("a")
        #expect(stage.cancel("a", by: LookupStage.stranger).all.map(\.status) == [404])
        #expect(stage.cancel("a", by: LookupStage.powerless).all.map(\.status) == [403])
        #expect(stage.cancelled.withLock { $0.isEmpty })
        #expect(stage.cancel("a", by: Self.operate, body: #"{"reason":"wrong text"}"#).all.map(\.status) == [202])
        #expect(
            stage.cancelled.withLock { $0 }
                == [CancelRecord(requestID: "a", scope: .init(source: "shop"), reason: "wrong text")])
    }

    @Test func aTenantsKeyCancelsNoneOfOthers() {
        let stage = LookupStage()
        stage.publish("a")
        #expect(stage.cancel("a", by: Self.ofTenant).all.map(\.status) == [404])
        #expect(stage.cancelled.withLock { $0.isEmpty })
    }

    @Test func whatIsNotRememberedIsSearched() throws {
        let stage = LookupStage()
        let result = try LookupResults.record("failed", of: "old")
        #expect(stage.cancel("old", by: Self.operate).all.map(\.status) == [404])
        stage.lives.withLock { $0 = [result] }
        #expect(stage.cancel("old", by: LookupStage.publisher).all.map(\.status) == [404], "that is for keys with the scope")
        #expect(stage.cancel("old", by: Self.operate).all.map(\.status) == [202])
        #expect(stage.cancelled.withLock { $0.map(\.requestID) } == ["old"])
    }

    @Test func whoeverCancelsReadsNothing() {
        let stage = LookupStage()
        stage.publish("a")
        #expect(stage.get("a", by: Self.operate).all.map(\.status) == [403])
    }
}
