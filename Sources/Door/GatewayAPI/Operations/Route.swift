import Basics
import HTTPServing

/// A route of the table: an operation, with the parameter of the path that led there.
package struct Route: Sendable, Equatable {
    package let operation: APIOperation
    package let row: APIOperation.Row
    /// The parameters of the path in their order: an id, decoded and not looked at, or the name of a file as it came.
    package fileprivate(set) var parameters: [String]
    /// The first parameter. Empty where the path has none.
    package var id: String { parameters.first ?? "" }

    init(_ operation: APIOperation, id: String = "") {
        (self.operation, row, parameters) = (operation, operation.row, id.isEmpty ? [] : [id])
    }

    package static func == (one: Route, other: Route) -> Bool {
        one.operation == other.operation && one.parameters == other.parameters
    }

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
        guard let (routes, parameters) = RouteTable.shared.routes(of: path) else { return .nowhere }
        let sought = method == "HEAD" ? "GET" : method
        guard var found = routes.first(where: { $0.row.method == sought }) else {
            return .otherMethods(routes.flatMap { $0.row.method == "GET" ? ["GET", "HEAD"] : [$0.row.method] })
        }
        found.parameters = parameters
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
        /// The texts around the parameters: before the first, between two, and behind the last.
        let texts: [String]

        init(_ path: String, routes: [Route]) {
            self.routes = routes
            pieces = path.byteParts(between: "/").map(String.init)
            let parts = path.split(omittingEmptySubsequences: false) { "{}".contains($0) }.map(String.init)
            texts = parts.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        }

        var hasParameters: Bool { texts.count > 1 }

        /// The parameters of a path of this form, or nil for a path of another. Each ends at the next slash, and the last may be empty, or
        /// more than one piece.
        func parameters(of path: Substring) -> [Substring]? {
            guard hasParameters, let first = texts.first, let last = texts.last, path.utf8.starts(with: first.utf8) else {
                return nil
            }
            var rest = path.utf8.dropFirst(first.utf8.count)
            var found: [Substring] = []
            for text in texts.dropFirst().dropLast() {
                let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
                guard rest[end...].starts(with: text.utf8) else { return nil }
                found.append(Substring(rest[..<end]))
                rest = rest[end...].dropFirst(text.utf8.count)
            }
            guard rest.count >= last.utf8.count, rest.suffix(last.utf8.count).elementsEqual(last.utf8) else { return nil }
            return found + [Substring(rest.dropLast(last.utf8.count))]
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
        forms = places.filter { $0.hasParameters && $0.routes[0].row.access != .user }
            .sorted { ($0.texts.count, $0.texts.last?.utf8.count ?? 0) > ($1.texts.count, $1.texts.last?.utf8.count ?? 0) }
    }

    /// The routes of a path, and its parameters, or nil for a path of nothing. An id may have colons. One that ends like an action must have
    /// that colon escaped.
    func routes(of path: Substring) -> (routes: [Route], parameters: [String])? {
        if let routes = fixed[path] { return (routes, []) }
        for place in forms {
            guard let parameters = place.parameters(of: path) else { continue }
            guard parameters.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: "/")) }) else { return nil }
            let isOfKeys = place.routes[0].row.access.isOfKeys
            return (place.routes, parameters.map { isOfKeys ? PathSegment.id(of: $0) : String($0) })
        }
        return appRoutes(of: path)
    }

    /// The routes below `/api`, as ASP.NET finds them: names in any case and with escapes, and one slash behind them.
    private func appRoutes(of path: Substring) -> (routes: [Route], parameters: [String])? {
        var names = path.byteParts(between: "/").map { PercentEncoding.decoded(String($0)) }
        if names.count > 3, names.last == "" { names.removeLast() }
        let place = apps.first { place in
            place.pieces.count == names.count
                && zip(place.pieces, names).allSatisfy { $0 == "{id}" ? !$1.isEmpty : $0.equalsIgnoringCase($1) }
        }
        return place.map { ($0.routes, $0.hasParameters ? [names[names.count - 1]] : []) }
    }
}
