/// The work of one job.
struct JobRun {
    /// Registrations that are read, and lines that are imported, at a time.
    private static let portion = 1000

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
        let lines = job.kind == .export ? (done: try export(), failed: "") : try importLines()
        job.status = .completed
        let folder = "\(server.terms.hubName)/\(job.id)/"
        job.outputName = folder + "Output.txt"
        try server.jobs.put("\(output)/\(folder)Output.txt", bytes: Array(lines.done.utf8))
        guard job.kind != .export else { return }
        job.failedName = folder + "Failed.txt"
        try server.jobs.put("\(output)/\(folder)Failed.txt", bytes: Array(lines.failed.utf8))
    }

    private func export() throws(RefusedCall) -> String {
        var (lines, cursor): (String, Int?) = ("", 0)
        while let place = cursor {
            let (page, next) = try server.devices.read { (book) throws(RefusedCall) in
                try book.page(of: .all, from: place, limit: Self.portion)
            }
            for registration in page { lines += RegistrationWriter.line(registration) + "\n" }
            cursor = next
        }
        return lines
    }

    private func importLines() throws(RefusedCall) -> (done: String, failed: String) {
        guard let input, let bytes = try server.jobs.file(input) else { throw .invalid("The import file cannot be read") }
        var lines = (done: "", failed: "")
        for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { $0 > 32 }) else { continue }
            do throws(RefusedCall) {
                lines.done += "\(index + 1),\(try perform(line: Array(line)))\n"
            } catch {
                guard error.answer.status < 500 else { throw error }
                lines.failed += "\(index + 1),\(error.answer.detail ?? "")\n"
            }
        }
        return lines
    }

    /// Imports one line, and returns the registration as it is then, or as it was.
    private func perform(line: [UInt8]) throws(RefusedCall) -> String {
        guard let description = Markup.read(line) else { throw .invalid("The line is not well-formed XML") }
        let id = job.kind == .create ? nil : description.value("RegistrationId")
        guard job.kind == .create || id != nil else { throw Self.noRegistration }
        let (newID, kind, now) = (server.identify { $0.registrationID() }, job.kind, job.createdAt)
        let read = kind == .delete ? nil : try RegistrationReader.read(description)
        let registration = try server.devices.change { (book) throws(RefusedCall) in
            var existing: Registration?
            if let id { existing = try book.registration(id) }
            if id != nil, existing == nil { throw Self.noRegistration }
            guard var registration = read else {
                guard let existing else { throw Self.noRegistration }
                try book.removeRegistration(existing.id)
                return existing
            }
            registration.id = existing?.id ?? newID
            registration.etag = (existing?.etag ?? 0) + 1
            registration.writtenAt = now
            try book.write(registration)
            return registration
        }
        if kind != .delete { server.tell(of: [registration]) }
        return RegistrationWriter.line(registration)
    }

    private static var noRegistration: RefusedCall {
        RefusedCall(404, detail: "The element RegistrationId is missing, or there is no such registration")
    }
}
