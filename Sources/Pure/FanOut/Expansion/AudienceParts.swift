public import PushModel

/// The parts of an audience that comes name by name, or handle by handle, and is too long to be held. No more than one part is held, or
/// one of each platform, for each hub.
///
/// ```
/// var parts = planner.parts(of: .users, for: request)
/// while let name = readName() {
///     if try parts.add(name) { write(parts.audience, parts.chunk) }
/// }
/// while parts.finish() { write(parts.audience, parts.chunk) }
/// ```
///
/// The same names in the same order give the same parts. Names that stand there twice are the caller's to leave out: in two parts
/// they would ring twice.
public struct AudienceParts: Sendable {
    /// The elements of a part that is being filled.
    private struct Part: Sendable {
        var json = ByteWriter()
        var count = 0

        /// Adds a device by the form of its handle.
        mutating func add(_ handle: ByteWriter, of platform: Platform) {
            json.append(count == 0 ? "{\"platform\":" : ",{\"platform\":", word: platform.name)
            json.append(",\"handle\":", json: handle.span)
            json.append("}")
            count += 1
        }

        mutating func removeAll() {
            json.removeAll()
            count = 0
        }
    }

    /// The most bytes of a part's handles, so that it stays a request that a worker reads.
    private static let maximumByteCount = 256 << 10

    private let kind: StaticString
    /// The pattern that names are put into, or nil for handles.
    private let pattern: TagPattern?
    private let maximumCount: Int
    /// The names of one call, and the calls that each of them becomes.
    private let namesPerCall: Int
    private let callsPerPiece: Int
    /// The hubs that share the audience, or nil for one hub.
    private let spread: HubSpread?
    /// For each hub, and there for each platform, the handles that wait. Names wait in the hub's only one.
    private var filling: [Part]
    private let fillingPerHub: Int
    private var complete = Part()
    /// The form of the handle that is added.
    private var form = ByteWriter()

    /// The number of the complete part, from 0.
    public private(set) var chunk = -1
    /// The hub of the complete part, or nil for that of the whole.
    public private(set) var hub: String?

    init(_ kind: StaticString, pattern: TagPattern, piecesPerPart: Int, callsPerPiece: Int, over spread: HubSpread?) {
        self.kind = kind
        self.pattern = pattern
        self.spread = spread
        self.callsPerPiece = callsPerPiece
        namesPerCall = TagExpression.maxTagsJoinedByOr
        maximumCount = piecesPerPart * namesPerCall
        fillingPerHub = 1
        filling = Self.parts(of: spread, count: 1)
    }

    private static func parts(of spread: HubSpread?, count: Int) -> [Part] {
        [Part](repeating: Part(), count: count * max(1, spread?.hubs.count ?? 1))
    }

    /// Parts of handles, each for one call.
    init(over spread: HubSpread?) {
        kind = "devices"
        pattern = nil
        self.spread = spread
        callsPerPiece = 1
        namesPerCall = FanOutPlanner.maximumHandlesPerBatch
        maximumCount = namesPerCall
        fillingPerHub = Platform.allCases.count
        filling = Self.parts(of: spread, count: fillingPerHub)
    }

    /// Adds a name.
    ///
    /// - Parameter name: A user's name, which a part has in its form for tags, or an installation's id or a category, which is letters,
    ///   digits and `_ @ # . : -`.
    /// - Returns: Whether a part is complete with it.
    /// - Throws: The fault of a name that makes no tag; nothing is added.
    public mutating func add(_ name: Span<UInt8>) throws(RequestFault) -> Bool {
        guard let pattern else { throw RequestFault(.schemaInvalid, at: "", message: "A handle needs its platform.") }
        let form = try pattern.form(of: name)
        let index = spread?.hub(of: name) ?? 0
        filling[index].json.append(filling[index].count == 0 ? "\"" : ",\"")
        if let form { filling[index].json.append(form.span) } else { filling[index].json.append(name) }
        filling[index].json.append("\"")
        filling[index].count += 1
        guard filling[index].count == maximumCount else { return false }
        take(index)
        return true
    }

