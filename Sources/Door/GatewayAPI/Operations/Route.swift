import Basics
import HTTPServing

/// A route of the table: an operation, with the parameter of the path that led there.
package struct Route: Sendable, Equatable {
    package let operation: APIOperation
    package let row: APIOperation.Row
    /// The id, decoded and not looked at, or the name of a file as it came. Empty where the path has neither.
    package fileprivate(set) var id: String

    init(_ operation: APIOperation, id: String = "") {
        (self.operation, row, self.id) = (operation, operation.row, id)
    }

    package static func == (one: Route, other: Route) -> Bool { one.operation == other.operation && one.id == other.id }

    /// Whether a body says what to do; that of any other route is read past.
    package var takesBody: Bool { row.body != nil }

    /// Where a request leads.
    package enum Match: Sendable, Equatable {
        case route(Route)
        case otherMethods([String])
        case nowhere

        /// A short word, safe as a metric's label.
        package var label: String { if case .route(let route) = self { route.row.label } else { "none" } }
    }

    /// Finds the route of a request. Methods have a case (RFC 9110, 9.1), HEAD leads where GET does (9.3.2), and the path has its escapes.
    package static func match(_ method: String, path: Substring) -> Match {
        guard let (routes, id) = RouteTable.shared.routes(of: path) else { return .nowhere }
        let sought = method == "HEAD" ? "GET" : method
        guard var found = routes.first(where: { $0.row.method == sought }) else {
            return .otherMethods(routes.flatMap { $0.row.method == "GET" ? ["GET", "HEAD"] : [$0.row.method] })
        }
        found.id = id
        return .route(found)
    }
}

/// The paths of all operations.
private struct RouteTable: Sendable {
    /// A path of the table.
    private struct Place: Sendable {
        /// Its routes, one for each method.
        let routes: [Route]
        let pieces: [String]
        /// The texts before and behind the parameter.
        let ends: (before: String, behind: String)?

        init(_ path: String, routes: [Route]) {
            self.routes = routes
            pieces = path.byteParts(between: "/").map(String.init)
            let parts = path.split(omittingEmptySubsequences: false) { "{}".contains($0) }.map(String.init)
            ends = parts.count == 3 ? (parts[0], parts[2]) : nil
        }

        /// The parameter of a path of this form, or nil for a path of another. It may be empty, or more than one piece.
        func parameter(of path: Substring) -> Substring? {
            guard let (before, behind) = ends, path.utf8.count >= before.utf8.count + behind.utf8.count,
                path.utf8.starts(with: before.utf8), path.utf8.suffix(behind.utf8.count).elementsEqual(behind.utf8)
            else { return nil }
            return Substring(path.utf8.dropFirst(before.utf8.count).dropLast(behind.utf8.count))
        }
    }

    static let shared = RouteTable()

    /// The routes of paths without a parameter.
    private let fixed: [Substring: [Route]]
    /// Other paths but for those of apps, with the longest text behind the parameter first: an action ends the path, not the id.
    private let forms: [Place]
    private let apps: [Place]

    private init() {
        let routes = Dictionary(grouping: APIOperation.allCases.map { Route($0) }, by: \.row.path)
        fixed = Dictionary(uniqueKeysWithValues: routes.filter { !$0.key.contains("{") }.map { ($0.key[...], $0.value) })
        let places = routes.map { Place($0, routes: $1) }
        apps = places.filter { $0.routes[0].row.access == .user }
        forms = places.filter { $0.ends != nil && $0.routes[0].row.access != .user }
            .sorted { $0.ends?.behind.utf8.count ?? 0 > $1.ends?.behind.utf8.count ?? 0 }
    }

    /// The routes of a path, and its parameter, or nil for a path of nothing. An id may have colons. One that ends like an action must have
    /// that colon escaped.
    func routes(of path: Substring) -> (routes: [Route], id: String)? {
        if let routes = fixed[path] { return (routes, "") }
        for place in forms {
            guard let parameter = place.parameter(of: path) else { continue }
            guard !parameter.isEmpty, !parameter.utf8.contains(UInt8(ascii: "/")) else { return nil }
            return (place.routes, place.routes[0].row.access.isOfKeys ? PathSegment.id(of: parameter) : String(parameter))
        }
        return appRoutes(of: path)
    }

    /// The routes below `/api`, as ASP.NET finds them: names in any case and with escapes, and one slash behind them.
    private func appRoutes(of path: Substring) -> (routes: [Route], id: String)? {
        var names = path.byteParts(between: "/").map { PercentEncoding.decoded(String($0)) }
        if names.count > 3, names.last == "" { names.removeLast() }
        let place = apps.first { place in
            place.pieces.count == names.count
                && zip(place.pieces, names).allSatisfy { $0 == "{id}" ? !$1.isEmpty : $0.equalsIgnoringCase($1) }
        }
        return place.map { ($0.routes, $0.ends == nil ? "" : names[names.count - 1]) }
    }
}
