internal import PushModel
internal import XML

/// The rules of WNS about headers. A body's are those of XML.
enum WindowsRules {
    /// The reason that a body is none of its type, as a sentence.
    struct BodyFault: Error {
        let sentence: String
    }

    /// The type of a body: what its root element says, which the header may repeat. Raw, which is anything, only if the header says so.
    ///
    /// - Throws: `BodyFault` for what is not well-formed XML, has another root, or is of another type than `stated`.
    static func type(
        of body: Span<UInt8>, stated: WNSType?, allowing leniency: XMLScanner.Leniency = []
    ) throws(BodyFault) -> WNSType {
        if stated == .raw { return .raw }
        let root: Range<Int>
        do throws(XMLFault) {
            root = try XMLScanner.root(of: body, allowing: leniency)
        } catch {
            // Text deeper or wider than the scanner goes may be XML all the same.
            if error.isLimit { throw BodyFault(sentence: error.sentence) }
            throw BodyFault(
                sentence: "The body is not XML. \(error.sentence) For anything but XML, set X-WNS-Type to wns/raw.")
        }
        guard let type = [WNSType.toast, .tile, .badge].first(where: { body.extracting(root).equals("\($0.rootName)") })
        else {
            throw BodyFault(
                sentence:
                    "The body must be an XML text with the root toast, tile or badge; for anything else, set X-WNS-Type to wns/raw."
            )
        }
        if let stated, stated != type {
            throw BodyFault(sentence: "X-WNS-Type says \(stated.headerValue), but the body's root is \(type.rootName).")
        }
        return type
    }

    static let headers: [HeaderRule] = [
        HeaderRule("x-wns-type", as: .words(["wns/toast", "wns/tile", "wns/badge", "wns/raw"]), from: .windowsHeaders),
        HeaderRule("x-wns-ttl", as: .digits, from: .windowsHeaders),
        HeaderRule("x-wns-tag", as: .alphanumeric(CollapseID.maximumTagLength), from: .windowsHeaders),
        HeaderRule("x-wns-group", as: .alphanumeric(CollapseID.maximumTagLength), from: .windowsHeaders),
        HeaderRule("x-wns-cache-policy", as: .words(["cache", "no-cache"]), from: .windowsHeaders),
        HeaderRule("x-wns-requestforstatus", as: .words(["true", "false"]), from: .windowsHeaders),
        HeaderRule("x-wns-priority", as: .words(["1", "2", "3", "4"]), from: .windowsPriority),
        HeaderRule("x-wns-suppresspopup", as: nil, from: .windowsHeaders),
    ]
}

/// The rules of Amazon Device Messaging.
enum AmazonRules {
    static let body = ValueForm.open([
        FieldRule("data", as: .strings(reservedBy: nil), from: .amazonMessage),
        FieldRule("consolidationKey", as: .text(.any), from: .amazonMessage),
        FieldRule("md5", as: .text(.any), from: .amazonMessage),
        FieldRule("expiresAfter", as: .integer(1...2_678_400, isProtocolBuffer: false), from: .amazonOverview),
    ])
}
