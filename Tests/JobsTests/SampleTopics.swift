import Delivery

@testable import Jobs

extension JobTopics {
    /// The names that settings give without any of their own.
    static let sample = JobTopics(
        requests: "push.requests.v1", requestsHigh: "push.requests-high.v1", requestsBulk: "push.requests-bulk.v1",
        requestsOwn: "push.requests-own.v1", delays: DelayLanes.names.map { "push.delay-\($0).v1" }, held: "push.held.v1",
        parents: "push.parents.v1", results: "push.results.v1", deadLetter: "push.deadletter.v1", control: "push.control.v1",
        handles: "push.handles.v1", shares: "push.shares.v1", secure: "push.secure.v1", replays: "push.replays.v1")
}
