import Testing

@testable import HubServer
@testable import HubStore

/// Installations that are exported as registrations, and imported again.
struct InstallationImportTests {
    private static let keys =
        #"{\"endpoint\":\"https://push.example/1\",\"p256dh\":\"\#(p256dh)\",\"auth\":\"AAAAAAAAAAAAAAAAAAAAAA\"}"#
    private static let p256dh =
        "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM"
    private static let apple = String(repeating: "AB", count: 32)

    /// The registrations of all devices as lines.
    private static func lines(of devices: any DeviceStore) throws -> [String] {
        try devices.read { (book) throws(RefusedCall) in
            try book.page(of: .all, from: 0, limit: 1000).page.map(RegistrationWriter.line)
        }
    }

    /// Imports lines, and gives what became of each.
    @discardableResult
    private static func take(
        _ lines: [String], into devices: any DeviceStore, as kind: HubJob.Kind = .create, at now: Int64 = 100
    ) throws -> [RegistrationImport.Outcome] {
        let reader = RegistrationImport(kind, at: now)
        let read = lines.enumerated().map { reader.read(JobLines.Line(number: $0 + 1, bytes: Array($1.utf8))) }
        return try devices.change { (book) throws(RefusedCall) in
            var identifiers = HubIdentifiers(seed: UInt64(now))
            return try reader.perform(read, on: book) { identifiers.registrationID() }
        }
    }

    private static func installation(_ id: String, in devices: any DeviceStore) throws -> String? {
        try devices.read { (book) throws(RefusedCall) in try book.installation(id) }
            .map { String(decoding: InstallationWriter.json($0), as: UTF8.self) }
    }

    private static func write(_ json: String, to devices: any DeviceStore) throws -> StoredInstallation {
        let installation = try InstallationReader(Array(json.utf8)).installation(id: nil)
        try devices.change { (book) throws(RefusedCall) in
            var identifiers = HubIdentifiers(seed: 1)
            try book.write(installation, as: installation.registrations { identifiers.registrationID() })
        }
        return installation
    }

    /// A store in a file or in memory.
    private static func store(isFile: Bool) throws -> (store: any DeviceStore, kept: JournalFile?) {
        guard isFile else { return (MemoryDevices(), nil) }
        let kept = try JournalFile(handleKey: JournalFile.key)
        return (kept.devices, kept)
    }

    @Test(
        arguments: [
            #"{"installationId":"i-1","platform":"apns","pushChannel":"\#(apple)"}"#,
            #"{"installationId":"i-1","userId":"bob","platform":"apns","pushChannel":"\#(apple)","tags":["a","B:c"]}"#,
            """
            {"installationId":"i-1","platform":"apns","pushChannel":"\(apple)","tags":["a"],"templates":{
            "one":{"body":"{\\"aps\\":{\\"alert\\":\\"$(x)\\"}}","headers":{"apns-priority":"5"},"expiry":"$(e)","tags":["t","u"]},
            "two":{"body":"{\\"aps\\":{\\"alert\\":\\"$(y)\\"}}"}}}
            """,
            #"{"installationId":"i-1","userId":"u","platform":"browser","pushChannel":"\#(keys)","tags":["a"]}"#,
            #"{"installationId":"i-1","platform":"baidu","pushChannel":"user-channel","tags":["a"]}"#,
            """
            {"installationId":"i-1","userId":"bob","platform":"wns","pushChannel":"https://db3.notify.windows.com/?token=1",
            "tags":["a"],"templates":{"t":{"body":"<toast>$(x)</toast>","headers":{"X-WNS-Type":"wns/toast"}}},
            "secondaryTiles":{"tile 1":{"pushChannel":"https://db3.notify.windows.com/?token=2","tags":["b"],
            "templates":{"t":{"body":"<tile>$(x)</tile>","tags":["c"]}}}}}
            """,
        ], [false, true])
    func anInstallationIsTheSameAgain(_ json: String, _ isFile: Bool) throws {
        let (from, to) = (MemoryDevices(), try Self.store(isFile: isFile))
        defer { withExtendedLifetime(to.kept) {} }
        _ = try Self.write(json, to: from)
        let exported = try Self.lines(of: from)
        let outcomes = try Self.take(exported, into: to.store)
        #expect(try Self.installation("i-1", in: to.store) == Self.installation("i-1", in: from))
        try Self.expectAll(outcomes, in: to.store, count: exported.count)
        // Once more changes nothing, whatever comes first.
        try Self.take(exported.reversed(), into: to.store, at: 200)
        #expect(try Self.lines(of: to.store).count == exported.count)
        #expect(try Self.installation("i-1", in: to.store).map(\.utf8.count) == Self.installation("i-1", in: from)?.utf8.count)
    }

