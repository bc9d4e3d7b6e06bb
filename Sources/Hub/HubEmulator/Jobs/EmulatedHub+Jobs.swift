import Basics
import HTTPServing
import Synchronization

extension EmulatedHub {
    /// The emulator's own storage account, in which jobs find their files.
    static let storagePath = "/storage/"

    /// `POST /jobs`. The work is done at once, and the answer says that it has begun, as the service's does.
    func submitJob(_ call: HubCall) -> EmulatedAnswer {
        return answering { () throws(RefusedCall) in
            let id = state.withLock { $0.identifiers.trackingID() }
            let job = try HubJob.read(call.request.body, id: id, at: call.moment.milliseconds)
            let output = Self.storagePath(of: job.outputContainer, for: call.request)
            let input = job.importFile.map { Self.storagePath(of: $0, for: call.request) }
            state.withLock { $0.perform(job, output: output, input: input ?? nil, hubName: configuration.hubName) }
            var answer = answer(job, to: call, status: 201)
            answer.headers.append("Location", value: call.link("jobs/" + id))
            return answer
        }
    }

    /// `GET /jobs/{id}`.
    func getJob(_ call: HubCall, id: String) -> EmulatedAnswer {
        guard let job = state.withLock({ $0.bulk.jobs.first { $0.id == id } }) else {
            return .error(404, detail: "The job does not exist")
        }
        return answer(job, to: call, status: 200)
    }

    /// `GET /jobs`.
    func listJobs(_ call: HubCall) -> EmulatedAnswer {
        let jobs = state.withLock { $0.bulk.jobs }
        return .body(
            200, bytes: JobWriter(call: call).feed(jobs), contentType: "application/atom+xml; type=feed; charset=utf-8")
    }

    /// Answers for the storage account of jobs.
    func storage(_ request: HTTPServerRequest, path: String) -> HTTPServerResponse {
        switch request.method {
        case "PUT":
            state.withLock { $0.bulk.put(path, bytes: request.body) }
            return HTTPServerResponse(status: 201)
        case "DELETE":
            state.withLock { $0.bulk.remove(path) }
            return HTTPServerResponse(status: 202)
        default:
            return state.withLock { $0.bulk.blobs[path] }.map { Self.content($0, for: request) } ?? Self.noBlob(404)
        }
    }

    private func answer(_ job: HubJob, to call: HubCall, status: Int) -> EmulatedAnswer {
        .body(
            status, bytes: JobWriter(call: call).entry(job), contentType: "application/atom+xml; type=entry; charset=utf-8")
    }

    /// The path in the own storage account that a URI names, or `nil` if it is elsewhere.
    private static func storagePath(of uri: String, for request: HTTPServerRequest) -> String? {
        guard let start = uri.firstRange(of: "://")?.upperBound, let host = request.headers["Host"] else { return nil }
        let rest = uri[start...].prefix { $0 != "?" && $0 != "#" }
        guard String(rest.prefix(host.count)).equalsIgnoringCase(host) else { return nil }
        let path = PercentEncoding.decoded(String(rest.dropFirst(host.count)))
        guard path.hasPrefix(storagePath) else { return nil }
        let name = path.dropFirst(storagePath.count)
        return name.last == "/" ? String(name.dropLast()) : String(name)
    }
}

extension HubState {
    /// Does a job's work and keeps it. A path is `nil` if it is not in the own storage account.
    mutating func perform(_ job: HubJob, output: String?, input: String?, hubName: String) {
        var job = job
        defer { bulk.append(job) }
        job.status = .failed
        guard let output, !output.isEmpty else {
            job.failure = "The output container cannot be written"
            return
        }
        var lines = (done: "", failed: "")
        if job.kind == .export {
            for registration in registrations.all { lines.done += RegistrationWriter.line(registration) + "\n" }
        } else {
            guard let bytes = input.flatMap({ bulk.blobs[$0] }) else {
                job.failure = "The import file cannot be read"
                return
            }
            for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
                guard line.contains(where: { $0 > 32 }) else { continue }
                do throws(RefusedCall) {
                    lines.done += "\(index + 1),\(try perform(job, line: Array(line)))\n"
                } catch {
                    lines.failed += "\(index + 1),\(error.answer.detail ?? "")\n"
                }
            }
        }
        job.status = .completed
        let folder = "\(hubName)/\(job.id)/"
        job.outputName = folder + "Output.txt"
        bulk.put("\(output)/\(folder)Output.txt", bytes: Array(lines.done.utf8))
        guard job.kind != .export else { return }
        job.failedName = folder + "Failed.txt"
        bulk.put("\(output)/\(folder)Failed.txt", bytes: Array(lines.failed.utf8))
    }

    /// Imports one line, and returns the registration as it is then, or as it was.
    private mutating func perform(_ job: HubJob, line: [UInt8]) throws(RefusedCall) -> String {
        guard let description = Markup.read(line) else { throw .invalid("The line is not well-formed XML") }
        var existing: Registration?
        if job.kind != .create {
            existing = description.value("RegistrationId").flatMap { registrations[$0] }
            guard existing != nil else {
                throw RefusedCall(404, detail: "The element RegistrationId is missing, or there is no such registration")
            }
        }
        if job.kind == .delete, let existing {
            registrations.remove(existing.id)
            return RegistrationWriter.line(existing)
        }
        var registration = try RegistrationReader.read(description)
        registration.id = existing?.id ?? identifiers.registrationID()
        registration.etag = (existing?.etag ?? 0) + 1
        registration.writtenAt = job.createdAt
        write(registration)
        return RegistrationWriter.line(registration)
    }
}
