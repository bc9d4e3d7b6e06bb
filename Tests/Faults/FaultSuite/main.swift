import Foundation
import Glibc

Housekeeping.shared.catchSignals()
let code: Int32
do {
    let options = try SuiteOptions(Array(CommandLine.arguments.dropFirst()))
    if options.lists {
        Suite.list()
        code = 0
    } else {
        code = try Suite(options).run() ? 0 : 1
    }
} catch SuiteError.usage(let reason) {
    FileHandle.standardError.write(Data("pushfan-faults: \(reason)\n\(SuiteOptions.usage)\n".utf8))
    code = 2
} catch SuiteError.missing(let reason) {
    FileHandle.standardError.write(Data("pushfan-faults: \(reason)\n".utf8))
    code = 69
} catch {
    FileHandle.standardError.write(Data("pushfan-faults: \(error)\n".utf8))
    code = 1
}
Housekeeping.shared.endAll()
exit(code)
