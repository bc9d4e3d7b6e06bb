import PushModel

/// Reads facts out of results and out of the hub's journal. One reader keeps its room from one text to the next.
public struct FactReader {
    var document = JSONDocument()

    /// A reader.
    public init() {}

    /// The request that a result belongs to.
    ///
    /// - Returns: Nil when the value is no result.
    public mutating func origin(of value: Span<UInt8>) -> Place? {
        do { try document.read(value) } catch { return nil }
        // That of a part stands on another topic.
        return document.member("parent", of: document.root) == nil ? origin() : nil
    }

    /// Reads a result.
    ///
    /// - Parameters:
    ///   - value: The record's value.
    ///   - at: The record's time, milliseconds since 1970.
    /// - Returns: Nil when the value is no final result.
    public mutating func result(_ value: Span<UInt8>, at: Int64) -> ResultFact? {
        do { try document.read(value) } catch { return nil }
        let root = document.root
        guard document.member("parent", of: root) == nil, document.member("parts", of: root) == nil else { return nil }
        guard text("kind", of: root) == "final", let origin = origin(),
            let state = text("state", of: root).flatMap(ResultState.init), let id = text("request_id", of: root),
            let safety = text("replay_safety", of: root).flatMap(ReplaySafety.init)
        else { return nil }
        let worker = document.member("worker", of: root).flatMap { text("id", of: $0) } ?? ""
        let (sends, explained) = sends(of: root)
        return ResultFact(
            origin, user: Self.number(in: id, after: "r"), worker: worker, at: at, state: state, safety: safety, sends: sends,
            explainedCalls: explained)
    }

    /// Reads the result of a large request.
    ///
    /// - Parameter value: The record's value.
    /// - Returns: Nil for every other record.
    public mutating func whole(_ value: Span<UInt8>) -> WholeFact? {
        do { try document.read(value) } catch { return nil }
        let root = document.root
        guard let parts = document.member("parts", of: root), let origin = origin(),
            let number = text("request_id", of: root).flatMap({ Self.number(in: $0, after: "l") }),
            let state = text("state", of: root).flatMap(ResultState.init)
        else { return nil }
        let accepted = document.member("targets", of: root).map { count("accepted", of: $0) }
        return WholeFact(
            origin, number: number, state: state, parts: count("count", of: parts), sent: count("sent", of: parts),
            acceptedCalls: accepted ?? 0)
    }

    /// Reads the result of a part.
    ///
    /// - Parameters:
    ///   - value: The record's value.
    ///   - at: The record's time, milliseconds since 1970.
    /// - Returns: Nil for every other record.
    public mutating func part(_ value: Span<UInt8>, at: Int64) -> PartFact? {
        do { try document.read(value) } catch { return nil }
        let root = document.root
        guard text("kind", of: root) == "final", let parent = document.member("parent", of: root),
            let number = text("id", of: parent).flatMap({ Self.number(in: $0, after: "l") }),
            let state = text("state", of: root).flatMap(ResultState.init)
        else { return nil }
        let worker = document.member("worker", of: root).flatMap { text("id", of: $0) } ?? ""
        return PartFact(number: number, chunk: count("chunk", of: parent), state: state, worker: worker, at: at)
    }

    private func count(_ name: StaticString, of node: JSONDocument.Node) -> Int {
        document.member(name, of: node).flatMap { document.integer(at: $0) }.map { Int(truncatingIfNeeded: $0) } ?? -1
    }

    /// Reads an outcome result.
    ///
    /// - Returns: Nil when the value is none.
    public mutating func outcome(_ value: Span<UInt8>) -> OutcomeFact? {
        do { try document.read(value) } catch { return nil }
        let root = document.root
        guard text("kind", of: root) == "outcome", let origin = origin(),
            let state = text("state", of: root).flatMap(ResultState.init),
            let send = document.member("sends", of: root).flatMap({ document.firstChild(of: $0) }),
            let index = document.member("index", of: send).flatMap({ document.integer(at: $0) })
        else { return nil }
        return OutcomeFact(
            CallPlace(origin, Int(index)), notification: text("notification_id", of: send).map { Digest.of($0.utf8) },
            state: state)
    }

