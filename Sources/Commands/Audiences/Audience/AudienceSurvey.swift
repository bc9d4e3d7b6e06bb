package import FanOut
package import JobSupport
package import PushModel

/// The survey of an audience's file: read once from its beginning to its end, before anything is written.
package struct AudienceSurvey {
    /// The most faults that are reported. Further ones are counted.
    private static let maximumFaults = 20

    /// The file.
    package let path: String
    private(set) var format = AudienceFormat()
    /// Its lines.
    package private(set) var lines = 0
    /// The distinct names or handles.
    package private(set) var names = 0
    /// The names or handles that stood there before.
    package private(set) var duplicates = 0
    /// The first lines that hold neither.
    package private(set) var faults: [InputFault] = []
    /// All such lines.
    package private(set) var faultCount = 0
    /// The parts of the request.
    package private(set) var parts = 0
    /// The calls of all parts.
    package private(set) var calls = 0
    /// The most bytes that a part has of its own: its audience, and the name of its hub.
    private(set) var largestAudience = 0
    private(set) var digest: UInt64 = 0
    /// A bit for each line that is left out.
    private var skipped: [UInt64] = []

    /// The hubs that share the audience, or nil for one hub.
    let spread: HubSpread?
    /// The kind of the lines: names or handles.
    package var kind: AudienceFormat.Kind { format.kind ?? .names(.users) }

    /// True if a line is left out, by its number.
    func skips(_ number: Int) -> Bool { number > lines || skipped[number / 64] >> UInt64(number % 64) & 1 == 1 }

    /// Reads the file. Without `spread` one hub has the whole audience.
    package init(
        of path: String, planner: FanOutPlanner, request: PushRequest, over spread: HubSpread?
    ) throws(JobFailure) {
        self.path = path
        self.spread = spread
        // So that there is room for all of them from the beginning.
        let lineCount = try AudienceReader.lineCount(path)
        skipped = [UInt64](repeating: 0, count: lineCount / 64 + 1)
        var reader = try AudienceReader(path)
        var distinct = DistinctLines(lineCount: lineCount)
        var parts: AudienceParts?
        var batch = AudienceBatch()
        while try reader.next() {
            lines = reader.number
            guard lines <= lineCount else { throw .room(AudienceFailure.changedFile(path: path)) }
            do throws(AudienceFormat.Fault) {
                guard try format.read(reader.bytes), let kind = format.kind else {
                    skip(lines)
                    continue
                }
                if parts == nil { parts = planner.parts(of: kind, for: request, over: spread) }
                batch.append(format, salt: Self.salt(format, kind), line: lines, offset: reader.offset)
            } catch {
                // Faults are reported in the order of their lines.
                take(&batch, distinct: &distinct, parts: &parts, reader: reader)
                note(error, line: lines)
            }
            if batch.isFull { take(&batch, distinct: &distinct, parts: &parts, reader: reader) }
        }
        take(&batch, distinct: &distinct, parts: &parts, reader: reader)
        while parts?.finish() == true { count(parts) }
        digest = reader.digest
        guard reader.isUnchanged else { throw .room(AudienceFailure.changedFile(path: path)) }
    }

    /// Adds what lines hold to the parts, and leaves out what stood there before.
    private mutating func take(
        _ batch: inout AudienceBatch, distinct: inout DistinctLines, parts: inout AudienceParts?,
        reader: borrowing AudienceReader
    ) {
        distinct.load(batch.hashes)
        for (index, hash) in batch.hashes.enumerated() {
            let entry = batch.entries[index]
            let isExact = kind == .names(.users) && parts?.isOwnForm(batch.text(of: entry)) == false
            let isNew = distinct.insert(hash, at: entry.offset) { offset in
                isSame(reader.line(at: offset), as: batch.text(of: entry), platform: entry.platform, exactly: isExact)
            }
            guard isNew else {
                duplicates += 1
                skip(entry.line)
                continue
            }
            do throws(AudienceFormat.Fault) {
                if try parts?.add(batch.text(of: entry), kind: kind, platform: entry.platform) == true { count(parts) }
                names += 1
            } catch {
                note(error, line: entry.line)
            }
        }
        batch.removeAll()
    }

    private mutating func note(_ fault: AudienceFormat.Fault, line number: Int) {
        faultCount += 1
        skip(number)
        guard faults.count < Self.maximumFaults else { return }
        faults.append(InputFault(place: "\(path):\(number)", message: fault.message))
    }

    private mutating func count(_ parts: AudienceParts?) {
        self.parts += 1
        calls += parts?.callCount ?? 0
        largestAudience = max(largestAudience, parts?.ownByteCount ?? 0)
    }

    private mutating func skip(_ number: Int) { skipped[number / 64] |= 1 << UInt64(number % 64) }

    private static func salt(_ format: AudienceFormat, _ kind: AudienceFormat.Kind) -> UInt8 {
        kind == .handles ? format.platform.rawValue : .max
    }

    /// True if an earlier line holds the same: tags in whatever case, others byte for byte. Users' names that are no tags are among the
    /// others, and so are handles, which all have their form.
    private func isSame(_ line: [UInt8], as left: Span<UInt8>, platform: Platform, exactly isExact: Bool) -> Bool {
        var other = format
        guard (try? other.read(line.span)) == true, kind != .handles || other.platform == platform else { return false }
        let ignoresCase = kind != .handles && !isExact
        let right = other.text.span
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] {
            let letter = left[index] | 0x20
            guard ignoresCase, left[index] ^ right[index] == 0x20, (0x61...0x7A).contains(letter) else { return false }
        }
        return true
    }

    /// Refuses an audience that cannot be sent to. Lines at fault are no reason.
    package func check(for request: PushRequest) throws(JobFailure) {
        guard names > 0 else { throw .room(AudienceFailure.noRecipient(path: path)) }
        if kind == .names(.categories), let hubs = spread?.hubs { throw .room(AudienceFailure.sharedCategories(hubs: hubs)) }
        guard kind != .handles || request.template == nil else { throw .room(AudienceFailure.handlesWithTemplate) }
        let limit = ParentRecord.maximumChunks
        guard parts <= limit else { throw .room(AudienceFailure.manyParts(count: parts, limit: limit)) }
    }
}

extension FanOutPlanner {
    /// Parts for the content of a file.
    func parts(of kind: AudienceFormat.Kind, for request: PushRequest, over spread: HubSpread?) -> AudienceParts {
        switch kind {
        case .names(let names): parts(of: names, for: request, over: spread)
        case .handles: partsOfHandles(over: spread)
        }
    }
}

extension AudienceParts {
    /// Adds the content of a line. Returns whether a part is complete with it.
    mutating func add(_ format: AudienceFormat) throws(AudienceFormat.Fault) -> Bool {
        try add(format.text.span, kind: format.kind, platform: format.platform)
    }

    /// Adds a name, or a platform's handle. Returns whether a part is complete with it.
    mutating func add(
        _ text: Span<UInt8>, kind: AudienceFormat.Kind?, platform: Platform
    ) throws(AudienceFormat.Fault) -> Bool {
        do throws(RequestFault) {
            return kind == .handles ? try add(text, of: platform) : try add(text)
        } catch {
            throw AudienceFormat.Fault(message: error.message)
        }
    }
}
