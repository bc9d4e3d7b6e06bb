/// The facts of the running program, for `pushfan_build_info`.
public struct BuildFacts: Sendable {
    /// The program's version.
    public let version: String
    /// The commit it was made from, or `unknown`.
    public let commit: String
    /// The compiler's version.
    public let swift: String

    /// Names a build by the versions of program and compiler, and its commit.
    public init(version: String, commit: String = "unknown", swift: String) {
        self.version = version
        self.commit = commit
        self.swift = swift
    }
}

/// The process's own figures, under the names that Prometheus client libraries share
/// (prometheus.io/docs/instrumenting/writing_clientlibs, "Process metrics"). A figure that is not known is nil and not written.
public struct ProcessReadings: Sendable {
    /// 1 where `/readyz` passes, else 0.
    public var readiness: Double?
    /// The seconds for which no broker has answered, 0 while one does.
    public var kafkaUnreachableSeconds: Double?
    /// Processor time used, user and system, in seconds.
    public var cpuSeconds: Double?
    /// Memory held in RAM, in bytes.
    public var residentMemoryBytes: Double?
    /// Open file descriptors.
    public var openFileDescriptors: Double?
    /// File descriptors that may be open.
    public var maximumFileDescriptors: Double?
    /// The start of the process, in seconds since 1970.
    public var startTimeSeconds: Double?

    /// Nothing is known yet.
    public init() {}
}
