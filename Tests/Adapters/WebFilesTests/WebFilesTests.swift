import Foundation
import Gzip
import TestSupport
import Testing

@testable import WebFiles

/// The files of the web page, and the things that may be in them.
@Suite(.tags(.c)) struct WebFilesTests {
    private static let folder = Repository.root.appendingPathComponent("Sources/C/CWebFiles/files")

    @Test func theListHasEachFileOfTheFolderByteForByte() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        let files = try WebFile.all()
        #expect(files.map(\.name).sorted() == names.sorted())
        for file in files {
            #expect(
                try file.plain.bytes == Array(Data(contentsOf: Self.folder.appendingPathComponent(file.name))), "\(file.name)")
        }
    }

    @Test func togetherTheyAreSmall() throws {
        let files = try WebFile.all()
        #expect(files.reduce(0) { $0 + $1.plain.bytes.count } <= 200 << 10)
        #expect(files.reduce(0) { $0 + $1.packed.bytes.count } <= 68 << 10)
    }

    @Test func thePackedFormUnpacksToThePlainOne() throws {
        for file in try WebFile.all() {
            let gunzip = try Gunzip()
            var content: [UInt8] = []
            try gunzip.unpack(file.packed.bytes.span.bytes) { piece in
                piece.withUnsafeBytes { content += $0 }
                return true
            }
            #expect(content == file.plain.bytes && gunzip.isComplete, "\(file.name)")
        }
    }

    @Test func eachFormHasATagOfItsOwn() throws {
        let (one, same, other) = (try file("a"), try file("a"), try file("b"))
        // The first half of what `printf a | sha256sum` prints.
        #expect(one.plain.entityTag == "\"ca978112ca1bbdcafac231b39a23dc4d\"")
        #expect(one.plain.entityTag == same.plain.entityTag && one.packed.entityTag == same.packed.entityTag)
        #expect(Set([one.plain, one.packed, other.plain, other.packed].map(\.entityTag)).count == 4)
    }

    private func file(_ text: String) throws -> WebFile { try WebFile(name: "a.js", bytes: Array(text.utf8)) }

    @Test func eachHasAMediaTypeThatABrowserTakes() throws {
        for file in try WebFile.all() { #expect(file.mediaType != "application/octet-stream", "\(file.name)") }
        #expect(
            WebFile.mediaType(of: "a.svg") == "image/svg+xml" && WebFile.mediaType(of: "a.b.js").hasPrefix("text/javascript;"))
        #expect(WebFile.mediaType(of: "a") == "application/octet-stream")
    }

    /// Words that the policy of the page forbids, or that would make text into markup or code.
    private static let forbidden = [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "javascript:", "srcdoc",
        "setAttribute(\"on", "setAttribute(\"style\"",
    ]
    private static let namespace = "http://www.w3.org/2000/svg"

    /// The first thing in a text that must not be there.
    private static func fault(in text: String, isMarkup: Bool) -> String? {
        if let word = forbidden.first(where: text.contains) { return word }
        let rest = text.replacing(namespace, with: "")
        if let match = rest.firstMatch(of: /https?:\/\//.ignoresCase()) { return String(match.output) }
        guard isMarkup else { return nil }
        return text.firstMatch(of: /<[a-z][^<>]*\s(on[a-z]+|style)\s*=/.ignoresCase()).map { String($0.output.1) }
    }

    @Test func nothingInThemRunsTextOrComesFromElsewhere() throws {
        for file in try WebFile.all() {
            let text = String(decoding: file.plain.bytes, as: UTF8.self)
            let fault = Self.fault(in: text, isMarkup: !file.name.hasSuffix(".js"))
            #expect(fault == nil, "\(file.name) has \(fault ?? "")")
        }
    }

    @Test(
        arguments: [
            ("a.innerHTML = b", "innerHTML"), ("eval(a)", "eval("), ("new Function(a)", "new Function"),
            ("<p onclick=\"a()\">", "onclick"), ("<p\n  STYLE = 'a'>", "STYLE"), ("fetch('https://a.example')", "https://"),
            ("<svg xmlns='http://www.w3.org/2000/svg'>", nil), ("<p class=\"one\">on = 1</p>", nil),
            ("p.setAttribute(\"onclick\", a)", "setAttribute(\"on"),
        ] as [(String, String?)])
    func theCheckFindsWhatIsForbidden(text: String, fault: String?) {
        #expect(Self.fault(in: text, isMarkup: true) == fault)
    }
}
