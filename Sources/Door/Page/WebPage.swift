package import GatewayAPI
package import HTTPServing
import WebFiles

/// The web page: its files, which anybody may read, and the sessions of those who have signed in.
package struct WebPage: Sendable {
    package let sessions: SessionKeeper
    /// The program's version.
    let version: String
    /// The name of the environment, or nil for none.
    let title: String?
    /// Those who are believed about the scheme and the address of a call.
    package let proxies: TrustedProxies
    private let files: [String: WebFile]

    /// Makes the page of a configuration, or nil where none is served.
    package static func make(
        _ configuration: GatewayConfiguration, keys: (any SessionKeys)?, services: GatewayServices
    ) throws(GatewayFailure) -> WebPage? {
        guard configuration.servesPage else { return nil }
        guard let keys else {
            throw GatewayFailure.configuration("gateway.ui: the page needs keys, and gateway.keys_file is not set")
        }
        let proxies = try TrustedProxies(configuration.trustedProxies)
        return try WebPage(
            SessionKeeper(keys, services: services), version: configuration.version, title: configuration.title,
            proxies: proxies)
    }

    /// Makes the files, which takes some milliseconds.
    init(_ sessions: SessionKeeper, version: String, title: String? = nil, proxies: TrustedProxies) throws(GatewayFailure) {
        self.sessions = sessions
        self.version = version
        self.title = title
        self.proxies = proxies
        do {
            files = Dictionary(uniqueKeysWithValues: try WebFile.all().map { ($0.name, $0) })
        } catch {
            throw GatewayFailure.system("the files of the page: \(error)")
        }
    }

    /// True for the paths of the page, whether or not something is there.
    package static func has(_ path: Substring) -> Bool { path == "/ui" || path.hasPrefix("/ui/") }

    /// Answers a call.
    package func answer(_ operation: APIOperation.Page, file name: String, to request: HTTPServerRequest) -> APIAnswer {
        do throws(APIProblem) {
            switch operation {
            case .showPage: return file("index.html", to: request)
            case .leadToPage: return Self.redirect(request)
            case .giveFile: return file(name, to: request)
            case .beginSession, .showSession, .endSession: return try answer(session: operation, to: request)
            }
        } catch {
            return APIAnswer(error)
        }
    }

    /// Gives a file, or 304 to whoever has it.
    private func file(_ name: String, to request: HTTPServerRequest) -> APIAnswer {
        guard let file = files[name] else { return APIAnswer(APIProblem.noRoute(near: nil)) }
        let isPacked = request.headers.admitsGzip
        let form = isPacked ? file.packed : file.plain
        var answer = APIAnswer(
            status: 200, headers: ["ETag": form.entityTag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"])
        guard request.headers.wants(form.entityTag) else {
            answer.status = 304
            return answer
        }
        answer.headers.append("Content-Type", value: file.mediaType)
        if isPacked { answer.headers.append("Content-Encoding", value: "gzip") }
        (answer.body, answer.upkeep) = (form.bytes, .shared)
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
    package var admitsGzip: Bool {
        var weights: [String: Bool] = [:]
        for member in members("Accept-Encoding") {
            let parts = member.lowercased().unquotedParts(between: ";")
            weights[parts[0]] = !parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) ?? 0 == 0 }
        }
        return weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? false
    }
}
