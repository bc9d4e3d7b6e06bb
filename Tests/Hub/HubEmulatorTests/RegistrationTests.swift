import Basics
import HTTPServing
import Synchronization
import Testing

@testable import HubEmulator
@testable import HubServer

struct RegistrationTests {
    private static func entry(_ content: String) -> String {
        """
        <?xml version="1.0" encoding="utf-8"?>
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\(content)</content></entry>
        """
    }

    private static func apple(_ token: String, tags: String) -> String {
        entry(
            "<AppleRegistrationDescription xmlns=\"\(XMLWriter.serviceBus)\"><Tags>\(tags)</Tags>"
                + "<DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>")
    }

    private func id(_ response: HTTPServerResponse) throws -> String {
        let location = try #require(response.headers["Content-Location"] ?? response.headers["Location"])
        return String(try #require(location.firstMatch(of: /registration(?:s|ids)\/(\d+-\d+-\d)\?/)).1)
    }

    @Test func anIdIsHandedOutAndUsed() throws {
        let hub = try TestHub()
        let made = try hub.call("POST", "registrationids/")
        #expect(made.status == 201 && made.body.isEmpty)
        #expect(made.headers["Location"]?.hasPrefix("http://127.0.0.1/newshub/registrationids/") == true)
        let id = try id(made)
        let put = try hub.call("PUT", "registrations/\(id)", [:], Self.apple("62BC", tags: "username:bob, news"))
        #expect(put.status == 200 && put.headers["ETag"] == "W/\"1\"")
        #expect(put.headers["Content-Type"] == "application/atom+xml; type=entry; charset=utf-8")
        #expect(put.text.contains("<Tags>username:bob,news</Tags><DeviceToken>62BC</DeviceToken>"))
        #expect(
            put.text.contains("<ExpirationTime>9999-12-31T23:59:59.999</ExpirationTime><RegistrationId>\(id)</RegistrationId>"))
        #expect(try hub.call("GET", "registrations/\(id)").text == put.text)
        try hub.send("apple", to: "news")
        #expect(hub.hub.devices().first?.rungCount == 1)
    }

    @Test(arguments: [
        ("*", 200), ("\"1\"", 200), ("W/\"1\"", 200), ("1", 200), ("\"2\"", 412), ("", 412),
        ("\"7\", W/\"1\"", 200), ("\"1, 2\"", 412),
    ])
    func ifMatchIsReadInEverySpelling(_ condition: String, _ status: Int) throws {
        let hub = try TestHub()
        let id = try id(hub.call("POST", "registrations", [:], Self.apple("AB", tags: "a")))
        let put = try hub.call("PUT", "registrations/\(id)", ["If-Match": condition], Self.apple("AB", tags: "b"))
        #expect(put.status == status)
        #expect(put.headers["ETag"] == (status == 200 ? "W/\"2\"" : nil))
        let current = status == 200 ? "2" : "1"
        #expect(try hub.call("DELETE", "registrations/\(id)", ["If-Match": current]).status == 200)
        #expect(try hub.call("DELETE", "registrations/\(id)", ["If-Match": "*"]).status == 404)
        #expect(try hub.call("PUT", "registrations/\(id)", ["If-Match": "*"], Self.apple("AB", tags: "b")).status == 404)
        let missing = try hub.call("GET", "registrations/\(id)")
        #expect(missing.status == 404 && missing.detail == "")
    }

    @Test func typesMayStandInAnAttribute() throws {
        let hub = try TestHub()
        let body = Self.entry(
            """
            <RegistrationDescription i:type="WindowsTemplateRegistrationDescription" xmlns="\(XMLWriter.serviceBus)" xmlns:i="\(XMLWriter.schemaInstance)">
            <Tags>a</Tags><ChannelUri>https://some.url</ChannelUri>
            <BodyTemplate><![CDATA[<toast><text>$(m)</text></toast>]]></BodyTemplate>
            <WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>
            <TemplateName>t</TemplateName></RegistrationDescription>
            """)
        let made = try hub.call("POST", "registrations", [:], body)
        #expect(made.status == 200)
        #expect(
            made.text.contains(
                "<ChannelUri>https://some.url/</ChannelUri><BodyTemplate><![CDATA[<toast><text>$(m)</text></toast>]]></BodyTemplate>"
                    + "<WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>"
                    + "<TemplateName>t</TemplateName></WindowsTemplateRegistrationDescription>"))
        try hub.send("template", to: "a", #"{"m":"1 < 2"}"#)
        let ring = try #require(hub.hub.devices().first?.rung.first)
        #expect(ring.body == "<toast><text>1 &lt; 2</text></toast>" && ring.headers["x-wns-type"] == "wns/toast")
    }

