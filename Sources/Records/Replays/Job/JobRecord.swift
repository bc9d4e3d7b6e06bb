package import JobSupport
package import PushModel
package import Replay

/// The state of a job, as its runner last recorded it. A record of the replays topic under the job's id.
package struct JobRecord: Sendable, Equatable {
    /// The state of a job.
    package enum State: String, Sendable, CaseIterable {
        /// It has a runner, which is at work.
        case running
        /// It has a runner, which waits until it is resumed.
        case paused
        /// Its runner was interrupted. Running the plan again continues it.
        case interrupted
        /// An operator ended it for good.
        case stopped
        /// Everything in the plan was dealt with.
        case done
    }

    /// The job's id.
    package var jobID: String
    /// The state of the job.
    package var state: State
    /// The kind of records that are replayed.
    package var source = ReplayPlanHeader.Source.results
    /// The filter from which its plan was made.
    package var filter = ""
    /// The reason.
    package var reason = ""
    /// The user who replays.
    package var actor = ""
    /// The tenant that the user is bound to, or nil.
    package var tenant: String?
    /// The digest of its plan's file.
    package var planDigest = ""
    /// The new requests that the plan has.
    package var requests = 0
    /// The number of the next of them.
    package var next = 0
    /// The number of written requests.
    package var replayed = 0
    /// The number of skipped items.
    package var skipped = 0
    /// Requests a second.
    package var rate = 0.0
    /// The run that wrote this, by a name that no other has.
    package var runner = ""
    /// The time of the job's first run.
    package var startedAt = Timestamp(milliseconds: 0)
    /// The time at which this was written.
    package var updatedAt = Timestamp(milliseconds: 0)

    /// True where jobs of these tenants may have the same originals: they are of one tenant, or one of them is of all (nil).
    package static func mayOverlap(_ tenant: String?, with other: String?) -> Bool {
        tenant == nil || other == nil || tenant == other
    }

    /// Checks that a plan is the one that the job was begun with.
    package func requirePlan(_ digest: String) throws(JobFailure) {
        guard planDigest.isEmpty || planDigest == digest else {
            throw .room(ReplayFailure.otherPlan(job: jobID))
        }
    }

    /// As JSON.
    package var json: [UInt8] {
        JSONObject([
            "schema_version": 1, "kind": "job", "job_id": jobID, "state": state.rawValue, "filter": filter, "reason": reason,
            "actor": actor, "plan_digest": planDigest, "requests": requests, "next": next, "replayed": replayed,
            "skipped": skipped, "rate": Int(rate), "runner": runner, "started_at": startedAt.text, "updated_at": updatedAt.text,
            "tenant": tenant, "source": source == .results ? nil : source.rawValue,
        ]).bytes
    }

    /// Reads one.
    package init?(_ document: JSONDocument) {
        let root = document.root
        // Sums and differences of foreign numbers must not overflow.
        func number(_ name: StaticString) -> Int { Int(min(max(document.integer(name, of: root) ?? 0, 0), 1 << 53)) }
        func time(_ name: StaticString) -> Timestamp {
            document.text(name, of: root).flatMap { Timestamp(Array($0.utf8).span) } ?? Timestamp(milliseconds: 0)
        }
        guard let id = document.text("job_id", of: root),
            let state = document.text("state", of: root).flatMap(State.init(rawValue:))
        else { return nil }
        self.init(jobID: id, state: state)
        source = document.text("source", of: root).flatMap(ReplayPlanHeader.Source.init) ?? .results
        filter = document.text("filter", of: root) ?? ""
        reason = document.text("reason", of: root) ?? ""
        actor = document.text("actor", of: root) ?? ""
        tenant = document.text("tenant", of: root)
        planDigest = document.text("plan_digest", of: root) ?? ""
        requests = number("requests")
        next = number("next")
        replayed = number("replayed")
        skipped = number("skipped")
        rate = Double(number("rate"))
        runner = document.text("runner", of: root) ?? ""
        startedAt = time("started_at")
        updatedAt = time("updated_at")
    }

    /// A job of which nothing was written yet.
    package init(jobID: String, state: State) {
        self.jobID = jobID
        self.state = state
    }
}

/// The work of one transaction of a job. A record of the replays topic under a key of its own, so that none replaces another.
package struct JobBatch: Sendable {
    /// The job's id.
    package let jobID: String
    /// The number of its first item in the plan.
    package let first: Int
    /// The sends that were repeated.
    package private(set) var replayed: [(original: Original, sends: SendSet)] = []
    /// The skipped items.
    package private(set) var skipped: [(number: Int, reason: Leftover)] = []
    /// Bytes of the record so far.
    package private(set) var byteCount = 0

    /// An empty one.
    package init(jobID: String, first: Int) {
        self.jobID = jobID
        self.first = first
    }

    /// The items it has.
    package var count: Int { replayed.count + skipped.count }

    /// The number of the item behind it.
    package var next: Int { first + count }

    /// The record's key.
    package var key: String { "\(jobID):\(first)" }

    /// Notes an item that was repeated.
    package mutating func addReplayed(_ sends: SendSet, of original: Original) {
        replayed.append((original, sends))
        byteCount +=
            original.place.topic.utf8.count + (original.id?.utf8.count ?? 0) + 96 + (sends == .all ? 0 : sends.indices.count * 4)
    }

    /// Notes a skipped item.
    package mutating func addSkipped(_ number: Int, _ reason: Leftover) {
        skipped.append((number, reason))
        byteCount += 32
    }

    /// As JSON.
    package var json: [UInt8] {
        var object = JSONObject(["schema_version": 1, "kind": "batch", "job_id": jobID, "first": first, "next": next])
        object.add("replayed", array: replayed.map { Self.entry($0.original, $0.sends) })
        object.add("skipped", array: skipped.map { Array("[\($0.number),\"\($0.reason.rawValue)\"]".utf8) })
        return object.bytes
    }

    /// The place, the sends if it is not all of them, and what tells the request from another one at its place.
    private static func entry(_ original: Original, _ sends: SendSet) -> [UInt8] {
        let list = sends == .all ? "" : "," + sends.indices.map(String.init).joined(separator: ",")
        let place = "[\"\(original.place)\"\(list)"
        guard original.id != nil || original.publishedAt != nil else { return Array("\(place)]".utf8) }
        let mark = JSONObject(["request_id": original.id, "published_at": original.publishedAt?.text])
        return Array("\(place),".utf8) + mark.bytes + Array("]".utf8)
    }
}

/// The wish of an operator at another terminal for a job. A record of the replays topic.
package struct JobCommand: Sendable, Equatable {
    /// The kind of wish.
    package enum Kind: String, Sendable {
        case pause, resume, stop
    }

    /// The job.
    package var jobID: String
    /// The kind of wish.
    package var kind: Kind
    /// The user whose wish it is.
    package var actor: String

    /// The record's key: of the wishes for a job the newest counts.
    package var key: String { jobID + "/wish" }

    /// As JSON.
    package var json: [UInt8] {
        JSONObject(["schema_version": 1, "kind": "wish", "job_id": jobID, "wish": kind.rawValue, "actor": actor]).bytes
    }
}
