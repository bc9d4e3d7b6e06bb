/// A push service's report of a device that it refused ("Push Notification System feedback").
struct PNSFeedback: Sendable {
    /// Milliseconds since 1970.
    let at: Int64
    let outcome: String
    let platform: HubPlatform
    let handle: String
    let registrationID: String
    let installationID: String?
    let notificationID: String

    /// The month, day and year with which the name of the feedback's blob begins.
    var day: String {
        let compact = Moment(milliseconds: at).compact
        return String(compact.dropFirst(4).prefix(4) + compact.prefix(4))
    }

    /// One XML document a line, each declaring an encoding that it does not have, as the service's do.
    static func document(_ feedback: [PNSFeedback]) -> [UInt8] {
        feedback.flatMap { $0.xml + [UInt8(ascii: "\n")] }
    }

    private var xml: [UInt8] {
        let namespaces = [("xmlns:i", XMLWriter.schemaInstance), ("xmlns", XMLWriter.serviceBus)]
        return XMLWriter.document(encoding: "utf-16") { writer in
            writer.element("PnsFeedback", attributes: namespaces) { writer in
                writer.element("FeedbackTime", text: Moment(milliseconds: at).dotNet)
                writer.element("NotificationSystemError", text: outcome)
                writer.element("Platform", text: platform.installationName.lowercased())
                writer.element("PnsHandle", text: handle)
                if !registrationID.isEmpty { writer.element("RegistrationId", text: registrationID) }
                if let installationID { writer.element("InstallationId", text: installationID) }
                writer.element("NotificationId", text: notificationID)
            }
        }
    }
}
