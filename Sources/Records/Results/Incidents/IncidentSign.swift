/// A sign of trouble in one second: what is out or held to a rate, and how much waits for it.
package struct IncidentSign: Sendable, Equatable {
    /// The kind and the name of what is in trouble.
    package struct Subject: Sendable, Hashable {
        /// The kind of the incident that it is a sign of.
        package let kind: Incident.Kind
        /// The name of the hub, worker, tenant or source. Empty for what there is once.
        package let name: String

        /// A subject of a kind.
        package init(_ kind: Incident.Kind, of name: String = "") { (self.kind, self.name) = (kind, Incident.cut(name)) }
    }

    /// The kind and the name.
    package let subject: Subject
    /// The requests that wait for it.
    package var waiting = 0
    /// The cause in the words of whoever noticed it.
    package var cause: String?

    /// A sign of trouble of a subject.
    package init(_ subject: Subject, waiting: Int = 0, cause: String? = nil) {
        (self.subject, self.waiting, self.cause) = (subject, waiting, cause.map(Incident.cut))
    }
}
