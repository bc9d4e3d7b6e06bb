package import HTTPServing

extension HubServer {
    /// `POST /jobs`. The answer says that the work has begun.
    func submitJob(_ call: HubCall) -> HubAnswer {
        answering { () throws(RefusedCall) in
            let id = identify { $0.trackingID() }
            let job = try HubJob.read(call.request.body, id: id, at: call.moment.milliseconds)
            let host = call.request.headers["Host"]
            let output = jobs.path(of: job.outputContainer, host: host)
            let input = job.importFile.flatMap { jobs.path(of: $0, host: host) }
            try jobs.keep(job)
            jobs.run { [self] in JobRun(job, output: output, input: input, server: self).perform() }
            var answer = answer(job, to: call, status: 201)
            answer.headers.append("Location", value: call.link("jobs/" + id))
            return answer
        }
    }

    /// `GET /jobs/{id}`.
    func getJob(_ call: HubCall, id: String) -> HubAnswer {
        answering { () throws(RefusedCall) in
            guard let job = try jobs.job(id) else { throw RefusedCall(404, detail: "The job does not exist") }
            return answer(job, to: call, status: 200)
        }
    }

    /// `GET /jobs`.
    func listJobs(_ call: HubCall) -> HubAnswer {
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
                try jobs.put(path, bytes: request.body)
                return HTTPServerResponse(status: 201)
            case "DELETE":
                try jobs.removeFile(path)
                return HTTPServerResponse(status: 202)
            default:
                return try jobs.file(path).map { Self.content($0, for: request) } ?? Self.noBlob(404)
            }
        } catch {
            return Self.noBlob(error.answer.status)
        }
    }

    private func answer(_ job: HubJob, to call: HubCall, status: Int) -> HubAnswer {
        .body(
            status, bytes: JobWriter(call: call).entry(job), contentType: "application/atom+xml; type=entry; charset=utf-8")
    }
}
