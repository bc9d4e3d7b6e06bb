import Testing

@testable import Replays

/// Jobs that may have the same originals, and so run one after the other.
struct JobOverlapTests {
    @Test(
        arguments: [("a", "a", true), ("a", "b", false), ("a", nil, true), (nil, "b", true), (nil, nil, true)]
            as [(String?, String?, Bool)])
    func jobsOfTwoTenantsHaveNoOriginalInCommon(tenant: String?, other: String?, mayOverlap: Bool) {
        #expect(JobRecord.mayOverlap(tenant, with: other) == mayOverlap)
    }
}
