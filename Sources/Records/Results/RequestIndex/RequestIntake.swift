import PushModel
import ResultQuery

/// Makes rows of an index of the records of requests. Without effects.
///
/// A record that cannot be read is passed over, for it has a dead letter alone. So is a part of a large request that has a record of its
/// own in a lane. One with faults is taken as far as it could be read.
struct RequestIntake {
    /// The time by which clocks of publishers may be ahead, in milliseconds. What is later counts as published then.
    private static let ahead: Int64 = 60_000

    /// The rows since they were taken out last.
    private(set) var rows = RequestRows()

    private let hash: TokenHash
    private let isOmitting: Bool
    private let keep: Int64
    private var request = PushRequest()

    /// Makes rows by the rule for names, of requests that are kept for so many milliseconds.
    init(_ secrets: IndexSecrets, names: RequestIndexSettings.Names, keep: Int64) {
        (hash, isOmitting, self.keep) = (secrets.hash, names == .omitted, keep)
    }

    /// Takes a record of a lane, to which pushfan alone writes if it `isOwn`. No request from before `floor` is taken. Both moments are
    /// milliseconds since 1970.
    mutating func take(
        _ value: Span<UInt8>, headers: borrowing RecordHeaders, at origin: RecordOrigin, lane: (number: Int, isOwn: Bool),
        floor: Int64, now: Int64
    ) {
        let published = origin.isDated ? origin.timestamp.milliseconds : now
        let latest = now.addingSaturated(Self.ahead)
        let oldest = max(floor, now.addingSaturated(-keep))
        guard published >= oldest else { return }
        let reader = RequestReader(from: lane.isOwn ? .own : .open)
        if case .unreadable = reader.read(value, headers: headers, origin: origin, into: &request) { return }
        if let part = PartReference(of: request), part.key != ParentKey(fileID: part.parentID) { return }
        var facts = RequestFacts(request)
        if isOmitting { facts.omitNames() }
        var moments = [(time: min(published, latest), isDue: false)]
        if let due = facts.due?.milliseconds, due > published, due <= now.addingSaturated(keep) { moments.append((due, true)) }
        // A token that comes twice costs less than finding that out.
        var tokens: [UInt8] = []
        RequestTokens.forEach(of: request) { kind, text in
            guard kind != .all, !(isOmitting && kind.isOmitted) else { return }
            hash.append(RequestTokens.Token(kind, text: text), to: &tokens)
            tokens.append(UInt8(ascii: " "))
        }
        rows.append(
            lane: lane.number, partition: origin.partition, offset: origin.offset, moments: moments, published: published,
            json: facts.json
        ) { $0 += tokens }
    }

    /// Forgets the rows, which were added to an index.
    mutating func removeRows() { rows.removeAll() }
}

extension RequestFacts {
    /// Forgets the names of users and devices, and the title.
    fileprivate mutating func omitNames() {
        title = nil
        if audience.kind == .users || audience.kind == .installations { audience.names = [] }
    }
}

extension RequestTokens.Kind {
    /// True if it is in no index that omits names.
    var isOmitted: Bool { isPerson || self == .word }
}

extension TokenHash {
    /// Appends the text under which a token stands in an index.
    func append(_ token: RequestTokens.Token, to text: inout [UInt8]) {
        append([token.kind.rawValue, UInt8(ascii: ":")] + token.text, to: &text)
    }

    private func append(_ bytes: [UInt8], to text: inout [UInt8]) { append(bytes.span, to: &text) }
}

extension RequestQuery {
    /// The question in the grammar of FTS5, for tokens of a key. Nil if every request is an answer.
    func expression(_ hash: TokenHash) -> [UInt8]? {
        var (wanted, unwanted): ([[UInt8]], [[UInt8]]) = ([], [])
        for condition in conditions {
            let alternatives = condition.alternatives.map { tokens in
                Self.joined(tokens.map { hash.text(of: $0) }, by: " AND ")
            }
            guard !condition.isNegated else {
                unwanted += alternatives
                continue
            }
            // Nothing is found by a condition without alternatives, and no token has this text.
            wanted.append(alternatives.isEmpty ? Array("nothing".utf8) : Self.joined(alternatives, by: " OR "))
        }
        guard !wanted.isEmpty || !unwanted.isEmpty else { return nil }
        if wanted.isEmpty { wanted.append(Self.everything(hash)) }
        return unwanted.isEmpty
            ? Self.joined(wanted, by: " AND ")
            : Self.joined([Self.joined(wanted, by: " AND "), Self.joined(unwanted, by: " OR ")], by: " NOT ")
    }

    /// Every request has an audience of one of the kinds, so that no mark of all is kept.
    private static func everything(_ hash: TokenHash) -> [UInt8] {
        let kinds = AudienceSummary.Kind.allCases.map { RequestTokens.Token(.audience, text: Array($0.rawValue.utf8)) }
        return joined(kinds.map { hash.text(of: $0) }, by: " OR ")
    }

    private static func joined(_ parts: [[UInt8]], by word: String) -> [UInt8] {
        parts.count == 1 ? parts[0] : Array("(".utf8) + Array(parts.joined(separator: Array(word.utf8))) + Array(")".utf8)
    }
}

extension TokenHash {
    /// The text under which a token stands in an index.
    fileprivate func text(of token: RequestTokens.Token) -> [UInt8] {
        var text: [UInt8] = []
        append(token, to: &text)
        return text
    }
}
