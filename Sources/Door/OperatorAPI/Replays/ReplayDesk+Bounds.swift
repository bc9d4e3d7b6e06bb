import GatewayAPI
import JobSupport
import Replays

extension ReplayDesk {
    /// Removes plans until the others keep within their bounds. False where the new one is among them, which then is too large.
    func makeRoom(for id: String) -> Bool {
        guard let store, let jobs = try? states.current().jobs else { return true }
        let running = jobs.filter { $0.value.isAlive(at: context.now()) }.keys
        return !store.makeRoom(besides: runs.idsAtWork.union(running)).contains(id)
    }

    /// Checks that no other replay runs, in whichever process, that may have requests in common with one of a tenant, or of all.
    func requireNoOther(than id: String, of tenant: String?) throws(APIProblem) {
        let others = try APIProblem.catching { () throws(JobFailure) in try states.current() }.jobs.values.filter {
            $0.record.jobID != id && $0.record.state == .running && JobRecord.mayOverlap($0.record.tenant, with: tenant)
        }
        guard !others.contains(where: { $0.isAlive(at: context.now()) }) else { throw .otherReplayRuns }
    }
}