    /// Expects that the registration of each outcome is there by its id, and no other.
    private static func expectAll(_ outcomes: [RegistrationImport.Outcome], in store: any DeviceStore, count: Int) throws {
        let written = try outcomes.map { try $0.result.get().id }
        let there = try store.read { (book) throws(RefusedCall) in
            try book.page(of: .all, from: 0, limit: 1000).page.map(\.id)
        }
        #expect(written.count == count && there.sorted() == written.sorted())
    }

    @Test func aLineOfAnotherDeviceIsARegistrationOfItsOwn() throws {
        let devices = MemoryDevices()
        _ = try Self.write(#"{"installationId":"i","platform":"apns","pushChannel":"\#(Self.apple)"}"#, to: devices)
        let before = try Self.installation("i", in: devices)
        let line = try #require(try Self.lines(of: devices).first)
        let outcomes = try Self.take([line.replacing("AB", with: "CD")], into: devices)
        let written = try #require(outcomes.first).result.get()
        #expect(written.installationID == nil && written.tags == ["$InstallationId:{i}"])
        #expect(try Self.installation("i", in: devices) == before && Self.lines(of: devices).count == 2)
    }

    @Test func aFaultyLineFailsAlone() throws {
        let devices = MemoryDevices()
        _ = try Self.write(#"{"installationId":"i","platform":"apns","pushChannel":"\#(Self.apple)"}"#, to: devices)
        let line = try #require(try Self.lines(of: devices).first)
        let plain = line.replacing("$InstallationId:{i}", with: "a")
        let outcomes = try Self.take([plain, "<broken", line.replacing("{i}", with: "i i"), "<a/>", plain], into: devices)
        let results = outcomes.map { outcome in
            switch outcome.result {
            case .success: "\(outcome.number)"
            case .failure(let fault): "\(outcome.number): \(fault.answer.detail?.prefix(12) ?? "")"
            }
        }
        #expect(results.count == 5 && results[0] == "1" && results[4] == "5")
        #expect(results[1] == "2: The line is " && results[2] == "3: An invalid t" && results[3] == "4: The registra")
    }

    @Test(arguments: [false, true]) func anUpdateMovesAnInstallationToAnotherHandle(_ isFile: Bool) throws {
        let (devices, kept) = try Self.store(isFile: isFile)
        _ = try Self.write(
            """
            {"installationId":"i","platform":"apns","pushChannel":"\(Self.apple)","templates":{
            "t":{"body":"{\\"aps\\":{\\"alert\\":\\"$(x)\\"}}"}}}
            """, to: devices)
        let lines = try Self.lines(of: devices)
        let moved = try Self.take(lines.map { $0.replacing(Self.apple, with: "CD") }, into: devices, as: .update)
        #expect(try moved.map { try $0.result.get().handle } == ["CD", "CD"])
        try Self.expectAll(moved, in: devices, count: 2)
        #expect(try Self.installation("i", in: devices)?.contains(#""pushChannel":"CD""#) == true)
        if let kept {
            #expect(try HubFile.check(path: kept.path, handleKey: JournalFile.key).problems.isEmpty)
        }
    }

    @Test func updatesAndRemovalsMeanRegistrationsThatAreThere() throws {
        let devices = MemoryDevices()
        _ = try Self.write(
            """
            {"installationId":"i","platform":"apns","pushChannel":"\(Self.apple)","tags":["a"],
            "templates":{"t":{"body":"{\\"aps\\":{\\"alert\\":\\"$(x)\\"}}"}}}
            """, to: devices)
        let lines = try Self.lines(of: devices)
        let changed = try Self.take(lines.map { $0.replacing("<Tags>a,", with: "<Tags>b,") }, into: devices, as: .update)
        #expect(try changed.count == 2 && changed.allSatisfy { try $0.result.get().etag > 1 })
        #expect(try Self.installation("i", in: devices)?.contains(#""tags":["b"]"#) == true)
        let removed = try Self.take(lines + lines, into: devices, as: .delete)
        #expect(removed.map { (try? $0.result.get()) != nil } == [true, true, false, false])
        #expect(try Self.installation("i", in: devices) == nil, "with its last registration it is gone")
        #expect(try Self.take(lines, into: devices, as: .update).allSatisfy { (try? $0.result.get()) == nil })
    }

    private static func line(tags: String, kind: String = "Apple", element: String = "DeviceToken", more: String = "") -> String {
        "<\(kind)RegistrationDescription xmlns=\"\(XMLWriter.serviceBus)\"><Tags>\(tags)</Tags>"
            + "<\(element)>\(apple)</\(element)>\(more)</\(kind)RegistrationDescription>"
    }

    private static func template(_ name: String, priority: String = "5") -> String {
        let header = "<ApnsHeader><Header>apns-priority</Header><Value>\(priority)</Value></ApnsHeader>"
        let body = #"<BodyTemplate>{"aps":{"alert":"$(x)"}}</BodyTemplate><ApnsHeaders>"# + header + "</ApnsHeaders>"
        return line(tags: "a", kind: "AppleTemplate", more: body + "<TemplateName>\(name)</TemplateName>")
    }

    @Test(arguments: [false, true]) func aLineThatIsRepeatedIsTheSameRegistration(_ isFile: Bool) throws {
        let (devices, kept) = try Self.store(isFile: isFile)
        defer { withExtendedLifetime(kept) {} }
        let lines = [
            Self.line(tags: "a,B"), Self.line(tags: "a"), Self.line(tags: ""), Self.template("one"), Self.template("two"),
            Self.template("one", priority: "10"), Self.line(tags: "a", kind: "FcmV1", element: "FcmV1RegistrationId"),
        ]
        let first = try Self.take(lines, into: devices).map { try $0.result.get().id }
        #expect(Set(first).count == lines.count, "each says something else")
        let spelt = lines.map { $0.replacing("a,B", with: "b,A,a").replacing("<DeviceToken>AB", with: "<DeviceToken>ab") }
        let second = try Self.take(spelt, into: devices, at: 200).map { try $0.result.get() }
        #expect(second.map(\.id) == first && second.allSatisfy { $0.etag == 2 && $0.writtenAt == 200 })
        #expect(try Self.lines(of: devices).count == lines.count)
        let within = try Self.take([lines[0].replacing("a,B", with: "c"), lines[0].replacing("a,B", with: "C")], into: devices)
        #expect(try Set(within.map { try $0.result.get().id }).count == 1, "also within one portion")
    }

    @Test func aRegistrationOfAnInstallationIsNoneToWriteAgain() throws {
        let devices = MemoryDevices()
        _ = try Self.write(#"{"installationId":"i","platform":"apns","pushChannel":"\#(Self.apple)"}"#, to: devices)
        let tags = "$InstallationId:{i}"
        let other = Self.line(tags: tags, kind: "AppleTemplate", more: "<BodyTemplate>{\"a\":\"b\"}</BodyTemplate>")
        for now in [100, 200] as [Int64] {
            let written = try #require(try Self.take([other], into: devices, at: now).first).result.get()
            #expect(written.installationID == nil, "a template without a name is of no installation")
        }
        #expect(try Self.lines(of: devices).count == 2)
    }

    @Test(arguments: [HubJob.Kind.update, .delete])
    func anIDThatIsMissingIsToldFromOneThatIsNotThere(_ kind: HubJob.Kind) throws {
        let line = Self.line(tags: "a")
        let named = Self.line(tags: "a", more: "<RegistrationId>1-1-1</RegistrationId>")
        let problems = try Self.take([line, named], into: MemoryDevices(), as: kind).map { outcome -> String? in
            if case .failure(let fault) = outcome.result { fault.answer.detail } else { nil }
        }
        #expect(
            problems == ["The element RegistrationId is missing or empty", "There is no registration with this RegistrationId"])
    }
}
