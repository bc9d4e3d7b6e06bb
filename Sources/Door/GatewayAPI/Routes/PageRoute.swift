/// The routes of the web page. They are no part of the API.
package enum PageRoute: Sendable, Equatable {
    /// `GET /ui`.
    case index
    /// `GET /ui/`, which leads to `/ui`.
    case folder
    /// `GET /ui/NAME`, with the name as it came.
    case file(name: String)
    /// `/ui/session`.
    case session(Verb)

    /// The calls of a session: `POST`, `GET` and `DELETE`.
    package enum Verb: Sendable {
        case begin, show, end
    }

    /// True for the paths of the page, whether or not something is there.
    package static func has(_ path: Substring) -> Bool { path == "/ui" || path.hasPrefix("/ui/") }

    /// The methods of a path and where they lead, or nil for a path of something else.
    static func methods(of path: Substring) -> [(method: String, route: PageRoute)]? {
        guard has(path) else { return nil }
        if path == "/ui/session" {
            return [("GET", .session(.show)), ("POST", .session(.begin)), ("DELETE", .session(.end))]
        }
        let name = path.dropFirst("/ui/".count)
        guard !name.contains("/") else { return nil }
        let route = path == "/ui" ? index : name.isEmpty ? folder : file(name: String(name))
        return [("GET", route)]
    }

    /// A short word, safe as a metric's label.
    var label: String {
        switch self {
        case .index, .folder: "page"
        case .file: "page.file"
        case .session(.begin): "page.session.begin"
        case .session(.show): "page.session.show"
        case .session(.end): "page.session.end"
        }
    }

    /// True if a body says what to do.
    var takesBody: Bool { self == .session(.begin) }
}
