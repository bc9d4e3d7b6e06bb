import EventLoop

extension Surroundings {
    /// The process's own streams, environment and clock.
    public static func process() -> Surroundings {
        let environment = environmentOfProcess()
        return Surroundings(
            streams: .standard(environment: environment), environment: environment, now: WallClock.millisecondsSince1970)
    }

    /// The variables that the process was started with (proc(5), /proc/self/environ). Of two with one name the first counts.
    private static func environmentOfProcess() -> [String: String] {
        guard let bytes = try? InputFile.read("/proc/self/environ") else { return [:] }
        let pairs = bytes.split(separator: 0).compactMap { entry -> (String, String)? in
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return (String(decoding: entry[..<equals], as: UTF8.self), String(decoding: entry[(equals + 1)...], as: UTF8.self))
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
