import Crypto
import TestSupport
import EventLoop
import Testing
import Users

@Suite(.tags(.c)) struct UsersFileTests {
    private func read(_ text: String) throws(UsersFileError) -> UsersFile { try UsersFile(Array(text.utf8)) }

    @Test(arguments: ["", "\n", "\r\n\r\n", "\u{FEFF}"]) func aFileWithoutLinesHasNoUsers(_ text: String) throws {
        #expect(try read(text).users.isEmpty)
    }

    @Test(arguments: ["\n", "\r\n", "\n\n", "\r\n\r\n"]) func everyEndOfLineIsTaken(_ end: String) throws {
        let (one, two) = (try hashed("1").text, try hashed("2").text)
        for last in ["", end] {
            let file = try read("alice:\(one)\(end)bob:\(two)\(last)")
            #expect(file.users.map(\.name) == ["alice", "bob"])
            #expect(file.users.map(\.hash.text) == [one, two])
        }
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        var file = UsersFile()
        let names = ["alice", "Bob Miller", "bob+x@example.org", "지은", "Ä", "a$b", "#c"]
        for name in names { try file.set(name, hash: hashed(name)) }
        let again = try UsersFile(file.bytes)
        #expect(again == file)
        #expect(again.users.map(\.name) == names)
    }

    @Test func theExactNameSignsIn() throws {
        let file = try read(userLine("alice") + userLine("Bob"))
        #expect(file.user(named: "alice")?.name == "alice" && file.user(named: "Bob")?.name == "Bob")
        for name in ["Alice", "ALICE", "bob", "alice ", "", "carol"] { #expect(file.user(named: name) == nil) }
        #expect(file.user(inAnyCase: "ALICE")?.name == "alice")
        #expect(file.user(inAnyCase: "carol") == nil)
    }

    @Test(arguments: [("alice", "Alice"), ("ÄNNE", "änne"), ("straße", "STRASSE"), ("ΣΑΣ", "σας"), ("a", "a")])
    func namesThatDifferInTheirCaseCountAsOne(one: String, other: String) throws {
        #expect(throws: UsersFileError.self) { try read(userLine(one) + userLine(other)) }
        var file = try read(userLine(one))
        if one != other { #expect(throws: UsersFileError.self) { try file.set(other, hash: hashed("x")) } }
        #expect(file.users.map(\.name) == [one])
    }

    @Test func aLetterIsTheSameHoweverItIsComposed() throws {
        let file = try read(userLine("Andr\u{E9}"))
        #expect(file.user(named: "Andre\u{301}")?.name.unicodeScalars.count == 5)
    }

    @Test(
        arguments: [
            ("alice", "line 2: there is no colon"), ("secret-hunter2", "line 2: there is no colon"),
            (":HASH", "line 2: this is no name"), (" bob:HASH", "line 2: this is no name"),
            ("bob :HASH", "line 2: this is no name"),
            ("b\u{1}b:HASH", "line 2: this is no name"), ("b\rb:HASH", "line 2: this is no name"),
            ("\(String(repeating: "b", count: 256)):HASH", "line 2: this is no name"),
            ("bob:", "line 2: the text after the name is no password hash"), ("bob:hunter2", "line 2: the text after the name"),
            ("bob:x:HASH", "line 2: the text after the name"), ("bob:HASH ", "line 2: the text after the name"),
            ("bob: HASH", "line 2: the text after the name"),
            ("bob:$scrypt$ln=30,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$RJH7uDYGKQ5AC+AxQ9bp5MijmL76bmpkoDSMgoWj1WY", "line 2: the text"),
            ("\(String(repeating: "b", count: 5000)):HASH", "line 2: longer than 512 bytes"),
            ("alice:HASH", "line 2: there is a user of this name already"),
        ] as [(String, String)])
    func aBrokenLineIsNamedAndNotShown(_ broken: String, expected: String) throws {
        let text = broken.replacing("HASH", with: try hashed("hunter2").text)
        let error = #expect(throws: UsersFileError.self) { try read(userLine("alice") + text + "\n" + userLine("carol")) }
        let message = error?.description ?? ""
        #expect(message.hasPrefix(expected))
        #expect(!message.contains("hunter2") && !message.contains("$scrypt"))
    }

    @Test func bytesThatAreNoTextAreRefused() {
        let error = #expect(throws: UsersFileError.self) { try UsersFile([0xFF, 0xFE, UInt8(ascii: ":"), 0x80]) }
        #expect(error?.line == 1 && error?.reason == .illegalName)
    }

    @Test func whatIsTooLargeIsRefused() throws {
        let error = #expect(throws: UsersFileError.self) {
            try UsersFile([UInt8](repeating: UInt8(ascii: "\n"), count: UsersFile.maximumByteCount + 1))
        }
        #expect(error?.line == nil && error?.reason == .tooLarge)
    }

    @Test func thereIsALimitOfUsers() throws {
        let last = try hashed("x")
        let text = (0..<UsersFile.maximumUserCount).map { "user-\($0):\(last.text)\n" }.joined()
        var file = try read(text)
        #expect(file.users.count == UsersFile.maximumUserCount)
        #expect(throws: UsersFileError.self) { try read(text + "one-more:\(last.text)\n") }
        #expect(throws: UsersFileError.self) { try file.set("one-more", hash: last) }
        #expect(try file.set("user-1", hash: last) == false)
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func anyBytesAreReadOrRefused(seed: Int) {
        var random = SeededRandom(seed)
        let pieces = [
            "alice", "bob", ":", "\n", "\r\n", "$scrypt$", "ln=4,r=1,p=1", "$", "AAECAwQFBgcICQoLDA0ODw", "\u{0}", "é", "=",
            "carol:$scrypt$ln=4,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$RJH7uDYGKQ5AC+AxQ9bp5MijmL76bmpkoDSMgoWj1WY\n",
        ]
        for _ in 0..<2000 {
            var bytes = (0..<random.below(12)).flatMap { _ in Array(pieces[random.below(pieces.count)].utf8) }
            if !bytes.isEmpty, random.below(3) == 0 { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            guard let file = try? UsersFile(bytes) else { continue }
            #expect((try? UsersFile(file.bytes)) == file)
        }
    }

    @Test func usersAreSetAndRemoved() throws {
        var file = UsersFile()
        for name in ["alice", "bob", "carol"] { #expect(try file.set(name, hash: hashed("1")) == true) }
        #expect(try file.set("alice", hash: hashed("4")) == false)
        #expect(try file.user(named: "alice")?.hash.matches(Array("4".utf8)) == true)
        for (name, isThere) in [("Bob", false), ("bob", true), ("bob", false)] { #expect(file.remove(name) == isThere) }
        #expect(file.users.map(\.name) == ["alice", "carol"])
        #expect(file.user(named: "carol")?.name == "carol")
        #expect(try file.set("BOB", hash: hashed("5")) == true)
        for name in ["", "a:b", " a", "a\n", String(repeating: "a", count: 256)] {
            #expect(throws: UsersFileError.self) { try file.set(name, hash: hashed("6")) }
        }
        #expect(file.users.map(\.name) == ["alice", "carol", "BOB"])
    }
}
