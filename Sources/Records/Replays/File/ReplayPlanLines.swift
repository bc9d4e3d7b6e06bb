import Basics
package import JobSupport
package import PushModel
package import Replay

/// One new request of a plan: a line of its file.
package struct ReplayItem: Sendable, Equatable {
    /// Its number in the plan, from 0.
    package var number: Int
    /// The request that is repeated.
    package var requestID: String
    /// The place of the original.
    package var place: RecordPlace
    /// The time of the original's record, or nil where it is not known.
    package var publishedAt: Timestamp?
    /// The sends that are repeated, or all when none was made.
    package var sends: SendSet
    /// The calls of the original when it was sent: their number and platforms, or nil when it became none.
    package var calls: Shape?
    /// The hub calls that the new request becomes.
    package var callCount = 0
    /// The platforms that it is for.
    package var platforms: [String] = []
    /// The expiry of the new request.
    package var expiresAt: String?

    /// The request that is repeated, by all that tells it from another one at its place.
    package var original: Original { Original(at: place, id: requestID, publishedAt: publishedAt) }

    /// A list of calls, as far as it has to be the same again.
    package struct Shape: Sendable, Equatable {
        package var count: Int
        package var platforms: PlatformSequence
    }

    /// One line of JSON.
    package var json: [UInt8] {
        var object = JSONObject()
        object.add("n", value: number)
        object.add("request_id", value: requestID)
        object.add("origin", value: place.description)
        object.add("published_at", value: publishedAt?.text)
        if sends != .all { object.add("sends", array: sends.indices.map { Array(String($0).utf8) }) }
        if let calls {
            object.add("planned", value: calls.count)
            object.add("shape", value: calls.platforms.text)
        }
        object.add("calls", value: callCount)
        object.add("platforms", texts: platforms)
        object.add("expires_at", value: expiresAt)
        return object.bytes
    }
}

/// Something that a plan leaves as it is: a line of its file.
package struct ReplayLeft: Sendable, Equatable {
    /// The reason.
    package var reason: Leftover
    /// The request.
    package var requestID: String
    /// The place of the request.
    package var place: RecordPlace
    /// The time of its record, or nil where it is not known.
    package var publishedAt: Timestamp?
    /// The sends that are left, or all when they cannot be distinguished.
    package var sends: SendSet

    /// One line of JSON.
    package var json: [UInt8] {
        var object = JSONObject()
        object.add("left", value: reason.rawValue)
        object.add("request_id", value: requestID)
        object.add("origin", value: place.description)
        object.add("published_at", value: publishedAt?.text)
        if sends != .all { object.add("sends", array: sends.indices.map { Array(String($0).utf8) }) }
        return object.bytes
    }
}

/// Reads a plan's file: its header first, and then line by line.
package struct ReplayPlanReader {
    /// A line behind the header.
    package enum Line {
        case item(ReplayItem)
        case left(ReplayLeft)
    }

    /// The first line.
    package let header: ReplayPlanHeader
    private let path: String
    private let lines: LineReader
    private var document = JSONDocument()

    /// Opens a plan.
    package init(_ path: String) throws(JobFailure) {
        self.path = path
        lines = try LineReader(path)
        header = try ReplayPlanHeader(try lines.next() ?? [], path: path)
    }

    /// The place in the file of the line that was read last, in bytes.
    package private(set) var lineStart: Int64 = 0

    /// Goes on at the place of a line. A place within a line makes the plan look damaged.
    package func skip(to position: Int64) throws(JobFailure) { try lines.seek(to: position) }

    /// The next line, or nil at the end.
    package mutating func next() throws(JobFailure) -> Line? {
        while true {
            lineStart = lines.position
            guard let line = try lines.next() else { break }
            guard !line.isEmpty else { continue }
            guard (try? document.read(line.span)) != nil, let read = parse() else {
                throw .room(ReplayFailure.damagedPlan(path: path))
            }
            return read
        }
        return nil
    }

    /// The next new request, without the left ones between, or nil at the end.
    package mutating func nextItem() throws(JobFailure) -> ReplayItem? {
        while let line = try next() {
            if case .item(let item) = line { return item }
        }
        return nil
    }

    /// The 64-bit FNV-1a digest of a file, in hexadecimal digits.
    package static func digest(_ path: String, isCancelled: () -> Bool = { false }) throws(JobFailure) -> String {
        let lines = try LineReader(path)
        var hash = FNV1a()
        var count = 0
        while let line = try lines.next() {
            count += 1
            if count & 0xFFF == 0, isCancelled() { throw .cancelled }
            hash.add(line)
            hash.add(0x0A)
        }
        return String(hash.value, radix: 16)
    }

    private func parse() -> Line? {
        let root = document.root
        guard let id = document.text("request_id", of: root),
            let place = document.text("origin", of: root).flatMap(RecordPlace.init)
        else { return nil }
        let publishedAt = document.moment("published_at", of: root)
        var sends = SendSet.all
        if let list = document.member("sends", of: root) {
            sends = SendSet()
            document.forEachElement(of: list) { sends.insert(Int(document.integer(at: $0) ?? -1)) }
        }
        if let reason = document.text("left", of: root).flatMap(Leftover.init(rawValue:)) {
            return .left(ReplayLeft(reason: reason, requestID: id, place: place, publishedAt: publishedAt, sends: sends))
        }
        guard let number = document.integer("n", of: root) else { return nil }
        var item = ReplayItem(number: Int(number), requestID: id, place: place, publishedAt: publishedAt, sends: sends)
        if let count = document.integer("planned", of: root),
            let platforms = document.text("shape", of: root).flatMap(PlatformSequence.init)
        {
            item.calls = ReplayItem.Shape(count: Int(count), platforms: platforms)
        }
        item.callCount = Int(document.integer("calls", of: root) ?? 0)
        return .item(item)
    }
}
