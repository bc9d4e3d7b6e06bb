package import JobSupport
package import PushModel
package import Replay
package import ResultQuery

/// The first line of a plan's file: the job, the source and the totals.
package struct ReplayPlanHeader: Sendable, Equatable {
    /// The beginning of the file, with the version of the form.
    package static let kind = "pushfan.replay.plan"
    package static let version: Int64 = 1

    /// The kind of records that are replayed.
    package enum Source: String, Sendable, CaseIterable {
        /// Sends that failed, by their results.
        case results
        /// Records that could not be understood.
        case deadletter
    }

    /// The sends that are repeated.
    package enum Mode: String, Sendable, CaseIterable {
        /// Those that can have reached no device.
        case safe
        /// Those that may have reached some, too.
        case includeAmbiguous = "include_ambiguous"
    }

    /// The requests that are left out unless the planner's filter names them.
    package struct Exceptions: Sendable, Equatable {
        /// Requests that were cancelled.
        package var cancelled = false
        /// Requests that found no registered device.
        package var untargeted = false

        /// None is named.
        package init() {}

        /// The exceptions that a filter names, before any term is added to it.
        package init(of filter: ResultFilter) {
            cancelled =
                filter.names(.state, word: "cancelled")
                || ["cancelled", "hub_canceled"].contains { filter.names(.error, word: $0) || filter.names(.outcome, word: $0) }
            untargeted = filter.names(.error, word: "no_target") || filter.names(.outcome, word: "no_target")
        }
    }

    /// The job. Running the plan again continues the same one.
    package var jobID: String
    /// The kind of records that are replayed.
    package var source = Source.results
    /// The time at which the plan was made.
    package var createdAt: Timestamp
    /// The filter of the results.
    package var filter: String
    /// The reason, empty until one is given.
    package var reason = ""
    /// The user who replays.
    package var actor: String
    /// The tenant that the user is bound to, or nil for one who may replay the requests of all.
    package var tenant: String?
    /// Requests a second for a run that says nothing else.
    package var rate: Double?
    /// Sends of unknown outcome are repeated, too.
    package var includesAmbiguous = false
    /// The sends that are repeated.
    var mode: Mode { includesAmbiguous ? .includeAmbiguous : .safe }
    /// The requests that are repeated because the filter names them.
    package var exceptions = Exceptions()
    /// The expiry of the new requests.
    package var expiry: NewExpiry?
    /// The edits, as they were typed.
    package var edits: [String] = []
    /// The request that goes back in place of the plan's one dead letter, as a JSON object without line breaks.
    package internal(set) var replacement: [UInt8]?
    /// The offset up to which the jobs' records were read.
    package var jobsOffset: Int64 = 0
    /// The totals of the plan.
    package var counts = ReplayCounts()

    /// One line of JSON.
    package var json: [UInt8] {
        var object = JSONObject([
            "kind": Self.kind, "version": Int(Self.version), "job_id": jobID, "source": source.rawValue,
            "created_at": createdAt.text, "filter": filter, "reason": reason, "actor": actor,
            "include_ambiguous": includesAmbiguous, "include_cancelled": exceptions.cancelled,
            "include_no_target": exceptions.untargeted, "tenant": tenant, "rate": rate.map { Int($0) },
        ])
        switch expiry {
        case .life(let seconds): object.add("ttl_seconds", value: Int(seconds))
        case .moment(let moment): object.add("expires_at", value: moment.text)
        case nil: break
        }
        object.add("set", texts: edits)
        if let replacement { object.add("value", raw: replacement) }
        object.add("jobs_offset", value: String(jobsOffset))
        object.add("counts", raw: counts.json)
        return object.bytes
    }

    /// Reads the first line of a file.
    init(_ line: [UInt8], path: String) throws(JobFailure) {
        var document = JSONDocument()
        func text(_ name: StaticString) -> String? { document.text(name, of: document.root) }
        guard (try? document.read(line.span)) != nil, text("kind") == Self.kind, let jobID = text("job_id"),
            let time = text("created_at").flatMap({ Timestamp(Array($0.utf8).span) })
        else {
            throw .room(ReplayFailure.notAPlan(path: path))
        }
        guard document.integer("version", of: document.root) == Self.version else {
            throw .room(ReplayFailure.planOfOtherVersion(path: path))
        }
        self.jobID = jobID
        createdAt = time
        source = text("source").flatMap(Source.init) ?? .results
        filter = text("filter") ?? ""
        reason = text("reason") ?? ""
        actor = text("actor") ?? ""
        tenant = text("tenant")
        rate = document.integer("rate", of: document.root).flatMap { $0 > 0 ? Double(min($0, 1_000_000)) : nil }
        func isTrue(_ name: StaticString) -> Bool {
            document.member(name, of: document.root).map { document.kind(of: $0) == .true } ?? false
        }
        includesAmbiguous = isTrue("include_ambiguous")
        exceptions.cancelled = isTrue("include_cancelled")
        exceptions.untargeted = isTrue("include_no_target")
        if let seconds = document.integer("ttl_seconds", of: document.root) { expiry = .life(seconds: seconds) }
        if let moment = text("expires_at").flatMap({ Timestamp(Array($0.utf8).span) }) { expiry = .moment(moment) }
        if let list = document.member("set", of: document.root) {
            document.forEachElement(of: list) { edits.append(document.string(document.text(of: $0))) }
        }
        replacement = document.member("value", of: document.root).flatMap {
            guard document.kind(of: $0) == .object else { return nil }
            return document.span(document.text(of: $0)).withUnsafeBufferPointer { Array($0) }
        }
        jobsOffset = text("jobs_offset").flatMap { Int64($0) } ?? 0
        if let node = document.member("counts", of: document.root) {
            counts = ReplayCounts(document, node, includesAmbiguous: includesAmbiguous)
        }
    }

    /// True for a reason that says something.
    package var hasReason: Bool { !reason.allSatisfy(\.isWhitespace) }

    /// A header that is filled in as the plan is made.
    package init(jobID: String, createdAt: Timestamp, filter: String, actor: String) {
        self.jobID = jobID
        self.createdAt = createdAt
        self.filter = filter
        self.actor = actor
    }

    /// The manner in which the new requests are written.
    package func manner() throws(JobFailure) -> ReplayWriter.Manner {
        ReplayWriter.Manner(
            author: ReplayAuthor(jobID: jobID, actor: actor, reason: reason), edits: try RequestEdit.read(edits), expiry: expiry,
            tenant: tenant)
    }
}

extension RequestEdit {
    /// Reads edits as they were typed.
    ///
    /// - Throws: The first that is none.
    package static func read(_ texts: [String]) throws(JobFailure) -> [RequestEdit] {
        var read: [RequestEdit] = []
        for text in texts {
            do throws(Fault) {
                read.append(try RequestEdit(text))
            } catch {
                throw .room(ReplayFailure.edit(text, error))
            }
        }
        return read
    }
}
