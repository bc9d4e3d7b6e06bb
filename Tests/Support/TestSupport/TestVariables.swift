import Foundation

/// The variables `PUSHFAN_TEST_…` that tests go by. An empty one counts as none.
public enum TestVariables {
    /// The bootstrap servers of a real Kafka, or nil for none: `PUSHFAN_TEST_KAFKA`.
    public static let kafka = value(of: "KAFKA")

    /// The value of the variable that ends so, or nil for none.
    static func value(of name: String, in environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        environment["PUSHFAN_TEST_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
    }
}
