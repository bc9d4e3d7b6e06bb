import HubREST
import PushModel
import TestSupport
import Testing

/// Pages of registrations, as hubs and others write them.
struct RegistrationFeedTests {
    private func read(_ text: String) throws -> [DeviceRegistration] {
        let bytes = Array(text.utf8)
        return try RegistrationFeed(reading: bytes.span).registrations
    }

    private static func feed(_ entries: String...) -> String {
        """
        <?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Registrations</title>\
        <id>https://c/h/registrations</id><updated>2026-01-01T00:00:00Z</updated><link rel="self" href="https://c/h"/>\
        \(entries.joined())</feed>
        """
    }

    private static func entry(_ type: String, _ elements: String, id: String = "<RegistrationId>1-2-3</RegistrationId>") -> String
    {
        """
        <entry a:etag="W/&quot;1&quot;" xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>x</id>\
        <title type="text">1-2-3</title><content type="application/xml"><\(type)RegistrationDescription xmlns:i="i">\
        \(id)\(elements)</\(type)RegistrationDescription></content></entry>
        """
    }

    private static func apple(_ more: String = "") -> String { entry("Apple", "<DeviceToken>AB</DeviceToken>" + more) }

    @Test func aPageIsRead() throws {
        let text = Self.feed(
            Self.entry(
                "Apple",
                "<ETag>7</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime>"
                    + "<Tags>username:bob, news,$InstallationId:{4f1c},$UserId:{bob}</Tags><DeviceToken>62BC</DeviceToken>"),
            Self.entry(
                "AppleTemplate",
                "<ETag>1</ETag><DeviceToken>62BC</DeviceToken><BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"$(a)<\"}}]]></BodyTemplate>"
                    + "<Expiry i:nil=\"true\"/><TemplateName>news &amp; more</TemplateName>",
                id: "<RegistrationId>1-2-4</RegistrationId>"))
        let read = try read(text)
        #expect(
            read == [
                DeviceRegistration(
                    id: "1-2-3", etag: "7", platform: .apple, handle: "62BC",
                    tags: ["username:bob", "news", "$InstallationId:{4f1c}", "$UserId:{bob}"]),
                DeviceRegistration(
                    id: "1-2-4", etag: "1", platform: .apple, kind: .template(name: "news & more"), handle: "62BC"),
            ])
        #expect(read.map(\.installationID) == ["4f1c", nil] && read.map(\.userID) == ["bob", nil])
        #expect(read.map(\.isTemplate) == [false, true])
    }

    @Test(
        arguments: [
            ("Apple", "DeviceToken", .apple), ("FcmV1", "FcmV1RegistrationId", .fcmv1), ("Gcm", "GcmRegistrationId", .gcm),
            ("Windows", "ChannelUri", .windows), ("Adm", "AdmRegistrationId", .adm), ("Baidu", "BaiduChannelId", .baidu),
            ("Browser", "Endpoint", .browser), ("Xiaomi", "XiaomiRegistrationId", .xiaomi), ("Mpns", "ChannelUri", nil),
            ("Pigeon", "Ring", nil),
        ] as [(String, String, Platform?)])
    func everyTypeIsTold(prefix: String, element: String, platform: Platform?) throws {
        for isTemplate in [false, true] {
            let type = prefix + (isTemplate ? "Template" : "")
            let read = try read(Self.feed(Self.entry(type, "<\(element)>h</\(element)>")))
            #expect(read.map(\.platform) == [platform] && read.map(\.isTemplate) == [isTemplate])
            #expect(read.map(\.handle) == [platform == nil ? nil : "h"])
        }
    }

    /// What has a body is a template's, whatever its element is called.
    @Test(arguments: [
        apple("<BodyTemplate>{}</BodyTemplate>"), apple("<TemplateName>t</TemplateName>"), entry("PigeonTemplate", ""),
    ])
    func aTemplateIsNeverTakenForNative(entry: String) throws {
        #expect(try read(Self.feed(entry)).map(\.isTemplate) == [true])
    }

    @Test(arguments: [
        ("{LENGTH=32,BYTES=0X6F2A… }", "{LENGTH=32,BYTES=0X6F2A… }"), ("a&lt;&amp;&#x41;", "a<&A"), (" \n h \t", "h"),
        ("<![CDATA[<&]]>", "<&"), ("https://e/?a=1&amp;b=2", "https://e/?a=1&b=2"), ("é\u{1F514}", "é\u{1F514}"),
    ])
    func anOddHandleComesAsItIs(text: String, handle: String) throws {
        #expect(try read(Self.feed(Self.entry("Apple", "<DeviceToken>\(text)</DeviceToken>"))).map(\.handle) == [handle])
    }

    @Test(
        arguments: [
            ("<ETag>W/&quot;1&quot;</ETag>", nil), ("<ETag/>", nil), ("", nil), ("<ETag>*</ETag>", nil),
            ("<ETag>12</ETag>", "12"),
        ] as [(String, String?)])
    func aVersionThatCannotBeSentBackIsNone(element: String, etag: String?) throws {
        #expect(try read(Self.feed(Self.apple(element))).map(\.etag) == [etag])
    }

    @Test(arguments: [
        "<feed/>", "<a:feed xmlns:a='x'></a:feed>", "\u{FEFF}<feed>\n</feed>\n", "<!-- x --><feed><new><entry/></new></feed>",
    ])
    func aPageMayBeEmpty(text: String) throws {
        #expect(try read(text).isEmpty)
    }

    @Test(
        arguments: [
            ("", .malformed), ("x", .malformed), ("<feed>", .malformed), ("<feed></entry>", .malformed), ("{}", .malformed),
            ("<!DOCTYPE feed [<!ENTITY a \"b\"><!ENTITY c \"&a;&a;\">]><feed>&c;</feed>", .malformed),
            ("<!DOCTYPE x SYSTEM 'file:///etc/passwd'><feed/>", .malformed), ("<feed/><feed/>", .malformed),
            ("<entry/>", .otherDocument),
            ("<Error><Code>500</Code></Error>", .otherDocument), ("<html><body/></html>", .otherDocument),
            ("<feed>text</feed>", .unexpected("feed")), (feed("<entry/>"), .unexpected("entry")),
            (feed("<entry><id>x</id></entry>"), .unexpected("entry")),
            (feed("<entry><content/></entry>"), .unexpected("content")),
            (feed("<entry><content>text</content></entry>"), .unexpected("content")),
            (feed("<entry><content><a/></content></entry>"), .unexpected("content")),
            (feed("<entry><content><RegistrationDescription/></content></entry>"), .unexpected("content")),
            (feed(apple().replacing("</content>", with: "<a/></content>")), .unexpected("content")),
            (feed(apple().replacing("</entry>", with: "<content/></entry>")), .unexpected("content")),
            (feed(entry("Apple", "")), .unexpected("handle")), (feed(entry("Apple", "<DeviceToken/>")), .unexpected("handle")),
            (feed(apple("<DeviceToken>CD</DeviceToken>")), .unexpected("handle")),
            (feed(entry("Apple", "<DeviceToken>A<b/></DeviceToken>")), .unexpected("handle")),
            (feed(entry("Apple", "<DeviceToken>&#0;</DeviceToken>")), .unexpected("handle")),
            (feed(entry("Apple", "<DeviceToken>&bomb;</DeviceToken>")), .malformed),
            (feed(entry("Apple", "<DeviceToken>\(String(repeating: "A", count: 4097))</DeviceToken>")), .unexpected("handle")),
            (feed(apple("<Tags/><Tags/>")), .unexpected("Tags")),
            (feed(entry("Apple", "<DeviceToken>A</DeviceToken>", id: "")), .unexpected("RegistrationId")),
            (
                feed(entry("Apple", "<DeviceToken>A</DeviceToken>", id: "<RegistrationId>../x</RegistrationId>")),
                .unexpected("RegistrationId")
            ),
            (feed(apple("<RegistrationId>1</RegistrationId>")), .unexpected("RegistrationId")),
        ] as [(String, RegistrationFault)])
    func whatIsNoPageIsRefused(text: String, fault: RegistrationFault) {
        #expect(throws: fault) { try read(text) }
    }

    /// No arguments: the event stream would spell out their bytes.
    @Test func aPageThatIsTooLargeOrTooDeepIsRefused() {
        func fault(_ text: String) -> RegistrationFault? { #expect(throws: RegistrationFault.self) { try read(text) } }
        #expect(fault(String(repeating: "<feed>", count: 100_000)) == .malformed)
        #expect(fault(Self.feed(Self.apple("<Tags>\(String(repeating: "a", count: 20_000))</Tags>"))) == .unexpected("Tags"))
        #expect(fault(Self.feed(String(repeating: Self.apple(), count: 1001))) == .tooLarge)
        #expect(fault("<feed>" + String(repeating: " ", count: RegistrationFeed.maximumByteCount) + "</feed>") == .tooLarge)
    }

    @Test func aThousandRegistrationsAreRead() throws {
        #expect(try read(Self.feed(String(repeating: Self.apple(), count: 1000))).count == 1000)
    }

    @Test(arguments: 0..<20)
    func aPageThatIsCutIsNoneAndGarbledBytesChangeTheirEntryAlone(seed: Int) throws {
        var random = SeededRandom(seed)
        let text = Self.feed(Self.apple("<Tags>a,b</Tags>"), Self.apple("<TemplateName>&lt;</TemplateName>"))
        let (whole, expected) = (Array(text.utf8), try read(text))
        let second = try #require(whole.ranges(of: Array("<entry".utf8)).last?.lowerBound)
        for _ in 0..<200 {
            let isCut = random.below(2) == 0
            var bytes = isCut ? Array(whole.prefix(random.below(whole.count))) : whole
            var places: [Int] = []
            for _ in 0..<random.below(4) where !bytes.isEmpty {
                places.append(random.below(bytes.count))
                bytes[places[places.count - 1]] = random.below(3) == 0 ? UInt8(random.below(256)) : UInt8(ascii: "<")
            }
            guard let read = (try? RegistrationFeed(reading: bytes.span))?.registrations else {
                #expect(isCut || !places.isEmpty)
                continue
            }
            #expect(!isCut && read.count == 2)
            if places.allSatisfy({ $0 >= second }) { #expect(read.first == expected.first) }
            if places.allSatisfy({ $0 < second }) { #expect(read.last == expected.last) }
        }
    }
}