    /// True if a name stands in its tag as it is, so that its case does not count: tags are compared without regard to it.
    ///
    /// - Parameter name: A name's bytes, whatever they are.
    /// - Returns: Whether it does. No for handles.
    public func isOwnForm(_ name: Span<UInt8>) -> Bool { UserForm.isOwn(name, longest: pattern?.longestName ?? 0) }

    /// Adds a device.
    ///
    /// - Parameters:
    ///   - handle: A handle, of which the part gets the form (`DeviceToken`).
    ///   - platform: The device's.
    /// - Returns: Whether a part is complete with it.
    /// - Throws: The fault of what is no handle, which it does not repeat; nothing is added.
    public mutating func add(_ handle: Span<UInt8>, of platform: Platform) throws(RequestFault) -> Bool {
        guard pattern == nil else {
            throw RequestFault(.schemaInvalid, at: "", message: "This is an audience of names, not of handles.")
        }
        form.removeAll()
        do throws(DeviceToken.Problem) {
            try DeviceToken.appendNormalForm(of: handle, on: platform, to: &form)
        } catch {
            throw RequestFault(.schemaInvalid, at: "", message: error.description)
        }
        let index = (spread?.hub(of: form.span) ?? 0) * fillingPerHub + Int(platform.rawValue)
        filling[index].add(form, of: platform)
        guard filling[index].count == maximumCount || filling[index].json.count >= Self.maximumByteCount else { return false }
        take(index)
        return true
    }

    /// Completes what is left, for one hub after the other, of handles for one platform after the other. Returns whether there
    /// was anything.
    public mutating func finish() -> Bool {
        guard let rest = filling.firstIndex(where: { $0.count > 0 }) else { return false }
        take(rest)
        return true
    }

    /// The names or handles of the complete part.
    public var count: Int { complete.count }

    /// The calls of the complete part.
    public var callCount: Int { (complete.count + namesPerCall - 1) / namesPerCall * callsPerPiece }

    /// The bytes that the complete part has of its own: its audience, and the name of its hub.
    public var ownByteCount: Int {
        "{\"\":[]}".utf8.count + kind.utf8CodeUnitCount + complete.json.count + (hub?.utf8.count ?? 0)
    }

    /// Writes whom the complete part reaches, as the `audience` of a request.
    public func appendAudience(to json: inout ByteWriter) {
        json.append("{\"")
        json.append(kind)
        json.append("\":[")
        json.append(complete.json)
        json.append("]}")
    }

    /// Makes a part the complete one. The room of the one before is for the next.
    private mutating func take(_ index: Int) {
        complete.removeAll()
        swap(&complete, &filling[index])
        chunk += 1
        hub = spread?.hubs[index / fillingPerHub]
    }
}

extension FanOutPlanner {
    /// The parts of a list of names that is too long to be held.
    ///
    /// - Parameters:
    ///   - kind: What the names are.
    ///   - request: Says what is sent; its own audience does not matter.
    ///   - spread: The hubs that share the names; nil for one hub, and for categories, which several hubs cannot share.
    /// - Returns: Parts without names.
    public func parts(
        of kind: NameKind, for request: borrowing PushRequest, over spread: HubSpread? = nil
    ) -> AudienceParts {
        let calls = request.template == nil ? max(1, platforms(of: request).rawValue.nonzeroBitCount) : 1
        var pieces = Expansion.unitsPerPart(callsPerUnit: calls, maximumCalls: maximumCalls)
        // A request names 200 categories at most.
        if kind == .categories { pieces = min(pieces, 10) }
        let (name, pattern): (StaticString, TagPattern) =
            switch kind {
            case .users: ("users", users)
            case .installations: ("installations", installations)
            case .categories: ("categories", categories)
            }
        return AudienceParts(
            name, pattern: pattern, piecesPerPart: pieces, callsPerPiece: calls, over: kind == .categories ? nil : spread)
    }

    /// The parts of a list of handles that is too long to be held.
    ///
    /// - Parameter spread: The hubs that share them; nil for one hub.
    /// - Returns: Parts without handles.
    public func partsOfHandles(over spread: HubSpread? = nil) -> AudienceParts { AudienceParts(over: spread) }
}
