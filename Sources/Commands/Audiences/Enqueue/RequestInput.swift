import Basics
import PushModel

/// Takes requests out of files: one JSON object, an array of objects, or one object a line.
package enum RequestInput {
    /// Checks every request in a file.
    package static func read(_ bytes: [UInt8], named name: String, into checker: inout RequestChecker) {
        let content = Array(bytes.withoutByteOrderMark)
        var document = JSONDocument()
        do throws(JSONError) {
            try document.read(content.span)
        } catch {
            readLines(content, named: name, into: &checker)
            return
        }
        guard document.kind(of: document.root) == .array else { return checker.check(content, at: name) }
        var elements = document.children(of: document.root)
        var number = 0
        while let (_, element) = elements.next(in: document) {
            number += 1
            checker.check(text(of: element, in: document), at: "\(name), request \(number)")
        }
        if number == 0 { checker.add(InputFault(place: name, message: "There is no request in it.")) }
    }

    /// Several values one after another are taken a line each, or value by value where a value has several lines.
    private static func readLines(
        _ content: [UInt8], named name: String, into checker: inout RequestChecker
    ) {
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let given = lines.enumerated().filter { $0.element.contains { $0 > 0x20 } }
        guard given.count > 1, isComplete(given[0].element) else {
            return readSequence(content[...], named: name, into: &checker)
        }
        for (index, line) in given {
            check(Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line), named: name, at: index + 1, into: &checker)
        }
    }

    /// The boundary between two values comes from the reader. After something that is no JSON it is unknown.
    private static func readSequence(_ content: ArraySlice<UInt8>, named name: String, into checker: inout RequestChecker) {
        var rest = content
        var line = 1
        var document = JSONDocument()
        while true {
            line += rest.prefix { $0 <= 0x20 }.count { $0 == UInt8(ascii: "\n") }
            rest = rest.drop { $0 <= 0x20 }
            do throws(JSONError) {
                try document.read(Array(rest).span)
                return checker.check(Array(rest), at: "\(name):\(line)")
            } catch {
                guard error.reason == .trailingBytes, error.offset > 0 else {
                    let place = JSONError(reason: error.reason, offset: rest.startIndex + error.offset, pointer: error.pointer)
                    return checker.add(InputFault(place, in: Array(content), named: name, from: 1))
                }
                let value = rest.prefix(error.offset)
                checker.check(Array(value), at: "\(name):\(line)")
                line += value.count { $0 == UInt8(ascii: "\n") }
                rest = rest.dropFirst(error.offset)
            }
        }
    }

    private static func check(_ line: [UInt8], named name: String, at number: Int, into checker: inout RequestChecker) {
        var document = JSONDocument()
        do throws(JSONError) {
            try document.read(line.span)
        } catch {
            return checker.add(InputFault(error, in: line, named: name, from: number))
        }
        checker.check(line, at: "\(name):\(number)")
    }

    private static func isComplete(_ line: ArraySlice<UInt8>) -> Bool {
        var document = JSONDocument()
        do { try document.read(Array(line).span) } catch { return false }
        return true
    }

    private static func text(of node: JSONDocument.Node, in document: borrowing JSONDocument) -> [UInt8] {
        guard document.kind(of: node) != .string else { return JSONObject.text(document.string(document.text(of: node))) }
        return Array(document.string(document.text(of: node)).utf8)
    }
}
