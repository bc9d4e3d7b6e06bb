import HubAuth
import Testing

struct ConnectionStringTests {
    static let endpoint = "Endpoint=sb://contoso-push.servicebus.windows.net/"
    static let name = "SharedAccessKeyName=DefaultFullSharedAccessSignature"
    /// Every test value of the key holds this word, which nothing may ever show.
    static let canary = "CANARYc2VjcmV0LWtleS1ieXRlcw"
    static let key = "SharedAccessKey=\(canary)=="

    @Test(arguments: [
        "\(endpoint);\(name);\(key)", "\(key);\(name);\(endpoint)", "  \(endpoint);\(name);\(key)\r\n",
        "\(endpoint);\(name);\(key);",
        ";;\(endpoint); ;\(name);\(key);;",
        "endpoint=SB://Contoso-Push.servicebus.windows.net;\(name);sharedaccesskey=\(canary)==",
        "\(endpoint) ; SharedAccessKeyName = DefaultFullSharedAccessSignature ; SharedAccessKey = \(canary)== ",
    ])
    func everyOrdinarySpellingIsRead(_ text: String) throws {
        let connection = try ConnectionString(parsing: text)
        #expect(connection.endpoint.baseURL == "https://contoso-push.servicebus.windows.net/")
        #expect(connection.credential.policy == "DefaultFullSharedAccessSignature")
        #expect(connection.credential.key == SecretKey("\(Self.canary)=="))
        #expect(connection.credential.key != SecretKey("\(Self.canary)="))
        #expect(connection.warnings.isEmpty)
    }

    @Test func unknownFieldsAreIgnoredWithAWarning() throws {
        let connection = try ConnectionString(parsing: "\(Self.endpoint);entitypath=x;\(Self.name);\(Self.key);Colour=red")
        #expect(connection.credential.key == SecretKey("\(Self.canary)=="))
        #expect(
            connection.warnings == [
                "EntityPath in the connection string is ignored",
                "part 5 of the connection string has an unknown name and is ignored",
            ])
    }

    @Test func theRestOfAKeyWithASemicolonIsNotShown() throws {
        let connection = try ConnectionString(parsing: "\(Self.endpoint);\(Self.name);SharedAccessKey=abc;\(Self.canary)=x")
        #expect(connection.warnings.count == 1)
        #expect(!connection.warnings.joined().lowercased().contains("canary"))
    }

    @Test(
        arguments: [
            ("", .missing(.endpoint)), ("\(name);\(key)", .missing(.endpoint)), ("\(endpoint);\(key)", .missing(.keyName)),
            ("\(endpoint);\(name)", .missing(.key)), ("Endpoint=;\(name);\(key)", .empty(.endpoint)),
            ("\(endpoint);SharedAccessKeyName= ;\(key)", .empty(.keyName)),
            ("\(endpoint);\(name);SharedAccessKey=", .empty(.key)),
            ("\(endpoint);\(name);\(key);\(key)", .duplicate(.key)),
            ("\(endpoint);\(name);\(key);SHAREDACCESSKEYNAME=x", .duplicate(.keyName)),
            ("\(endpoint);\(endpoint);\(name);\(key)", .duplicate(.endpoint)), ("\(canary)", .noEqualsSign(part: 1)),
            ("\(endpoint);\(name);\(key);\(canary)", .noEqualsSign(part: 4)),
            ("\(endpoint);SharedAccessKeyName=a\r\nb;\(key)", .controlCharacter(.keyName)),
            ("\(endpoint);\(name);SharedAccessKey=\(canary)\u{7f}", .controlCharacter(.key)),
            ("\(endpoint);\(name);SharedAccessKey=\(String(repeating: canary, count: 10))", .tooLong(.key, limit: 256)),
            ("Endpoint=\(canary);\(name);\(key)", .endpoint(.scheme)),
        ] as [(String, HubAuthError)])
    func everythingElseIsRefusedWithoutShowingAValue(_ text: String, error: HubAuthError) {
        #expect(throws: error) { try ConnectionString(parsing: text) }
        #expect(!"\(error)".contains("CANARY"))
        #expect(!String(reflecting: error).contains("CANARY"))
    }

    @Test func messagesNameTheField() {
        for field in HubAuthError.Field.allCases {
            let errors: [HubAuthError] = [
                .missing(field), .empty(field), .duplicate(field), .controlCharacter(field), .tooLong(field, limit: 9),
            ]
            for error in errors { #expect("\(error)".contains(field.rawValue)) }
        }
    }

    @Test func nothingThatIsPrintedShowsTheKey() throws {
        let connection = try ConnectionString(parsing: "\(Self.endpoint);\(Self.name);\(Self.key)")
        var cache = try SASTokenCache(audience: "http://h/hub/", primary: connection.credential, secondary: connection.credential)
        _ = try cache.token(now: 0)
        let policy = SASPolicy(name: "p", keys: [connection.credential.key], rights: .all)
        let values: [Any] = [
            connection, connection.credential, connection.credential.key, cache, policy, SASVerifier(policies: [policy]),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("CANARY"))
                #expect(!text.contains("sig="))
                // Nor as a list of byte values, however laid out: C, A, N, A.
                let numbers = text.split { !$0.isNumber }.joined(separator: " ")
                #expect(!numbers.contains("67 65 78 65"))
            }
        }
        #expect("\(connection)".contains("DefaultFullSharedAccessSignature"))
    }
}
