import Console
import Foundation

/// The JSON form of a report.
struct ReportFile: Codable {
    var report: BenchReport
    var comparison: Comparison?

    /// Reads the report of an earlier run. A usage failure names the flag and the file.
    static func read(_ path: String, flag: String = "compare") throws(CommandFailure) -> BenchReport {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            throw .usage("--\(flag): the file '\(path)' cannot be read")
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do { return try decoder.decode(ReportFile.self, from: data).report } catch {
            throw .usage("--\(flag): the file '\(path)' holds no report", hint: "`pushfan bench -o json >FILE` writes one")
        }
    }

    /// A value as JSON for people and programs: in order, indented.
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
