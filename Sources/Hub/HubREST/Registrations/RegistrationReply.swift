public import HTTP1

/// A hub's answer to a ``RegistrationCall`` that it performs.
public enum RegistrationReply: Sendable, Equatable {
    /// It is written or removed. What was to be removed may not have been there.
    case done
    /// There is no such installation.
    case absent
    /// The installation.
    case installation(Installation)
    /// A page of registrations.
    case page(RegistrationPage)

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - answer: A complete answer.
    ///   - call: The call that it answers.
    ///   - now: Milliseconds since 1970, for a Retry-After that is a date.
    /// - Throws: ``RegistrationFailure`` for an answer that is no success, or cannot be read.
    public init(_ answer: Answer, to call: RegistrationCall, now: Int64) throws(RegistrationFailure) {
        guard !HubAnswer.isPage(answer) else { throw RegistrationFailure(page: answer, now: now) }
        switch (call, answer.status) {
        // 201 and 204 are documented where 200 was recorded, and the other way round (page HubProtocol, "Where the sources differ").
        case (.putInstallation, 200), (.putInstallation, 201), (.putInstallation, 204), (.patchInstallation, 200),
            (.patchInstallation, 204), (.deleteInstallation, 200), (.deleteInstallation, 204), (.deleteRegistration, 200),
            (.deleteRegistration, 204):
            self = .done
        case (.deleteInstallation, 404) where !Self.deniesHub(answer), (.deleteRegistration, 404) where !Self.deniesHub(answer),
            (.deleteRegistration, 410):
            self = .done
        case (.getInstallation, 404) where !Self.deniesHub(answer):
            self = .absent
        case (.getInstallation(let id), 200):
            do throws(RegistrationFault) {
                self = .installation(try Installation(reading: answer.body, id: id))
            } catch {
                throw RegistrationFailure(error, in: answer, now: now)
            }
        case (.patchInstallation, 404) where !Self.deniesHub(answer):
            throw RegistrationFailure(absence: answer, now: now)
        case (.listRegistrations, 200), (.listTagged, 200):
            do throws(RegistrationFault) {
                self = .page(try Self.page(answer))
            } catch {
                throw RegistrationFailure(error, in: answer, now: now)
            }
        default:
            throw RegistrationFailure(refusal: answer, now: now)
        }
    }

    /// True if a 404 means the hub and not what was looked for in it (page HubProtocol, "Error bodies").
    private static func deniesHub(_ answer: Answer) -> Bool {
        answer.string(answer.bodyRange).contains("No service is hosted")
    }

    private static func page(_ answer: Answer) throws(RegistrationFault) -> RegistrationPage {
        let feed = try RegistrationFeed(reading: answer.body)
        guard let text = answer.string(of: "x-ms-continuationtoken"), !text.isEmpty else {
            return RegistrationPage(registrations: feed.registrations)
        }
        guard let next = RegistrationPage.Token(text) else { throw .token }
        return RegistrationPage(registrations: feed.registrations, next: next)
    }
}
