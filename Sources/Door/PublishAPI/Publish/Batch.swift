package import GatewayAPI
import PushModel

/// The requests of a batch, in their order, each as it would stand alone.
package struct Batch: Sendable {
    /// Each request, not checked yet: at least one.
    package let items: [[UInt8]]
    /// The line of the body on which each begins, from 1; none where faults of JSON are not the items' own.
    let lines: [Int]

    /// Reads a batch as far as it is not about single requests. 400 for what is no JSON, 413, and 422 for another value than a
    /// batch, for an empty batch and one of more than 1,000 items.
    package init(_ body: [UInt8], form: BatchForm) throws(APIProblem) {
        guard body.count <= APILimit.batchByteCount else { throw .bodyTooLarge(limit: APILimit.batchByteCount) }
        switch form {
        case .lines: (items, lines) = try Self.lines(of: body)
        case .list, .events: (items, lines) = (try Self.elements(of: body, in: form), [])
        }
        guard !items.isEmpty else { throw .batchRefused(at: Self.pointer(form), because: "A batch needs at least one request.") }
    }

    /// The lines and their numbers, but for empty ones. One that is no JSON is its own item's fault.
    private static func lines(of body: [UInt8]) throws(APIProblem) -> (items: [[UInt8]], numbers: [Int]) {
        var (items, numbers): ([[UInt8]], [Int]) = ([], [])
        var (number, start) = (1, 0)
        while start < body.count {
            let end = body[start...].firstIndex(of: UInt8(ascii: "\n")) ?? body.count
            let line = body[start..<end]
            if !line.allSatisfy({ JSONBody.isSpace($0) }) {
                guard items.count < APILimit.batchCount else { throw tooMany(.lines) }
                items.append(Array(line))
                numbers.append(number)
            }
            (number, start) = (number + 1, end + 1)
        }
        return (items, numbers)
    }

    private static func elements(of body: [UInt8], in form: BatchForm) throws(APIProblem) -> [[UInt8]] {
        var document = JSONDocument()
        do throws(JSONError) {
            // Half a surrogate pair is the fault of its item alone.
            try document.read(body.span, replacingHalfPairs: true)
        } catch {
            throw .unreadable(body.isEmpty ? .noValue : .notJSON(error), in: body)
        }
        let list = form == .list ? try requests(of: document) : document.root
        guard document.kind(of: list) == .array else {
            throw .batchRefused(at: pointer(form), because: "This must be a list of requests.")
        }
        guard document.childCount(of: list) <= APILimit.batchCount else { throw tooMany(form) }
        var items: [[UInt8]] = []
        items.reserveCapacity(document.childCount(of: list))
        document.forEachElement(of: list) { element in
            let text = document.span(document.text(of: element))
            var item = ByteWriter(capacity: text.count)
            // A text has lost its quotes and escapes, and must not pass for a request.
            if document.kind(of: element) == .string { item.append(json: text) } else { item.append(text) }
            items.append(item.bytes)
        }
        return items
    }

    /// The list in `requests`, which nothing else stands beside.
    private static func requests(of document: borrowing JSONDocument) throws(APIProblem) -> JSONDocument.Node {
        var found: JSONDocument.Node?
        var faults: [RequestFault] = []
        var members = document.children(of: document.root)
        while document.kind(of: document.root) == .object, let (key, value) = members.next(in: document) {
            if found == nil, document.isEqual(document.text(of: key), to: "requests" as StaticString) {
                found = value
            } else {
                faults.note(
                    RequestFault(
                        .schemaInvalid, at: document.pointer(to: key), message: "A batch has one member, once: requests."))
            }
        }
        guard faults.isEmpty else { throw .refused(faults) }
        guard let found, document.kind(of: found) != .null else {
            let isList = document.kind(of: document.root) == .array
            throw .batchRefused(
                at: "/requests",
                because: isList ? "Put the list into an object: {\"requests\":[…]}." : "A batch needs the list of its requests.")
        }
        return found
    }

    private static func tooMany(_ form: BatchForm) -> APIProblem {
        .batchRefused(at: pointer(form), because: "A batch has at most \(APILimit.batchCount) requests.")
    }

    private static func pointer(_ form: BatchForm) -> String { form == .list ? "/requests" : "" }
}

extension APIProblem {
    /// 422 for a batch of which nothing is written.
    fileprivate static func batchRefused(at pointer: String, because sentence: String) -> APIProblem {
        .refused([RequestFault(.schemaInvalid, at: pointer, message: sentence)])
    }
}
