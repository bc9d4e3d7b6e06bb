package import HTTPServing

extension HubServer {
    /// `POST /jobs`. The answer says that the work has begun.
    func submitJob(_ call: HubCall) -> HubReply {
        answering { () throws(RefusedCall) in
            let id = identify { $0.trackingID() }
            let job = try HubJob.read(call.request.body, id: id, at: call.moment.milliseconds)
            let host = call.request.headers["Host"]
            let output = JobStorage.path(of: job.outputContainer, host: host)
            let input = job.importFile.flatMap { JobStorage.path(of: $0, host: host) }
            try jobs.keep(job)
            jobs.run { [self] in JobRun(job, output: output, input: input, server: self).perform() }
            var answer = answer(job, to: call, status: 201)
            answer.headers.append("Location", value: call.link("jobs/" + id))
            return answer
        }
    }

    /// `GET /jobs/{id}`.
    func getJob(_ call: HubCall, id: String) -> HubReply {
        answering { () throws(RefusedCall) in
            guard let job = try jobs.job(id) else { throw RefusedCall(404, detail: "The job does not exist") }
            return answer(job, to: call, status: 200)
        }
    }

    /// `GET /jobs`.
    func listJobs(_ call: HubCall) -> HubReply {
        answering { () throws(RefusedCall) in
            .body(
                200, bytes: JobWriter(call: call).feed(try jobs.jobs()),
                contentType: "application/atom+xml; type=feed; charset=utf-8")
        }
    }

    /// Answers for the storage account of jobs.
    package func storage(_ request: HTTPServerRequest, path: String) -> HTTPServerResponse {
        do throws(RefusedCall) {
            switch request.method {
            case "PUT":
                let draft = try jobs.draft(path)
                try draft.append(request.body)
                try draft.finish()
                return HTTPServerResponse(status: 201)
            case "DELETE":
                try jobs.removeFile(path)
                return HTTPServerResponse(status: 202)
            default:
                guard let file = try jobs.file(path) else { return Self.noBlob(404) }
                return try content(of: file, for: request)
            }
        } catch {
            return Self.noBlob(error.answer.status)
        }
    }

    /// A file, or its requested part, of which a long one is cut (RFC 9110, section 15.3.7). A file that is too long for one answer is
    /// asked for in parts: the answer says how long it is.
    private func content(of file: any JobFile, for request: HTTPServerRequest) throws(RefusedCall) -> HTTPServerResponse {
        let length = file.byteCount
        guard length > jobs.answerByteCount else { return Self.content(try file.bytes(from: 0, count: length), for: request) }
        let range = request.headers["Range"].flatMap { $0.hasPrefix("bytes=") ? $0.dropFirst("bytes=".count) : nil }
        let words = range?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard let start = words.first.flatMap({ Int($0) }), start >= 0, start < length else {
            return HTTPServerResponse(status: 416, headers: ["Content-Range": "bytes */\(length)"])
        }
        let last = words.count == 2 ? Int(words[1]) ?? .max : .max
        guard last >= start else { return HTTPServerResponse(status: 416, headers: ["Content-Range": "bytes */\(length)"]) }
        let part = try file.bytes(from: start, count: min(last - start, jobs.answerByteCount - 1) + 1)
        return HTTPServerResponse(
            status: 206,
            headers: [
                "Content-Type": "application/octet-stream",
                "Content-Range": "bytes \(start)-\(start + part.count - 1)/\(length)",
            ], body: part)
    }

    private func answer(_ job: HubJob, to call: HubCall, status: Int) -> HubReply {
        .body(
            status, bytes: JobWriter(call: call).entry(job), contentType: "application/atom+xml; type=entry; charset=utf-8")
    }
}
