import Crypto
import Foundation
import Glibc
import EventLoop
import Keys
import TestSupport
import Testing

@Suite(.tags(.c)) struct KeysFileTests {
    private static let hash = String(repeating: "0a", count: 32)
    private static let good = "id=k3v9x2ab sha256=\(hash) scopes=publish created=1000"

    private func read(_ text: String) throws(KeysFileError) -> KeysFile { try KeysFile(Array(text.utf8)) }

    @Test(arguments: ["", "\n", "\r\n\r\n", "\u{FEFF}"]) func aFileWithoutLinesHasNoKeys(_ text: String) throws {
        #expect(try read(text).keys.isEmpty)
    }

    @Test(arguments: ["\n", "\r\n", "\n\n", ""]) func everyEndOfLineIsTaken(_ end: String) throws {
        #expect(try read(Self.good + end).keys.map(\.id) == ["k3v9x2ab"])
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let plain = try newKey()
        let full = try newKey(at: 0) {
            $0.scopes = Set(Scope.allCases)
            $0.tenant = "acme.eu_1-x"
            $0.source = "https://shop.example/orders?a=b"
            $0.rate = 50
            $0.expiresAt = KeyTerms.moments.upperBound
            $0.comment = "shop = order service, 지은 rate=7"
        }
        var file = try file(plain, full)
        _ = file.revoke(plain.key.id, at: 2000)
        let again = try KeysFile(file.bytes)
        #expect(again == file && again.count == 2)
        #expect(again[full.key.id] == full.key && again[full.key.id]?.source == "https://shop.example/orders?a=b")
        #expect(again[plain.key.id]?.revokedAt == 2000 && again[plain.key.id]?.source == "/pushfan/keys/\(plain.key.id)")
        #expect(again["00000000"] == nil)
        let text = String(decoding: file.bytes, as: UTF8.self)
        for key in [plain, full] { #expect(!text.contains(key.text.suffix(43))) }
    }

    @Test(
        arguments: [
            ("hunter2", "line 2: this is no `NAME=VALUE`"), ("hunter2=1", "line 2: this is no `NAME=VALUE`"),
            ("GOOD  tenant=a", "line 2: this is no `NAME=VALUE`"), (" GOOD", "line 2: this is no `NAME=VALUE`"),
            ("id=k3v9x2ab", "line 2: sha256 is missing"), ("sha256=HASH scopes=publish created=1", "line 2: id is missing"),
            ("id=k3v9x2ac sha256=HASH created=1", "line 2: scopes is missing"),
            ("id=k3v9x2ac sha256=HASH scopes=read", "line 2: created is missing"),
            ("GOOD id=k3v9x2ac", "line 2: id is there twice"), ("id=K3V9X2AB sha256=HASH", "line 2: id has no value"),
            ("id=k3v9x2ac sha256=hunter2", "line 2: sha256 has no value"),
            ("id=k3v9x2ac sha256=HASH scopes=hunter2 created=1", "line 2: scopes has no value"),
            ("id=k3v9x2ac sha256=HASH scopes=read,read created=1", "line 2: scopes has no value"),
            ("id=k3v9x2ac sha256=HASH scopes= created=1", "line 2: scopes has no value"),
            ("id=k3v9x2ac sha256=HASH scopes=read created=-1", "line 2: created has no value"),
            ("id=k3v9x2ac sha256=HASH scopes=read created=99999999999999999999", "line 2: created has no value"),
            ("GOOD tenant=Hunter2", "line 2: tenant has no value"), ("GOOD tenant=", "line 2: tenant has no value"),
            ("GOOD source=", "line 2: source has no value"), ("GOOD source=ä", "line 2: source has no value"),
            ("GOOD rate=0", "line 2: rate has no value"), ("GOOD rate=+5", "line 2: rate has no value"),
            ("GOOD rate=1000001", "line 2: rate has no value"), ("GOOD expires=soon", "line 2: expires has no value"),
            ("GOOD revoked=", "line 2: revoked has no value"), ("GOOD comment=", "line 2: comment has no value"),
            ("GOOD comment=a\u{1}", "line 2: comment has no value"), ("GOOD comment=a ", "line 2: comment has no value"),
            ("GOOD comment=\(String(repeating: "a", count: 1000))", "line 2: longer than 1024 bytes"),
            ("GOOD", "line 2: there is a key with this id already"),
        ] as [(String, String)])
    func aBrokenLineIsNamedAndNotShown(_ broken: String, expected: String) throws {
        let text = broken.replacing("GOOD", with: Self.good).replacing("HASH", with: Self.hash)
        let error = #expect(throws: KeysFileError.self) { try read(Self.good + "\n" + text + "\n") }
        let message = error?.description ?? ""
        #expect(message.hasPrefix(expected), "\(message)")
        #expect(!message.lowercased().contains("hunter2") && !message.contains(Self.hash))
    }

    @Test func bytesThatAreNoTextAreRefused() {
        let error = #expect(throws: KeysFileError.self) { try KeysFile([0xFF, 0xFE, UInt8(ascii: "="), 0x80]) }
        #expect(error?.line == 1 && error?.reason == .noText)
    }

    @Test func thereIsALimitOfBytesAndOfKeys() throws {
        let large = #expect(throws: KeysFileError.self) {
            try KeysFile([UInt8](repeating: UInt8(ascii: "\n"), count: KeysFile.maximumByteCount + 1))
        }
        #expect(large?.line == nil && large?.reason == .tooLarge)
        let lines = (0..<KeysFile.maximumKeyCount).map { number in
            let digits = String(number)
            return "id=\(String(repeating: "0", count: 8 - digits.count))\(digits) sha256=\(Self.hash) scopes=read created=1\n"
        }
        var file = try read(lines.joined())
        #expect(file.count == KeysFile.maximumKeyCount && file["00009999"] != nil)
        let key = try newKey().key
        let many = #expect(throws: KeysFileError.self) { try file.add(key) }
        #expect(many?.reason == .tooManyKeys)
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func anyBytesAreReadOrRefused(seed: Int) {
        var random = SeededRandom(seed)
        let pieces = [
            "id=", "k3v9x2ab", " ", "=", "\n", "\r\n", "sha256=\(Self.hash)", "scopes=publish,read", "created=1", "rate=5",
            "comment=a b", "tenant=acme", "\u{0}", "é", Self.good, Self.good.replacing("k3v9x2ab", with: "00000000") + "\n",
        ]
        for _ in 0..<2000 {
            var bytes = (0..<random.below(12)).flatMap { _ in Array(pieces[random.below(pieces.count)].utf8) }
            if !bytes.isEmpty, random.below(3) == 0 { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            guard let file = try? KeysFile(bytes) else { continue }
            #expect((try? KeysFile(file.bytes)) == file)
        }
    }

    @Test func aKeyThatIsRevokedStaysAndKeepsItsTime() throws {
        let (one, two) = (try newKey(), try newKey())
        var file = try file(one, two)
        #expect(file.revoke(one.key.id, at: 2000)?.revokedAt == nil)
        #expect(file.revoke(one.key.id, at: 3000)?.revokedAt == 2000)
        #expect(file.revoke("00000000", at: 3000) == nil)
        #expect(file.keys.map(\.revokedAt) == [2000, nil] && file.count == 2)
        #expect(throws: KeysFileError.self) { try file.add(one.key) }
    }

    @Test func theFileIsItsOwnersAloneAndHasNoSecret() throws {
        let folder = try Folder()
        let new = try newKey()
        let store = KeysStore(folder.file)
        #expect(throws: KeysError.missing) { try store.read() }
        try store.change(patience: farDeadline) { (file: inout KeysFile) throws(KeysFileError) -> Void in try file.add(new.key) }
        var facts = stat()
        #expect(stat(folder.file, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        #expect(try store.read().keys == [new.key])
        #expect(!(try String(contentsOfFile: folder.file, encoding: .utf8)).contains(new.text.suffix(43)))
    }
}
