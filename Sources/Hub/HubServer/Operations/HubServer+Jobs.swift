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
            let isTaken = try jobs.submit(job) { [self] in
                JobRun(job, output: output, input: input, server: self).perform()
            }
            guard isTaken else { throw RefusedCall.throttled(call, detail: "Too many jobs wait") }
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
                return try Self.content(for: request, length: file.byteCount, limit: jobs.answerByteCount) {
                    (range) throws(RefusedCall) in try file.bytes(from: range.lowerBound, count: range.count)
                }
            }
        } catch {
            return Self.noBlob(error.answer.status)
        }
    }

    private func answer(_ job: HubJob, to call: HubCall, status: Int) -> HubReply {
        .body(
            status, bytes: JobWriter(call: call).entry(job), contentType: "application/atom+xml; type=entry; charset=utf-8")
    }
}
