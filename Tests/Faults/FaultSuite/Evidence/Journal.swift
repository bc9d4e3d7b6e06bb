import FaultOracle
import Foundation

/// The hub's own record: one line per call.
enum Journal {
    /// Reads the calls of a journal; a last line that was cut is left out.
    ///
    /// - Throws: The file cannot be read, or a line before the last is no call.
    static func calls(at path: String) throws -> [CallFact] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SuiteError.failed("the hub's journal \(path) cannot be read")
        }
        var reader = FactReader()
        var calls: [CallFact] = []
        let lines = data.split(separator: UInt8(ascii: "\n"))
        for (index, line) in lines.enumerated() {
            let bytes = Array(line)
            if let call = reader.call(bytes.span) {
                calls.append(call)
            } else if index < lines.count - 1 {
                throw SuiteError.failed("line \(index + 1) of \(path) is no call")
            }
        }
        return calls
    }
}
