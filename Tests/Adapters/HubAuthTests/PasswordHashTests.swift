import Crypto
import TestSupport
import Testing

private let salt = "AAECAwQFBgcICQoLDA0ODw"
private let hashText = "RJH7uDYGKQ5AC+AxQ9bp5MijmL76bmpkoDSMgoWj1WY"

@Suite(.tags(.c)) struct PasswordHashTests {
    /// Costs next to nothing.
    private static let cheap = PasswordHash.Parameters(ln: 4, r: 1, p: 1) ?? .standard

    /// RFC 7914 section 12, but for the one that needs 1 GiB.
    @Test(
        arguments: [
            (
                "", "", 4, 1, 1,
                "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                    + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
            ),
            (
                "password", "NaCl", 10, 8, 16,
                "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                    + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
            ),
            (
                "pleaseletmein", "SodiumChloride", 14, 8, 1,
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                    + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
            ),
        ] as [(String, String, Int, Int, Int, String)])
    func theRFCsKeysAreReproduced(_ password: String, salt: String, ln: Int, r: Int, p: Int, expected: String) throws {
        let parameters = try #require(PasswordHash.Parameters(ln: ln, r: r, p: p))
        let key = try PasswordHash.scrypt(
            Array(password.utf8), salt: Array(salt.utf8), parameters: parameters, byteCount: 64)
        let digits = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(digits == expected)
    }

    /// The hash was made by another implementation of scrypt (Python's hashlib).
    @Test func aHashOfAnotherImplementationIsChecked() throws {
        let text = "$scrypt$ln=4,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$RJH7uDYGKQ5AC+AxQ9bp5MijmL76bmpkoDSMgoWj1WY"
        let hash = try #require(PasswordHash(text))
        #expect(hash.text == text)
        #expect(try hash.matches(Array("päss:wort".utf8)))
        for wrong in ["", "päss:wor", "päss:wort ", "Päss:wort"] { #expect(try !hash.matches(Array(wrong.utf8))) }
    }

    @Test func aHashIsReadAsItWasWritten() throws {
        let hash = try PasswordHash(of: Array("secret".utf8))
        #expect(hash.parameters == .standard)
        #expect(hash.text.hasPrefix("$scrypt$ln=14,r=8,p=1$"))
        let again = try #require(PasswordHash(hash.text))
        #expect(again == hash)
        #expect(try again.matches(Array("secret".utf8)))
        #expect(try !again.matches(Array("Secret".utf8)))
    }

    @Test func onePasswordHasAnotherHashEachTime() throws {
        let hashes = try (0..<3).map { _ in try PasswordHash(of: [1, 2, 3], parameters: Self.cheap).text }
        #expect(Set(hashes).count == 3)
    }

    @Test func nothingMatchesAHashOfNobody() throws {
        let nobody = try PasswordHash(matchingNothing: Self.cheap)
        #expect(nobody.parameters == Self.cheap)
        #expect(try !nobody.matches([]))
        #expect(PasswordHash(nobody.text) == nobody)
    }

    @Test(arguments: [
        (0, 8, 1), (18, 1, 1), (64, 8, 1), (-1, 8, 1), (14, 0, 1), (14, -8, 1), (14, 8, 0), (14, 8, 17), (14, 33, 1),
        (16, 8, 1), (14, 17, 1), (15, 8, 3), (14, 8, 5), (16, 1, 1), (Int.max, Int.max, Int.max),
    ])
    func whatTakesTooMuchMemoryOrTimeIsRefused(ln: Int, r: Int, p: Int) {
        #expect(PasswordHash.Parameters(ln: ln, r: r, p: p) == nil)
    }

    @Test(arguments: [(15, 8, 1), (14, 16, 1), (14, 8, 4), (17, 2, 2), (15, 1, 16)])
    func theMostThatIsAllowedIsComputed(ln: Int, r: Int, p: Int) throws {
        let parameters = try #require(PasswordHash.Parameters(ln: ln, r: r, p: p))
        #expect(try PasswordHash.scrypt([1], salt: [2], parameters: parameters, byteCount: 32).count == 32)
    }

    @Test(
        arguments: [
            "", "$", "$$$$", "secret", "$2b$12$abcdefghijklmnopqrstuv", "scrypt$ln=4,r=8,p=1$SALT$HASH",
            "$scrypt$ln=4,r=8,p=1$SALT",
            "$scrypt$ln=4,r=8,p=1$SALT$HASH$", "$scrypt$ln=4,r=8,p=1$$HASH", "$scrypt$ln=4,r=8,p=1$AAECAwQFBg$HASH",
            "$scrypt$ln=4,r=8,p=1$SALT$RJH7uDYGKQ5AC", "$scrypt$ln=04,r=8,p=1$SALT$HASH", "$scrypt$ln=+4,r=8,p=1$SALT$HASH",
            "$scrypt$r=8,ln=4,p=1$SALT$HASH", "$scrypt$ln=4,r=8$SALT$HASH", "$scrypt$ln=4,,r=8,p=1$SALT$HASH",
            "$scrypt$4,8,1$SALT$HASH", "$scrypt$ln=4,r=8,p=1$SALT==$HASH", "$scrypt$ln=4,r=8,p=1$SALT$HASH=",
            "$scrypt$ln=4,r=8,p=1$SALT$HASH ", "$scrypt$ln=4,r=8,p=1$SALT$HASH\n", "$scrypt$ln=63,r=8,p=1$SALT$HASH",
            "$scrypt$ln=99999999999999999999,r=8,p=1$SALT$HASH", "$SCRYPT$ln=4,r=8,p=1$SALT$HASH",
            "$scrypt$ln=4,r=8,p=1$AAECAwQFBgcICQoLDA0ODx$HASH", "$scrypt$ln=4,r=8,p=1$SALTSALTSALTSALTSALTSALTSALT$HASH",
            "$scrypt$ln=4,r=8,p=1$SALT$RJH7uDYGKQ5AC-AxQ9bp5MijmL76bmpkoDSMgoWj1WY",
        ] as [String])
    func whatIsNotTheOneSpellingOfAHashIsRefused(_ text: String) {
        #expect(PasswordHash(text.replacing("SALT", with: salt).replacing("HASH", with: hashText)) == nil)
    }

    @Test func noHashIsShown() throws {
        let hash = try #require(PasswordHash("$scrypt$ln=4,r=8,p=1$\(salt)$\(hashText)"))
        var dumped = ""
        dump(hash, to: &dumped)
        for text in ["\(hash)", String(reflecting: hash), dumped] {
            #expect(!text.contains(hashText) && !text.contains(salt))
        }
    }
}
