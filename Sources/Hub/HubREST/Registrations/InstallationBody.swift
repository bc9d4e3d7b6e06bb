internal import PushModel

extension Installation {
    /// The most bytes that are read of one installation.
    public static let maximumByteCount = 256 << 10

    /// The hub's word for never.
    private static let never = "9999-12-31T23:59:59"

    /// Reads the body of a 200 to `GET /installations/{id}`: JSON, whatever its content type says (page HubProtocol,
    /// "Where the sources differ").
    ///
    /// Undocumented members are passed over.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - id: The id that was asked for.
    /// - Throws: ``RegistrationFault`` for anything that is not this installation.
    public init(reading body: Span<UInt8>, id: String) throws(RegistrationFault) {
        guard body.count <= Self.maximumByteCount else { throw .tooLarge }
        var document = JSONDocument()
        do { try document.read(body) } catch { throw .malformed }
        guard document.kind(of: document.root) == .object else { throw .otherDocument }
        if let named = try Self.text("installationId", in: document), named.lowercased() != id.lowercased() {
            throw .unexpected("installationId")
        }
        guard let word = try Self.text("platform", in: document), let platform = InstallationPlatform(word: word) else {
            throw .unexpected("platform")
        }
        self.init(id: id, platform: platform, pushChannel: try Self.channel(in: document), tags: try Self.tags(in: document))
        // The pages print `userID`, the wire has `userId`.
        let documented = try Self.text("userID", in: document)
        userID = try Self.text("userId", in: document) ?? documented
        templates = try Self.object("templates", in: document)
        secondaryTiles = try Self.object("secondaryTiles", in: document)
        pushVariables = try Self.object("pushVariables", in: document)
        expirationTime = try Self.text("expirationTime", in: document).flatMap { $0.hasPrefix(Self.never) ? nil : $0 }
        isChannelExpired =
            Self.isTrue("pushChannelExpired", in: document) || Self.isTrue("expiredPushChannel", in: document)
    }

    /// Appends the body of `PUT /installations/{id}`.
    func write(to writer: inout ByteWriter) {
        writer.append("{\"installationId\":", json: id)
        writer.append(",\"platform\":", json: platform.word)
        writer.append(",\"pushChannel\":")
        if platform == .known(.browser), let channel = JSONObjectText(pushChannel) {
            writer.append(channel.text)
        } else {
            writer.append(json: pushChannel)
        }
        if !tags.isEmpty {
            writer.append(",\"tags\":[")
            writer.append(list: tags) { $0.append(json: $1) }
            writer.append("]")
        }
        writer.append(",\"userId\":", json: userID)
        writer.append(",\"expirationTime\":", json: expirationTime)
        let objects: [(StaticString, JSONObjectText?)] = [
            (",\"templates\":", templates), (",\"secondaryTiles\":", secondaryTiles), (",\"pushVariables\":", pushVariables),
        ]
        for case (let name, let object?) in objects {
            writer.append(name)
            writer.append(object.text)
        }
        writer.append("}")
    }

    /// A member that is there and not null.
    private static func member(_ name: StaticString, in document: JSONDocument) -> JSONDocument.Node? {
        guard let node = document.member(name, of: document.root), document.kind(of: node) != .null else { return nil }
        return node
    }

    private static func text(_ name: StaticString, in document: JSONDocument) throws(RegistrationFault) -> String? {
        guard let node = member(name, in: document) else { return nil }
        guard document.kind(of: node) == .string else { throw .unexpected("\(name)") }
        return document.string(document.text(of: node))
    }

    private static func object(_ name: StaticString, in document: JSONDocument) throws(RegistrationFault) -> JSONObjectText? {
        guard let node = member(name, in: document) else { return nil }
        guard document.kind(of: node) == .object else { throw .unexpected("\(name)") }
        return JSONObjectText(ofObject: document.string(document.text(of: node)))
    }

    /// The handle: a string, or the object that browsers have.
    private static func channel(in document: JSONDocument) throws(RegistrationFault) -> String {
        guard let node = member("pushChannel", in: document) else { throw .unexpected("pushChannel") }
        let kind = document.kind(of: node)
        let text = document.string(document.text(of: node))
        guard kind == .string || kind == .object, !text.isEmpty else { throw .unexpected("pushChannel") }
        return text
    }

    private static func tags(in document: JSONDocument) throws(RegistrationFault) -> [String] {
        guard let list = member("tags", in: document) else { return [] }
        guard document.kind(of: list) == .array else { throw .unexpected("tags") }
        var tags: [String] = []
        var children = document.children(of: list)
        while let child = children.next(in: document) {
            guard document.kind(of: child.value) == .string else { throw .unexpected("tags") }
            tags.append(document.string(document.text(of: child.value)))
        }
        return tags
    }

    private static func isTrue(_ name: StaticString, in document: JSONDocument) -> Bool {
        member(name, in: document).map { document.kind(of: $0) == .true } ?? false
    }
}