    /// Reads a request that repeats another one.
    ///
    /// - Parameters:
    ///   - value: The record's value.
    ///   - place: Where it stands.
    /// - Returns: Nil for every other record.
    public mutating func replay(_ value: Span<UInt8>, at place: Place) -> ReplayFact? {
        do { try document.read(value) } catch { return nil }
        guard let replay = document.member("replay", of: document.root),
            let parts = text("parent_origin", of: replay)?.split(separator: ":"), parts.count == 3,
            let partition = Int32(parts[1]), let offset = Int64(parts[2])
        else { return nil }
        var fact = ReplayFact(place, of: Place(partition, offset))
        guard let list = document.member("sends", of: replay) else { return fact }
        var sends: [Int] = []
        document.forEachElement(of: list) { sends.append(document.integer(at: $0).flatMap { Int(exactly: $0) } ?? -1) }
        fact.sends = sends
        return fact
    }

    /// Reads a line of the hub's journal.
    ///
    /// - Returns: Nil for a line that is no call, or that was cut.
    public mutating func call(_ line: Span<UInt8>) -> CallFact? {
        do { try document.read(line) } catch { return nil }
        let root = document.root
        guard let at = document.member("at", of: root).flatMap({ document.integer(at: $0) }) else { return nil }
        let status = document.member("status", of: root).flatMap { document.integer(at: $0) } ?? 0
        let isAccepted = document.member("accepted", of: root).map { document.kind(of: $0) == .true } ?? false
        return CallFact(
            user: text("tags", of: root).flatMap { Self.number(in: $0, after: "username:u") }, at: at, status: Int(status),
            isAccepted: isAccepted, notification: text("notification_id", of: root).map { Digest.of($0.utf8) },
            piece: text("tags", of: root).flatMap { PieceName(tags: $0, format: text("format", of: root) ?? "") })
    }

    /// The number behind a prefix; nil when the text has another form.
    public static func number(in text: String, after prefix: String) -> Int? {
        text.hasPrefix(prefix) ? Int(text.dropFirst(prefix.count)) : nil
    }

    private func origin() -> Place? {
        guard let node = document.member("origin", of: document.root),
            let offset = text("offset", of: node).flatMap({ Int64($0) }),
            let partition = document.member("partition", of: node).flatMap({ document.integer(at: $0) })
        else { return nil }
        let isReplay = document.member("replay", of: document.root) != nil
        return Place(Int32(truncatingIfNeeded: partition), offset, isReplay: isReplay)
    }

    /// The calls, and how many of them the hub may have accepted: the attempts that it confirmed, and those without an answer
    /// whose request had left.
    private func sends(of root: JSONDocument.Node) -> ([ResultFact.Send], Int) {
        var sends: [ResultFact.Send] = []
        var possible: [Int] = []
        if let list = document.member("sends", of: root) {
            document.forEachElement(of: list) { send in
                let outcome = text("outcome", of: send)
                let id = text("notification_id", of: send).map { Digest.of($0.utf8) }
                sends.append(ResultFact.Send(isSuccess: outcome == "success", notification: id))
                possible.append(outcome == "success" || outcome == "ambiguous" ? 1 : 0)
            }
        }
        var attempts = [Int](repeating: 0, count: possible.count)
        if let list = document.member("attempts", of: root) {
            document.forEachElement(of: list) { attempt in
                let send = document.member("send", of: attempt).flatMap { document.integer(at: $0) } ?? -1
                guard attempts.indices.contains(Int(send)) else { return }
                let hasAnswer = document.member("http_status", of: attempt) != nil
                let hasLeft = document.member("bytes_sent", of: attempt).map { document.kind(of: $0) == .true } ?? false
                if text("result", of: attempt) == "ok" || (!hasAnswer && hasLeft) { attempts[Int(send)] += 1 }
            }
        }
        return (sends, zip(possible, attempts).map { max($0, $1) }.reduce(0, +))
    }

    func text(_ name: StaticString, of node: JSONDocument.Node) -> String? {
        guard let value = document.member(name, of: node), document.kind(of: value) == .string else { return nil }
        return document.string(document.text(of: value))
    }
}
