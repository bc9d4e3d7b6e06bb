import Testing

@testable import TestSupport

@Test func anEmptyVariableOfTestsCountsAsNone() {
    func value(_ environment: [String: String]) -> String? { TestVariables.value(of: "KAFKA", in: environment) }
    #expect(value(["PUSHFAN_TEST_KAFKA": "127.0.0.1:9092"]) == "127.0.0.1:9092")
    #expect(value(["PUSHFAN_TEST_KAFKA": ""]) == nil)
    #expect(value(["PUSHFAN_KAFKA": "127.0.0.1:9092"]) == nil)
}
