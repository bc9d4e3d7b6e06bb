/// Turns the lines of an import into writes.
///
/// A line that has the tag of an installation becomes a part of that installation, so that it is one again after it was exported.
package struct RegistrationImport: Sendable {
    /// A line that was read.
    package struct Line: Sendable {
        package let number: Int
        /// Its content, or the reason for which it has none.
        fileprivate let content: Result<Content, RefusedCall>

        /// The reason for which it cannot be carried out, whatever devices there are.
        package var fault: RefusedCall? { if case .failure(let fault) = content { fault } else { nil } }
    }

    fileprivate struct Content: Sendable {
        /// The id of the registration that it changes or removes.
        var id: String?
        /// Nil for a removal.
        var registration: Registration?
        var expirationTime: String?
    }

    /// The outcome of a line.
    package struct Outcome: Sendable {
        package let number: Int
        /// The registration as it is then, or as it was. Or the reason for which nothing changed.
        package let result: Result<Registration, RefusedCall>
    }

    /// The first time of the year 9999, with which the service says never. Milliseconds since 1970.
    private static let never: Int64 = 253_370_764_800_000

    private let kind: HubJob.Kind
    private let time: Int64

    /// An import.
    ///
    /// - Parameters:
    ///   - kind: `create`, `update` or `delete`.
    ///   - now: The time of the writes, in milliseconds since 1970.
    package init(_ kind: HubJob.Kind, at now: Int64) { (self.kind, time) = (kind, now) }

    /// Reads a line.
    package func read(_ line: JobLines.Line) -> Line {
        let content: Result<Content, RefusedCall>
        do throws(RefusedCall) { content = .success(try self.content(of: line)) } catch { content = .failure(error) }
        return Line(number: line.number, content: content)
    }

    /// Carries out lines, one behind the other. A line that is not right changes nothing, and the others count.
    ///
    /// - Parameters:
    ///   - lines: The lines of a portion.
    ///   - book: The devices, in a change.
    ///   - makeID: Makes ids of registrations.
    /// - Returns: One outcome for each.
    /// - Throws: 503. The change must be taken back then.
    package func perform(
        _ lines: [Line], on book: any DeviceBook, makeID: () -> String
    ) throws(RefusedCall) -> [Outcome] {
        var outcomes: [Outcome] = []
        for line in lines {
            do throws(RefusedCall) {
                let registration = try perform(line.content.get(), on: book, makeID: makeID)
                outcomes.append(Outcome(number: line.number, result: .success(registration)))
            } catch {
                guard error.answer.status < 500 else { throw error }
                outcomes.append(Outcome(number: line.number, result: .failure(error)))
            }
        }
        return outcomes
    }

    private func content(of line: JobLines.Line) throws(RefusedCall) -> Content {
        guard let bytes = line.bytes else {
            throw .invalid("The line is longer than \(JobLines.maximumByteCount) bytes")
        }
        guard let description = Markup.read(bytes) else { throw .invalid("The line is not well-formed XML") }
        var content = Content()
        if kind != .create {
            guard let id = description.value("RegistrationId") else {
                throw .invalid("The element RegistrationId is missing or empty")
            }
            content.id = id
        }
        guard kind != .delete else { return content }
        content.registration = try RegistrationReader.read(description)
        content.expirationTime = description.value("ExpirationTime").flatMap { text in
            Moment(reading: text).flatMap { $0.milliseconds < Self.never ? text : nil }
        }
        return content
    }

    private func perform(
        _ content: Content, on book: any DeviceBook, makeID: () -> String
    ) throws(RefusedCall) -> Registration {
        var existing: Registration?
        if let id = content.id {
            existing = try book.registration(id)
            guard existing != nil else { throw Self.noRegistration }
        }
        guard var registration = content.registration else {
            guard let existing else { throw Self.noRegistration }
            try Self.remove(existing, from: book)
            return existing
        }
        if let part = InstallationPart(registration, expirationTime: content.expirationTime),
            existing.map({ $0.installationID == part.installationID }) ?? true,
            let written = try part.write(on: book, at: time, isUpdate: existing != nil, makeID: makeID)
        {
            return written
        }
        if existing == nil { existing = Self.equal(of: registration, in: book) }
        registration.id = existing?.id ?? makeID()
        registration.etag = (existing?.etag ?? 0) + 1
        registration.writtenAt = time
        try book.checkRoom(for: [registration])
        try book.write(registration)
        return registration
    }

    /// The registration of its own that says the same. An import that is repeated writes it again.
    private static func equal(of registration: Registration, in book: any DeviceBook) -> Registration? {
        // A device of which something cannot be read gets one more. A store that does not answer refuses the write, too.
        let others = try? book.registrations(of: registration.deviceKey)
        return others?.first { $0.installationID == nil && $0.isEqual(to: registration) }
    }

    /// Removes a registration, and with the last of an installation the installation.
    private static func remove(_ registration: Registration, from book: any DeviceBook) throws(RefusedCall) {
        try book.removeRegistration(registration.id)
        guard let id = registration.installationID, let installation = try book.installation(id) else { return }
        for device in Set(installation.registrations(makeID: { "" }).map(\.deviceKey)) {
            guard try book.registrations(of: device).allSatisfy({ $0.installationID != id }) else { return }
        }
        try book.removeInstallation(id)
    }

    private static var noRegistration: RefusedCall {
        RefusedCall(404, detail: "There is no registration with this RegistrationId")
    }
}
