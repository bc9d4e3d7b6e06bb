import HTTPServing
import WebFiles

/// The web page: its files, which anybody may read.
struct WebPage: Sendable {
    private let files: [String: WebFile]

    /// Makes the files, which takes some milliseconds.
    init() throws(GatewayFailure) {
        do throws(WebFileFailure) {
            files = Dictionary(uniqueKeysWithValues: try WebFile.all().map { ($0.name, $0) })
        } catch {
            throw GatewayFailure.system("the files of the page: \(error)")
        }
    }

    /// Answers a call.
    func answer(_ route: PageRoute, to request: HTTPServerRequest) -> APIAnswer {
        switch route {
        case .index: file("index.html", to: request)
        case .folder: Self.redirect(request)
        case .file(let name): file(name, to: request)
        }
    }

    /// Gives a file, or 304 to whoever has it.
    private func file(_ name: String, to request: HTTPServerRequest) -> APIAnswer {
        guard let file = files[name] else { return APIAnswer(APIProblem.noRoute(near: nil)) }
        let isPacked = request.headers.admitsGzip
        let form = isPacked ? file.packed : file.plain
        var answer = APIAnswer(
            status: 200, headers: ["ETag": form.entityTag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"])
        guard !EntityTag.isNamed(form.entityTag, in: request.headers) else {
            answer.status = 304
            return answer
        }
        answer.headers.append("Content-Type", value: file.mediaType)
        if isPacked { answer.headers.append("Content-Encoding", value: "gzip") }
        answer.body = form.bytes
        return answer
    }

    /// 308 to the page, which keeps the query.
    private static func redirect(_ request: HTTPServerRequest) -> APIAnswer {
        let query = request.rawQuery
        return APIAnswer(status: 308, headers: ["Location": query.isEmpty ? "/ui" : "/ui?\(query)"])
    }
}

extension HTTPFields {
    /// True if an answer may be packed with gzip (RFC 9110, section 12.5.3).
    var admitsGzip: Bool {
        var weights: [String: Bool] = [:]
        for field in all where field.name.equalsIgnoringCase("Accept-Encoding") {
            for member in field.value.split(separator: ",") {
                let parts = member.filter { $0 != " " && $0 != "\t" }.lowercased().split(separator: ";")
                guard let coding = parts.first else { continue }
                weights[String(coding)] = !parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) ?? 0 == 0 }
            }
        }
        return weights["gzip"] ?? weights["*"] ?? false
    }
}
