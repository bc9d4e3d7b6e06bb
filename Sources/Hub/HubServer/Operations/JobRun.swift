/// The work of one job.
struct JobRun {
    /// Registrations that are read at a time.
    private static let pageCount = 500
    /// Bytes of a file that are read at a time.
    private static let pieceByteCount = 64 << 10
    /// The most attempts of a part of the work that the store does not answer.
    private static let mostRetries = 300

    private var job: HubJob
    private let output: String?
    private let input: String?
    private let server: HubServer

    /// Work that has not begun. A path is nil if it is not in the hub's storage account.
    init(_ job: HubJob, output: String?, input: String?, server: HubServer) {
        (self.job, self.output, self.input, self.server) = (job, output, input, server)
    }

    /// Does the work and keeps its end.
    func perform() {
        var run = self
        do throws(RefusedCall) {
            try run.work()
        } catch {
            (run.job.status, run.job.failure) = (.failed, error.answer.detail ?? "The store does not answer")
        }
        // Without its end the job would seem to go on. The next start ends those that have none.
        try? retry(atMost: .max) { [job = run.job] () throws(RefusedCall) in try server.jobs.keep(job) }
    }

    private mutating func work() throws(RefusedCall) {
        guard let output, !output.isEmpty else { throw .invalid("The output container cannot be written") }
        let folder = "\(server.terms.hubName)/\(job.id)/"
        let source = job.kind == .export ? nil : try importFile()
        let done = try retry { () throws(RefusedCall) in try server.jobs.draft("\(output)/\(folder)Output.txt") }
        guard let source else {
            try export(to: done)
            try finish(done)
            job.outputName = folder + "Output.txt"
            job.status = .completed
            return
        }
        let failed = try retry { () throws(RefusedCall) in try server.jobs.draft("\(output)/\(folder)Failed.txt") }
        var fault: RefusedCall?
        do throws(RefusedCall) { try importLines(of: source, done: done, failed: failed) } catch { fault = error }
        // Lines that were done stay so: also whoever imports the rest needs to know them.
        do throws(RefusedCall) {
            try finish(done)
            job.outputName = folder + "Output.txt"
            try finish(failed)
            job.failedName = folder + "Failed.txt"
        } catch {
            throw fault ?? error
        }
        if let fault { throw fault }
        job.status = .completed
    }

    private func finish(_ file: any JobFileDraft) throws(RefusedCall) {
        try retry { () throws(RefusedCall) in try file.finish() }
    }

    /// Carries out `body`, again and again while the store does not answer.
    private func retry<Result>(
        atMost limit: Int = Self.mostRetries, body: () throws(RefusedCall) -> Result
    ) throws(RefusedCall) -> Result {
        var count = 0
        while true {
            do throws(RefusedCall) { return try body() } catch {
                guard error.answer.status == 503, count < limit else { throw error }
                count += 1
                try server.jobs.waitToRetry()
            }
        }
    }

    private func export(to file: any JobFileDraft) throws(RefusedCall) {
        var cursor: Int? = 0
        while let place = cursor {
            try server.jobs.checkRunning()
            let (page, next) = try retry { () throws(RefusedCall) in
                try server.devices.read { (book) throws(RefusedCall) in
                    try book.page(of: .all, from: place, limit: Self.pageCount)
                }
            }
            try file.append(page.flatMap { Array((RegistrationWriter.line($0) + "\n").utf8) })
            cursor = next
        }
    }

    private func importFile() throws(RefusedCall) -> any JobFile {
        guard let input else { throw .invalid("The import file cannot be read") }
        let found = try retry { () throws(RefusedCall) in try server.jobs.file(input) }
        guard let found else { throw .invalid("The import file cannot be read") }
        return found
    }

    private func importLines(
        of file: any JobFile, done: any JobFileDraft, failed: any JobFileDraft
    ) throws(RefusedCall) {
        let reader = RegistrationImport(job.kind, at: job.createdAt)
        var (portions, place, isOver) = (ImportPortions(for: reader), 0, false)
        while !isOver {
            let piece = try file.bytes(from: place, count: Self.pieceByteCount)
            place += piece.count
            isOver = piece.isEmpty
            for lines in portions.cut(piece) { try perform(lines, by: reader, done: done, failed: failed) }
        }
    }

    /// Imports some lines in one change, and notes what became of each.
    private func perform(
        _ lines: [RegistrationImport.Line], by reader: RegistrationImport, done: any JobFileDraft, failed: any JobFileDraft
    ) throws(RefusedCall) {
        try server.jobs.checkRunning()
        let seed = server.identify { $0.next() }
        let outcomes = try retry { () throws(RefusedCall) in
            try server.devices.change { (book) throws(RefusedCall) in
                // A change that seemed to fail may be kept: the same ids write the same registrations again.
                var identifiers = HubIdentifiers(seed: seed)
                return try reader.perform(lines, on: book, makeID: { identifiers.registrationID() })
            }
        }
        var texts = (done: "", failed: "")
        for outcome in outcomes {
            switch outcome.result {
            case .success(let registration):
                texts.done += "\(outcome.number),\(RegistrationWriter.line(registration))\n"
                if job.kind != .delete { server.announce([registration]) }
            case .failure(let fault): texts.failed += "\(outcome.number),\(fault.answer.detail ?? "")\n"
            }
        }
        try done.append(Array(texts.done.utf8))
        try failed.append(Array(texts.failed.utf8))
    }
}
