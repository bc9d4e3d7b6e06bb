import PushModel
import Testing

@testable import HubEmulator
@testable import HubServer

struct TemplateTests {
    private static let properties = [
        "name": "Ann", "count": "7", "title": "A very long headline for today", "q": "a b&c", "evil": "\"<&>\\\n",
    ]

    @Test(arguments: [
        (#"{"aps":{"alert":"$(name)"}}"#, #"{"aps":{"alert":"Ann"}}"#),
        (#"{"aps":{"alert":"$(NAME)"}}"#, #"{"aps":{"alert":"Ann"}}"#),
        (##"{"aps":{"badge":"#(count)"}}"##, #"{"aps":{"badge":7}}"#),
        (#"{"aps":{"alert":"$(missing)"}}"#, #"{"aps":{"alert":""}}"#),
        (#"{"a":"$(title, 6)"}"#, #"{"a":"A very"}"#), (#"{"a":"$(title,0)"}"#, #"{"a":""}"#),
        (#"{"a":".(title, 20)"}"#, #"{"a":"A very long headl..."}"#), (#"{"a":".(name, 3)"}"#, #"{"a":"Ann"}"#),
        (#"{"a":".(title, 2)"}"#, #"{"a":".."}"#), (#"{"u":"%(q)"}"#, #"{"u":"a%20b%26c"}"#),
        (#"{"a":"{'Hi ' + $(name) + ', it''s ' + $(count)}"}"#, #"{"a":"Hi Ann, it's 7"}"#),
        (#"{"a":"$(name) + '!'"}"#, #"{"a":"Ann!"}"#), (#"{"a":"Hello $(name)"}"#, #"{"a":"Hello $(name)"}"#),
        (#"{"a":"{'#1 news'}"}"#, ##"{"a":"#1 news"}"##), (##"{"a":"#(name)"}"##, #"{"a":"Ann"}"#),
        (#"{"a":"$(none:{no\\} one})"}"#, #"{"a":"no} one"}"#), (#"{"a":"$(none:{abc}, 2)"}"#, #"{"a":"ab"}"#),
        (#"{"$(name)":1, "b" : [ "$(name)" ], "c\"d":"e\u0041"}"#, #"{"$(name)":1, "b" : [ "Ann" ], "c\"d":"e\u0041"}"#),
        (#"{"a":"$(evil)"}"#, #"{"a":"\"<&>\\\n"}"#), (#"{"a":"\u0024(name)"}"#, #"{"a":"Ann"}"#),
        (#"<text id="1">$(name)</text>"#, #"<text id="1">Ann</text>"#),
        (#"<t a="$(evil)" b='x'>$(evil)</t>"#, "<t a=\"&quot;&lt;&amp;&gt;\\&#10;\" b='x'>&quot;&lt;&amp;&gt;\\&#10;</t>"),
        (
            "<?xml version=\"1.0\" encoding=\"utf-16\"?><a><!-- $(name) --><b>{'x' + $(name)}</b></a>",
            "<?xml version=\"1.0\" encoding=\"utf-16\"?><a><!-- $(name) --><b>xAnn</b></a>"
        ),
        ("<a>&#36;(name)</a>", "<a>Ann</a>"), ("<a>Hi $(name) &amp; co</a>", "<a>Hi $(name) &amp; co</a>"),
    ])
    func bodiesAreFilledIn(_ template: String, _ expected: String) throws {
        #expect(String(decoding: try BodyTemplate(template).rendered(Self.properties), as: UTF8.self) == expected)
    }

    @Test(arguments: [
        ("$name)", TemplateError.missingOpenParenthesis), ("$5 off", .missingOpenParenthesis),
        ("$(name", .missingCloseParenthesis),
        ("$(a, 3", .missingCloseParenthesis), ("$()", .missingProperty), ("$( , 3)", .missingProperty),
        ("$(a b)", .badPropertyName("a b")), ("$(é)", .badPropertyName("é")), ("%(a, 3)", .lengthNotAllowed),
        ("#(a, 3)", .lengthNotAllowed), (".(a)", .missingLength), ("...more", .missingOpenParenthesis), ("$(a, -1)", .badLength),
        ("$(a, x)", .badLength), ("$(a, )", .badLength), ("{a}", .unknownToken), ("{}", .unknownToken),
        ("{$(a) +}", .unknownToken),
        ("{$(a) - $(b)}", .badOperator), ("$(a) x", .badOperator), ("{'abc}", .unclosedLiteral), ("{$(a)", .unclosedComposite),
        ("{", .unclosedComposite), ("{#(a)}", .numericInComposite), ("#(a) + 'x'", .numericInComposite),
        ("#1 news", .missingOpenParenthesis),
        ("$body", .bodyReference), ("$(a:{x)", .unclosedComposite),
    ])
    func faultyExpressionsAreRefused(_ text: String, _ expected: TemplateError) {
        #expect(throws: expected) { try TemplateExpression(parsing: text) }
    }

    @Test func faultyBodiesAreRefused() {
        #expect(throws: TemplateError.numericInXML) { try BodyTemplate("<a>#(n)</a>") }
        for text in [
            "<a>", "<a", "<a>&</a>", "<a>&nbsp;</a>", "<a b='<'/>", "<a>\u{B}</a>", "<a></b>", "<a/><b/>", "<p:a/>",
            " <?xml version='1.0'?><a/>",
            "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        ] {
            let error = #expect(throws: TemplateError.self, "\(text)") { try BodyTemplate(text) }
            if case .notXML = error {} else { Issue.record("\(text): \(String(describing: error))") }
        }
        #expect(throws: TemplateError.badPropertyName(String(repeating: "a", count: 121))) {
            try TemplateExpression(parsing: "$(\(String(repeating: "a", count: 121)))")
        }
        for text in ["", "{", "plain", "\"$(a"] { #expect(throws: TemplateError.self) { try BodyTemplate(text) } }
    }

    @Test(arguments: [
        ("0", true), ("7", true), ("10.50", true), ("1e5", true), ("1.5E-3", true), ("01", false), ("-1", false), ("1.", false),
        (".5", false), ("1e", false), ("", false), ("1 ", false), ("٣", false),
    ])
    func numbersAreThoseOfTheService(_ text: String, _ isNumber: Bool) {
        #expect(TemplateExpression.isNumber(text) == isNumber)
    }

    @Test func whateverAPropertyHoldsTheBodyStaysValid() throws {
        var random = HubIdentifiers(seed: 11)
        let json = try BodyTemplate(##"{"a":"$(p)","b":"#(p)","c":["{'x' + $(p, 3)}","%(p)"]}"##)
        let xml = try BodyTemplate(#"<a b="$(p)"><c>$(p)</c></a>"#)
        for _ in 0..<2000 {
            let scalars = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x2FFF, using: &random))
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            var document = JSONDocument()
            try document.read(json.rendered(["p": text]).span)
            let first = try #require(document.member("a", of: document.root))
            #expect(document.string(document.text(of: first)).unicodeScalars.elementsEqual(text.unicodeScalars))
            #expect(Markup.read(xml.rendered(["p": text])) != nil)
        }
    }
}