    @Test(arguments: [
        "", "<entry/>", "<entry><content><AppleRegistrationDescription/></content></entry>",
        "<entry><content><NokiaRegistrationDescription/></content></entry>",
        "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><entry><content><AppleRegistrationDescription><DeviceToken>&a;</DeviceToken>"
            + "</AppleRegistrationDescription></content></entry>",
        String(apple("AB", tags: "a").dropLast("</entry>".count)),
        apple("AB", tags: "a").replacing("</DeviceToken>", with: ""),
        apple("A&B", tags: "a"), apple("AB", tags: "a\u{B}"), " " + apple("AB", tags: "a"), apple("AB", tags: "a") + "<entry/>",
        apple("AB", tags: "a").replacing("utf-8", with: "utf-16"), entry("<i:AppleRegistrationDescription/>"),
        apple("AB", tags: "a b"), apple("A", tags: "a"), apple("<AB>", tags: "a"), apple("phone", tags: "a"),
        apple("{length = 32, bytes = 0x740f4707 ... e6a1 }", tags: "a"),
        entry("<BrowserRegistrationDescription><Endpoint>https://e</Endpoint></BrowserRegistrationDescription>"),
        entry(
            "<AppleTemplateRegistrationDescription><DeviceToken>AB</DeviceToken><BodyTemplate>{\"a\":\"$(\"}</BodyTemplate></AppleTemplateRegistrationDescription>"
        ),
    ])
    func whatIsNoRegistrationIsRefused(_ body: String) throws {
        #expect(try TestHub().call("POST", "registrations", [:], body).status == 400)
    }

    @Test func anInstructionWithoutContentIsPassedOver() throws {
        let body = Self.apple("AB", tags: "a").replacing("<content", with: "<?x?><content")
        #expect(try TestHub().call("POST", "registrations", [:], body).status == 200)
    }

    /// A description whose namespace, or whose entry's, is another one, or that is not closed.
    @Test(arguments: [
        (XMLWriter.atom, "http://www.w3.org/2005/atom"), (" xmlns=\"\(XMLWriter.atom)\"", ""),
        (XMLWriter.serviceBus, XMLWriter.atom),
        (" xmlns=\"\(XMLWriter.serviceBus)\"", ""), ("</entry>", ""), ("</content>", ""), ("</AppleRegistrationDescription>", ""),
        ("</DeviceToken>", ""), ("</Tags>", "<Tags>"),
    ])
    func aNamespaceIsThatOfTheServiceAndEveryElementIsClosed(_ part: String, _ other: String) throws {
        let body = Self.apple("AB", tags: "a")
        #expect(try TestHub().call("POST", "registrations", [:], body).status == 200)
        #expect(try TestHub().call("POST", "registrations", [:], body.replacing(part, with: other)).status == 400)
    }

    @Test func namespacesMayHavePrefixes() throws {
        let body = """
            <a:entry xmlns:a="\(XMLWriter.atom)" xmlns:s="\(XMLWriter.serviceBus)"><a:content><s:GcmRegistrationDescription>
            <s:GcmRegistrationId>g</s:GcmRegistrationId></s:GcmRegistrationDescription></a:content></a:entry>
            """
        #expect(try TestHub().call("POST", "registrations", [:], body).status == 200)
    }

    @Test func aRegistrationThatIsNestedTooDeepIsRefused() throws {
        let body = String(repeating: "<a>", count: 100_000)
        #expect(try TestHub().call("POST", "registrations", [:], body).status == 400)
    }

    @Test(arguments: [
        "$filter=ChannelUri+eq+%27abcd%27", "$filter=DeviceToken%20eq%20'ABCD'", "%24filter=devicetoken+eq+'ABcd'",
    ])
    func aHandleIsFoundInEveryClientsSpelling(_ query: String) throws {
        let hub = try TestHub()
        let id = try id(hub.call("POST", "registrations", [:], Self.apple("ABCD", tags: "a")))
        try hub.call("POST", "registrations", [:], Self.apple("FF", tags: "a"))
        let list = try hub.call("GET", "registrations?\(query)")
        #expect(list.status == 200 && list.headers["x-ms-continuationtoken"] == nil)
        #expect(list.text.contains(id) && !list.text.contains("FF"))
        #expect(list.text.contains("<ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime>"))
    }

