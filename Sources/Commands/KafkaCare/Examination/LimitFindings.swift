package import EventLoop

/// Findings about the limits of this machine.
package enum LimitFindings {
    /// Judges the limit of open descriptors here. A worker raises its limit as far as it may, and one that is started otherwise,
    /// by systemd or in a container, may have another.
    package static func of(_ limit: DescriptorLimit?, needed: Int) -> Finding {
        let need = "a worker with these settings needs up to \(needed)"
        guard let limit else { return .unasked("limits", of: "descriptors", text: "the system does not say; \(need)") }
        guard limit.hard < needed else {
            return .ok("limits", of: "descriptors", text: "\(limit.hard) may be open in a process started here; \(need)")
        }
        return .warning(
            "limits", of: "descriptors", text: "only \(limit.hard) may be open in a process started here; \(need)",
            mend: "ulimit -Hn \(needed), or LimitNOFILE=\(needed) in the worker's unit")
    }
}
