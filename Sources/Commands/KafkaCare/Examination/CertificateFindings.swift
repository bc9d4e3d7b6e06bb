import JobSupport
package import PushModel

/// Findings about certificates that end soon.
package enum CertificateFindings {
    /// The time before a certificate's end from which on it is warned of, milliseconds: 14 days, as the alert has it.
    private static let notice: Int64 = 14 * 86_400_000

    /// A finding for each that has ended, or ends within 14 days.
    package static func of(_ sources: [CertificateSource], now: Timestamp) -> [Finding] {
        sources.compactMap { source in
            guard let seconds = try? source.end() else { return nil }
            return of(source, end: Timestamp(milliseconds: seconds * 1000), now: now)
        }
    }

    static func of(_ source: CertificateSource, end: Timestamp, now: Timestamp) -> Finding? {
        let left = end.milliseconds(since: now)
        let remedy =
            "put a new certificate where \(source.setting) names it" + (source.use == .hubAuthority ? ", and reload" : "")
        guard left > 0 else {
            return .failure(
                "tls", of: source.setting, text: "the certificate ended at \(end.text)", mend: remedy, cause: .configuration)
        }
        guard left < notice else { return nil }
        let days = Counted.text(left / 86_400_000, "day", "days")
        return .warning("tls", of: source.setting, text: "the certificate ends at \(end.text), in \(days)", mend: remedy)
    }
}
