import Basics
package import HTTPServing
package import PushModel

/// The JSON of lists.
package enum ReportJSON {
    /// An array of objects, and the end of the line.
    package static func line(of objects: [JSONObject]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append("[")
        writer.append(list: objects) { $0.append($1.bytes.span) }
        writer.append("]\n")
        return writer.bytes
    }

    /// Header fields as an object. A repeated name keeps its first value.
    package static func fields(_ fields: HTTPFields) -> [UInt8] {
        var seen: Set<String> = []
        var object = JSONObject()
        for field in fields.all where seen.insert(field.name.lowercased()).inserted { object.add(field.name, value: field.value) }
        return object.bytes
    }
}

/// A page of a list.
package struct ListPage: Sendable {
    /// Entries on a page, by default and at most.
    private static let (usual, most) = (1_000, 10_000)

    package let body: [UInt8]
    /// The place of the next page, if there is one.
    package let next: String?
    /// The number of all entries.
    package let count: Int

    package init(body: [UInt8], next: String?, count: Int) { (self.body, self.next, self.count) = (body, next, count) }

    /// Answers with a page of a list, behind the place that `after` names, with a link to the next one if there is one, and the number of
    /// all entries.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - read: Reads a place.
    ///   - complaint: The answer to a place that cannot be read.
    ///   - page: Gives the page at a place, of at most so many entries.
    /// - Returns: The answer.
    /// - Throws: What `page` throws.
    package static func answer<Cursor, Failure: Error>(
        to request: HTTPServerRequest, reading read: (String) -> Cursor?, or complaint: String,
        page: (Cursor?, Int) throws(Failure) -> ListPage
    ) throws(Failure) -> HTTPServerResponse {
        let limit = request.queryValue("limit").map { Int($0) } ?? usual
        guard let limit, limit >= 0 else { return .text("'limit' must be a whole number\n", status: 400) }
        let after = request.queryValue("after")
        let cursor = after.flatMap(read)
        guard after == nil || cursor != nil else { return .text("\(complaint)\n", status: 400) }
        let page = try page(cursor, min(limit, most))
        var response = HTTPServerResponse(
            status: 200, headers: ["Content-Type": "application/json; charset=utf-8"], body: page.body)
        response.headers.append("X-Total-Count", value: String(page.count))
        if let next = page.next, limit > 0 {
            let kept = ["hub", "handle", "tag", "limit"].compactMap { name in
                request.queryValue(name).map { "&\(name)=\(PercentEncoding.encoded($0))" }
            }
            response.headers.append("Link", value: "<\(request.path)?after=\(next)\(kept.joined())>; rel=\"next\"")
        }
        return response
    }
}
