import Basics
import Foundation
import GatewayAPI
import Replays

/// The files of plans in `gateway.state_dir`, under the names that the commands give them, so that a command can take one up, and the
/// gateway one that was put there.
struct PlanStore: Sendable {
    /// The days after which a plan is removed. The records of jobs stay as long.
    private static let days = 30

    private let folder: String

    /// The plans of a state folder, which is made where it is missing. Fails with the system's reason.
    init(_ folder: String) throws(GatewayFailure) {
        self.folder = folder
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .configuration("gateway.state_dir: '\(folder)' cannot be made or used")
        }
        guard access(folder, R_OK | W_OK | X_OK) == 0 else {
            throw .configuration("gateway.state_dir: '\(folder)' cannot be read and written")
        }
    }

    /// The path of the index of results.
    var indexPath: String { folder + "/results-index.sqlite" }

    /// The folder of the index of requests.
    var requestIndexPath: String { folder + "/requests-index" }

    /// The path of a plan, or nil for what cannot be an id.
    package func path(of id: String) -> String? {
        Self.isID(id) ? "\(folder)/replay-\(id).ndjson" : nil
    }

    /// True for a text that can be an id.
    static func isID(_ text: String) -> Bool {
        (8...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
    }

    /// The path of a plan that is there.
    func existingPath(of id: String) -> String? { path(of: id).flatMap { access($0, R_OK) == 0 ? $0 : nil } }

    /// Removes a plan, or finds it gone. Returns false where the system refuses it.
    func remove(_ id: String) -> Bool {
        path(of: id).map { unlink($0) == 0 || errno == ENOENT } ?? false
    }

    /// The ids of all plans, the newest first: ids sort by time.
    var ids: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            guard name.hasPrefix("replay-"), name.hasSuffix(".ndjson") else { return nil }
            let id = String(name.dropFirst("replay-".count).dropLast(".ndjson".count))
            return path(of: id) == nil ? nil : id
        }.sorted(by: >)
    }

    /// Removes plans until the others keep within their bounds: the oldest of whoever has most. What is at work stays. Returns what is
    /// removed, by id.
    func makeRoom(besides atWork: Set<String>, within limit: Int = KeptPlans.byteLimit) -> [String] {
        let plans = ids.compactMap { id -> KeptPlans.Plan? in
            guard let path = existingPath(of: id), let header = try? ReplayPlanReader(path).header else { return nil }
            let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int
            return KeptPlans.Plan(
                id: id, party: Party(tenant: header.tenant, source: header.actor), byteCount: size ?? 0)
        }
        let leaving = KeptPlans(plans: plans).leaving(besides: atWork, within: limit)
        for path in leaving.compactMap({ path(of: $0) }) { unlink(path) }
        return leaving
    }

    /// Removes what is older than the records of any job, and what an end without warning has left half written.
    func removeOld(now: Date = Date()) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix("replay-") {
            let path = "\(folder)/\(name)"
            let changed = (try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate]) as? Date ?? now
            let isHalf = name.hasSuffix(".part") || name.hasSuffix(".whole")
            if now.timeIntervalSince(changed) > Double((isHalf ? 1 : Self.days) * 86_400) { unlink(path) }
        }
    }
}
