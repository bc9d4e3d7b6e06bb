/// The rules of WNS about headers. A body's are those of XML.
enum WindowsRules {
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
