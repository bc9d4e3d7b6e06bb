/// The work of one job.
struct JobRun {
    /// Registrations that are read at a time.
    private static let pageCount = 500
    /// Bytes of a file that are read at a time.
    private static let pieceByteCount = 64 << 10

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
        try? server.jobs.keep(run.job)
    }

    private mutating func work() throws(RefusedCall) {
        guard let output, !output.isEmpty else { throw .invalid("The output container cannot be written") }
        let folder = "\(server.terms.hubName)/\(job.id)/"
        let done = try server.jobs.draft("\(output)/\(folder)Output.txt")
        if job.kind == .export {
            try export(to: done)
        } else {
            let failed = try server.jobs.draft("\(output)/\(folder)Failed.txt")
            try importLines(done: done, failed: failed)
            try failed.finish()
            job.failedName = folder + "Failed.txt"
        }
        try done.finish()
        job.outputName = folder + "Output.txt"
        job.status = .completed
    }

    private func export(to file: any JobFileDraft) throws(RefusedCall) {
        var cursor: Int? = 0
        while let place = cursor {
            try server.jobs.checkRunning()
            let (page, next) = try server.devices.read { (book) throws(RefusedCall) in
                try book.page(of: .all, from: place, limit: Self.pageCount)
            }
            try file.append(page.flatMap { Array((RegistrationWriter.line($0) + "\n").utf8) })
            cursor = next
        }
    }

    private func importLines(done: any JobFileDraft, failed: any JobFileDraft) throws(RefusedCall) {
        guard let input, let file = try server.jobs.file(input) else { throw .invalid("The import file cannot be read") }
        let reader = RegistrationImport(job.kind, at: job.createdAt)
        var (lines, place) = (JobLines(), 0)
        var waiting: [RegistrationImport.Line] = []
        var isOver = false
        while !isOver {
            let piece = try file.bytes(from: place, count: Self.pieceByteCount)
            place += piece.count
            isOver = piece.isEmpty
            waiting += (isOver ? lines.finish() : lines.cut(piece)).map(reader.read)
            while let portion = RegistrationImport.takePortion(of: &waiting, isOver: isOver) {
                try perform(portion, by: reader, done: done, failed: failed)
            }
        }
    }

    /// Imports some lines in one change, and notes what became of each.
    private func perform(
        _ lines: [RegistrationImport.Line], by reader: RegistrationImport, done: any JobFileDraft, failed: any JobFileDraft
    ) throws(RefusedCall) {
        try server.jobs.checkRunning()
        let outcomes = try server.devices.change { [server] (book) throws(RefusedCall) in
            try reader.perform(lines, on: book, makeID: { server.identify { $0.registrationID() } })
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