    @Test(arguments: [
        ("gcm", "g1", "GcmRegistrationId eq 'g1'"), ("fcmV1", "f1", "FcmV1RegistrationId eq 'f1'"),
        ("adm", "a1", "AdmRegistrationId eq 'a1'"),
        ("baidu", "u-c", "BaiduChannelId eq c' and BaiduUserId eq 'u'"),
        ("wns", "https://x.y/z?a=b", "ChannelUri eq 'https%3A%2F%2Fx.y%2Fz%3Fa%3Db'"),
        (
            "browser", #"{"endpoint":"https://e","p256dh":"p","auth":"s"}"#,
            "Endpoint eq 'https://e' and P256DH eq 'p' and Auth eq 's'"
        ),
    ])
    func filtersOfEveryPlatformAreRead(_ platform: String, _ handle: String, _ filter: String) throws {
        let hub = try TestHub()
        try hub.hub.register(EmulatedDevice(id: "d", platform: platform, handle: handle))
        let list = try hub.call("GET", "registrations?$filter=\(PercentEncoding.encoded(filter))")
        #expect(list.status == 200 && list.text.contains("<entry "))
        let other = filter.replacing("'g1'", with: "'g2'").replacing("'f1'", with: "'f2'").replacing("'u'", with: "'v'")
            .replacing("'a1'", with: "'a2'").replacing("x.y", with: "x.z").replacing("'s'", with: "'t'")
        #expect(try !hub.call("GET", "registrations?$filter=\(PercentEncoding.encoded(other))").text.contains("<entry "))
    }

    @Test(arguments: ["Tags eq 'a'", "ChannelUri ne 'a'", "ChannelUri eq 'a", "ChannelUri eq 'a' or ChannelUri eq 'b'", "'"])
    func otherFiltersAreRefused(_ filter: String) throws {
        #expect(try TestHub().call("GET", "registrations?$filter=\(PercentEncoding.encoded(filter))").status == 400)
    }

    @Test(arguments: [false, true])
    func pagesAreContinued(_ encodesOnceMore: Bool) throws {
        let hub = try TestHub()
        for index in 0..<230 {
            try hub.call("POST", "registrations", [:], Self.apple("AB\(1000 + index)", tags: index % 2 == 0 ? "even" : "odd"))
        }
        for (path, count) in [("registrations?$top=100", 230), ("tags/EVEN/registrations?$top=50", 115)] {
            var tokens: [String] = []
            var handles: Set<String> = []
            var next = ""
            repeat {
                let page = try hub.call("GET", path + next)
                for match in page.text.matches(of: /<DeviceToken>(\w+)</) { handles.insert(String(match.1)) }
                let token = page.headers["x-ms-continuationtoken"]
                tokens += token.map { [$0] } ?? []
                next = token.map { "&ContinuationToken=" + (encodesOnceMore ? PercentEncoding.encoded($0) : $0) } ?? ""
                if token != nil { #expect(page.text.contains("<link rel=\"next\"")) }
            } while !next.isEmpty && tokens.count < 10
            #expect(handles.count == count && tokens.count == 2)
        }
        #expect(try hub.call("GET", "registrations?continuationtoken=x").status == 400)
        #expect(try hub.call("GET", "registrations?$top=0").status == 400)
    }

    @Test func manyWritesLeaveTheIndexesRight() throws {
        let hub = try TestHub()
        var random = HubIdentifiers(seed: 3)
        var model: [String: String] = [:]
        for _ in 0..<4000 {
            let name = "d\(Int.random(in: 0..<60, using: &random))"
            if Bool.random(using: &random) {
                let tag = "t\(Int.random(in: 0..<5, using: &random))"
                try hub.register(name, "gcm", tags: [tag])
                model[name] = tag
            } else {
                try hub.call("DELETE", "installations/\(name)")
                model[name] = nil
            }
        }
        for tag in 0..<5 {
            hub.hub.messages.state.withLock { $0.devices.reset() }
            try hub.send("gcm", to: "t\(tag)", "{}")
            #expect(hub.rung.keys.sorted() == model.filter { $0.value == "t\(tag)" }.keys.sorted())
        }
    }
}
