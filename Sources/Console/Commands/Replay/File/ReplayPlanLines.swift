import PushModel
import Replay
import ResultQuery

/// One new request of a plan: a line of its file.
struct ReplayItem: Sendable, Equatable {
    /// Its number in the plan, from 0.
    var number: Int
    /// The request that is repeated.
    var requestID: String
    /// Where that stands.
    var place: RecordPlace
    /// Which of its sends are repeated; all when none was made.
    var sends: SendSet
    /// What the original became when it was sent: how many calls, and for which platforms; nil when it became none.
    var calls: Shape?
    /// The hub calls that the new request becomes.
    var callCount = 0
    /// The platforms that it is for.
    var platforms: [String] = []
    /// Until when it is of use.
    var expiresAt: String?

    /// A list of calls, as far as it has to be the same again.
    struct Shape: Sendable, Equatable {
        var count: Int
        var platforms: PlatformSequence
    }

    /// One line of JSON.
    var json: [UInt8] {
        var object = JSONObject()
        object.add("n", number)
        object.add("request_id", requestID)
        object.add("origin", place.description)
        if sends != .all { object.add("sends", array: sends.indices.map { Array(String($0).utf8) }) }
        if let calls {
            object.add("planned", calls.count)
            object.add("shape", calls.platforms.text)
        }
        object.add("calls", callCount)
        object.add("platforms", texts: platforms)
        object.add("expires_at", expiresAt)
        return object.bytes
    }
}

/// Something that a plan leaves as it is: a line of its file.
struct ReplayLeft: Sendable, Equatable {
    /// Why.
    var reason: Leftover
    /// The request.
    var requestID: String
    /// Where it stands.
    var place: RecordPlace
    /// Which of its sends; all when they cannot be distinguished.
    var sends: SendSet

    /// One line of JSON.
    var json: [UInt8] {
        var object = JSONObject()
        object.add("left", reason.rawValue)
        object.add("request_id", requestID)
        object.add("origin", place.description)
        if sends != .all { object.add("sends", array: sends.indices.map { Array(String($0).utf8) }) }
        return object.bytes
    }
}

/// Reads a plan's file: its header first, and then line by line.
struct ReplayPlanReader {
    /// A line behind the header.
    enum Line {
        case item(ReplayItem)
        case left(ReplayLeft)
    }

    /// The first line.
    let header: ReplayPlanHeader
    private let path: String
    private let lines: LineReader
    private var document = JSONDocument()

    /// Opens a plan.
    ///
    /// - Throws: There is no such file, or it is no plan.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        lines = try LineReader(path)
        header = try ReplayPlanHeader(try lines.next() ?? [], path: path)
    }

    /// The next line; nil at the end.
    ///
    /// - Throws: The file is damaged.
    mutating func next() throws(CommandFailure) -> Line? {
        while let line = try lines.next() {
            guard !line.isEmpty else { continue }
            guard (try? document.read(line.span)) != nil, let read = parse() else {
                throw .usage("\(Sanitised.quoted(path)) is damaged; make a new plan")
            }
            return read
        }
        return nil
    }

    /// The next new request, with what is left passed over; nil at the end.
    ///
    /// - Throws: The file is damaged.
    mutating func nextItem() throws(CommandFailure) -> ReplayItem? {
        while let line = try next() {
            if case .item(let item) = line { return item }
        }
        return nil
    }

    private func parse() -> Line? {
        let root = document.root
        guard let id = document.text("request_id", of: root),
            let place = document.text("origin", of: root).flatMap(RecordPlace.init)
        else { return nil }
        var sends = SendSet.all
        if let list = document.member("sends", of: root) {
            sends = SendSet()
            document.forEachElement(of: list) { sends.insert(Int(document.integer(at: $0) ?? -1)) }
        }
        if let reason = document.text("left", of: root).flatMap(Leftover.init(rawValue:)) {
            return .left(ReplayLeft(reason: reason, requestID: id, place: place, sends: sends))
        }
        guard let number = document.integer("n", of: root) else { return nil }
        var item = ReplayItem(number: Int(number), requestID: id, place: place, sends: sends)
        if let count = document.integer("planned", of: root),
            let platforms = document.text("shape", of: root).flatMap(PlatformSequence.init)
        {
            item.calls = ReplayItem.Shape(count: Int(count), platforms: platforms)
        }
        item.callCount = Int(document.integer("calls", of: root) ?? 0)
        return .item(item)
    }
}
