/// Writes the telemetry of one notification. .NET's reader skips elements that are out of order, so it is the order of its
/// contract.
struct TelemetryWriter {
    private static let beforeDetails: [HubPlatform] = [.apple, .windowsphone, .windows, .gcm, .adm]
    private static let behindDetails: [HubPlatform] = [.fcmv1, .baidu, .browser, .xiaomi]

    let telemetry: MessageTelemetry
    /// `sb://host/hub/messages/{id}?…`
    let location: String
    /// The address of the list of refused devices, for api-versions that know it.
    let errorDetailsURI: String?

    var xml: [UInt8] {
        let namespaces = [("xmlns", XMLWriter.serviceBus), ("xmlns:i", XMLWriter.schemaInstance)]
        return XMLWriter.document { writer in
            writer.element("NotificationDetails", attributes: namespaces) { writer in
                writer.element("NotificationId", text: telemetry.id)
                writer.element("Location", text: location)
                writer.element("State", text: telemetry.shown.state)
                writer.element("EnqueueTime", text: Moment(milliseconds: telemetry.queuedAt).dotNet)
                if let time = telemetry.shown.startedAt { writer.element("StartTime", text: Moment(milliseconds: time).dotNet) }
                if let time = telemetry.shown.endedAt { writer.element("EndTime", text: Moment(milliseconds: time).dotNet) }
                writer.element("NotificationBody", text: String(decoding: telemetry.body ?? [], as: UTF8.self))
                if let tags = telemetry.tags { writer.element("Tags", text: tags) }
                writer.element("TargetPlatforms", text: telemetry.targetPlatforms)
                for platform in Self.beforeDetails { writeCounts(of: platform, to: &writer) }
                if let errorDetailsURI { writer.element("PnsErrorDetailsUri", text: errorDetailsURI) }
                for platform in Self.behindDetails { writeCounts(of: platform, to: &writer) }
            }
        }
    }

    private func writeCounts(of platform: HubPlatform, to writer: inout XMLWriter) {
        let entries = telemetry.shown.counts.entries.filter { $0.platform == platform }
        guard !entries.isEmpty else { return }
        writer.element(platform.countsElement) { writer in
            for entry in entries {
                writer.element("Outcome") { writer in
                    writer.element("Name", text: entry.name)
                    writer.element("Count", text: String(entry.count))
                }
            }
        }
    }
}
