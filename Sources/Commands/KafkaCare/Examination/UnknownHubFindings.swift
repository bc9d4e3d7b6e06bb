import Groups
import JobSupport
import PushModel

/// Findings about requests that wait for hubs that workers do not know.
enum UnknownHubFindings {
    /// The most hubs, and the most workers of one, that are named: the names of hubs come from publishers.
    private static let most = (hubs: 10, workers: 3)

    /// A finding for each hub, the one that most wait for first. Workers that have not reported of late say nothing of the present.
    static func of(_ workers: [Fleet.Member]) -> [Finding] {
        var waiting: [String: (count: Int, workers: [String])] = [:]
        for worker in workers where !worker.isStale {
            for (hub, count) in worker.page.loops.flatMap(\.unknownHubs) where count > 0 {
                let former = waiting[hub] ?? (0, [])
                let names = former.workers.contains(worker.id) ? former.workers : former.workers + [worker.id]
                waiting[hub] = (former.count.addingSaturated(count), names)
            }
        }
        let order = waiting.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        return order.prefix(most.hubs).map { hub, found in
            let names =
                found.workers.prefix(most.workers).joined(separator: ", ") + (found.workers.count > most.workers ? ", …" : "")
            return .warning(
                "hub", of: hub,
                text: Counted.text(found.count, "request waits", "requests wait")
                    + " for it, and the settings of \(names) lack it",
                mend: "add it to the settings of the workers and reload them, or name another hub in the requests")
        }
    }
}
