import Testing

@testable import Console
@testable import Replays

/// What `replay leftovers` says of requests that no run has come to.
@Suite struct LeftoversTests {
    @Test(
        arguments: [
            (nil, "the plan was not run so far", "`RUN` replays the 2 that are open"),
            (.interrupted, "the run was interrupted before it", "`RUN` goes on with the 2 that are open"),
            (.running, "its turn has not come yet", "the replay is running, and goes on with the 2 that are open"),
            (.paused, "its turn has not come yet", "the replay is paused, and goes on with the 2 that are open"),
            (.stopped, "the replay was stopped before it", "`REST` plans them as a new job"),
        ] as [(JobRecord.State?, String, String)])
    func aRequestThatIsOpenIsExplainedByItsJob(standing: JobRecord.State?, why: String, advice: String) {
        #expect(LeftoversCommand.explanation(ofOpen: standing) == why)
        #expect(LeftoversCommand.advice(standing, openCount: 2, run: "RUN", rest: "REST") == advice)
    }

    @Test(arguments: [nil, .interrupted, .running, .done, .stopped] as [JobRecord.State?])
    func whereNothingIsOpenTheRestIsPlannedAnew(standing: JobRecord.State?) {
        #expect(LeftoversCommand.advice(standing, openCount: 0, run: "RUN", rest: "REST") == "`REST` plans them as a new job")
    }
}
