/// A bulk export or import of registrations.
package struct HubJob: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case export = "ExportRegistrations"
        case create = "ImportCreateRegistrations"
        case update = "ImportUpdateRegistrations"
        case delete = "ImportDeleteRegistrations"
    }

    package enum Status: String, Sendable {
        case started = "Started"
        case completed = "Completed"
        case failed = "Failed"
    }

    package let id: String
    package let kind: Kind
    package let outputContainer: String
    package let importFile: String?
    /// Milliseconds since 1970.
    package let createdAt: Int64
    package var status = Status.started
    /// The reason for which it failed as a whole.
    package var failure: String?
    /// Names in the output container: of the lines that were done, and of those that were not.
    package var outputName: String?
    package var failedName: String?

    package init(id: String, kind: Kind, outputContainer: String, importFile: String?, createdAt: Int64) {
        (self.id, self.kind, self.outputContainer) = (id, kind, outputContainer)
        (self.importFile, self.createdAt) = (importFile, createdAt)
    }

    /// Reads a job that a client submits, or refuses it with 400.
    package static func read(_ body: [UInt8], id: String, at now: Int64) throws(RefusedCall) -> HubJob {
        guard let entry = Markup.read(body) else { throw .invalid("The body is not well-formed XML") }
        guard entry.name == "entry", entry.namespace == XMLWriter.atom,
            let job = entry.child("content")?.child("NotificationHubJob"),
            job.namespace == XMLWriter.serviceBus
        else { throw .invalid("The body is not an Atom entry with a NotificationHubJob in its namespace") }
        guard let kind = job.value("Type").flatMap(Kind.init(rawValue:)) else {
            let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("The element Type is missing or not one of \(names)")
        }
        let (output, input) = (job.value("OutputContainerUri"), job.value("ImportFileUri"))
        guard let output, isAbsolute(output) else {
            throw .invalid("The element OutputContainerUri is missing or not an absolute URI of at most \(uriByteCount) bytes")
        }
        guard input.map(isAbsolute) ?? (kind == .export) else {
            throw .invalid("The element ImportFileUri is missing or not an absolute URI of at most \(uriByteCount) bytes")
        }
        return HubJob(id: id, kind: kind, outputContainer: output, importFile: input, createdAt: now)
    }

    /// The longest URI: a thousand jobs are kept, and read in one call.
    private static let uriByteCount = 2048

    private static func isAbsolute(_ uri: String) -> Bool {
        guard uri.utf8.count <= uriByteCount else { return false }
        return uri.lowercased().hasPrefix("http://") || uri.lowercased().hasPrefix("https://")
    }
}

/// Writes jobs as Atom entries and feeds. The .NET client depends on the order of a job's elements.
package struct JobWriter {
    private static let arrays = "http://schemas.microsoft.com/2003/10/Serialization/Arrays"

    package let call: HubCall

    package func entry(_ job: HubJob) -> [UInt8] { XMLWriter.document { write(job, to: &$0) } }

    package func feed(_ jobs: [HubJob]) -> [UInt8] {
        XMLWriter.document { writer in
            writer.element("feed", attributes: [("xmlns", XMLWriter.atom)]) { writer in
                writer.element("title", attributes: [("type", "text")], text: "Jobs")
                writer.element("id", text: call.link("jobs"))
                writer.element("updated", text: call.moment.rfc3339)
                for job in jobs { write(job, to: &writer) }
            }
        }
    }

    private func write(_ job: HubJob, to writer: inout XMLWriter) {
        let written = Moment(milliseconds: job.createdAt)
        writer.element("entry", attributes: [("xmlns", XMLWriter.atom)]) { writer in
            writer.element("id", text: call.link("jobs/" + job.id))
            writer.element("title", attributes: [("type", "text")], text: job.id)
            writer.element("published", text: written.rfc3339)
            writer.element("updated", text: written.rfc3339)
            writer.element("content", attributes: [("type", "application/xml")]) { describe(job, at: written, in: &$0) }
        }
    }

    private func describe(_ job: HubJob, at written: Moment, in writer: inout XMLWriter) {
        let attributes = [("xmlns", XMLWriter.serviceBus), ("xmlns:i", XMLWriter.schemaInstance)]
        writer.element("NotificationHubJob", attributes: attributes) { writer in
            writer.element("JobId", text: job.id)
            writer.element("Progress", text: job.status == .completed ? "100" : "0")
            writer.element("Type", text: job.kind.rawValue)
            writer.element("Status", text: job.status.rawValue)
            writer.element("OutputContainerUri", text: job.outputContainer)
            if let file = job.importFile { writer.element("ImportFileUri", text: file) }
            if let failure = job.failure { writer.element("Failure", text: failure) }
            let files = [("OutputFilePath", job.outputName), ("FailedFilePath", job.failedName)]
            if files.contains(where: { $0.1 != nil }) {
                // Clients of Java and JavaScript look for this very prefix.
                writer.element("OutputProperties", attributes: [("xmlns:d3p1", Self.arrays)]) { writer in
                    for case (let name, let path?) in files {
                        writer.element("d3p1:KeyValueOfstringstring") { writer in
                            writer.element("d3p1:Key", text: name)
                            writer.element("d3p1:Value", text: path)
                        }
                    }
                }
            }
            writer.element("CreatedAt", text: written.dotNet)
            writer.element("UpdatedAt", text: written.dotNet)
        }
    }
}
