import PushModel

extension GoldenTests {
    static let messageCases: [(title: String, members: String)] = [
        ("title and body", #""message":{"title":"Order shipped","body":"Your parcel is on its way"}"#),
        ("title only", #""message":{"title":"Hi"}"#),
        ("body only", #""message":{"body":"Hi"}"#),
        ("title, subtitle and body", #""message":{"title":"T","subtitle":"S","body":"B"}"#),
        ("subtitle without body", #""message":{"title":"T","subtitle":"S"}"#),
        ("an empty title", #""message":{"title":""}"#),
        (
            "every field",
            #""message":{"title":"Game tonight","subtitle":"Fenway Park","body":"19:05","image_url":"https://cdn.example.com/42.png?w=1&h=2","deep_link":"app://games/42?tab=1&x=y","sound":"whistle.caf","badge":3,"action_category":"GAME","thread_id":"game-42","data":{"game_id":"42","home":"Red Sox"}},"ttl_seconds":3600,"priority":"high","collapse_key":"game-42","source":"/games""#
        ),
        ("default sound", #""message":{"title":"Hi","sound":"default"}"#),
        ("a sound with an address", #""message":{"title":"Hi","sound":"ms-winsoundevent:Notification.Mail"}"#),
        ("a sound with blanks", #""message":{"title":"Hi","sound":"ding dong.wav"}"#),
        ("badge", #""message":{"title":"Hi","badge":7}"#),
        ("badge 0 clears", #""message":{"title":"Hi","badge":0}"#),
        ("badge and data without text", #""message":{"badge":7,"data":{"k":"v"}}"#),
        ("image", #""message":{"title":"Hi","image_url":"https://cdn.example.com/a.png"}"#),
        ("deep link", #""message":{"title":"Hi","deep_link":"app://orders/7"}"#),
        ("action category and thread", #""message":{"title":"Hi","action_category":"REPLY","thread_id":"t-1"}"#),
        ("data beside text", #""message":{"title":"Hi","data":{"order":"7","state":""}}"#),
        ("data only", #""message":{"data":{"order":"7"}}"#),
        ("silent with data", #""message":{"silent":true,"data":{"sync":"orders"}}"#),
        (
            "silent with everything: all of it travels as data",
            #""message":{"silent":true,"title":"T","subtitle":"S","body":"B","image_url":"https://e.example/a","deep_link":"a:b","sound":"s","badge":1,"action_category":"C","thread_id":"t","data":{"k":"v"}},"priority":"high""#
        ),
        ("silent with nothing", #""message":{"silent":true,"data":{}}"#),
        ("priority high", #""message":{"title":"Hi"},"priority":"high""#),
        ("priority normal", #""message":{"title":"Hi"},"priority":"normal""#),
        ("priority low", #""message":{"title":"Hi"},"priority":"low""#),
        ("silent, priority low", #""message":{"silent":true,"data":{"k":"v"}},"priority":"low""#),
        ("expires at a moment", #""message":{"title":"Hi"},"expires_at":"2026-11-20T15:30:00.900+01:00""#),
        ("life of four weeks", #""message":{"title":"Hi"},"ttl_seconds":2419200"#),
        ("expires in a year", #""message":{"title":"Hi"},"expires_at":"2027-11-20T12:00:00Z""#),
        ("no life at all", #""message":{"title":"Hi"},"ttl_seconds":0"#),
        ("expired already", #""message":{"title":"Hi"},"expires_at":"2026-11-20T11:00:00Z""#),
        ("collapse key", #""message":{"title":"Hi"},"collapse_key":"score42""#),
        (
            "a collapse key that no header and no tag can hold as it is",
            #""message":{"title":"Hi"},"collapse_key":"the \"score\"""#
        ),
        ("an identity from id and source", #""message":{"title":"Hi"},"source":"/orders""#),
        ("escapes in every place", Self.escapes),
    ]

    private static let escapes =
        #""message":{"title":"\"q\" <b>&amp; \\ /","subtitle":"tab\tline\nend\u0000\u001f","body":"é 😀 \uD83D\uDE80 \uFFFE ]]> 'x'","deep_link":"a b&c=d","data":{"k \"<&=":"v\r\n%"}}"#

    static let nativeCases: [(title: String, platform: Platform, members: String)] = [
        ("an object, verbatim", .apple, #""payloads":{"apple":{"body":{ "aps" : {"alert":"Hi"}, "n": 1.50 }}}"#),
        ("a string, decoded", .apple, #""payloads":{"apns":{"body":"{\"aps\":{\"alert\":\"H\\u00e9\\n\"}}"}}"#),
        (
            "what the request says becomes headers", .apple,
            #""payloads":{"apple":{"body":{"aps":{"alert":"Hi"}}}},"ttl_seconds":60,"priority":"normal","collapse_key":"c""#
        ),
        (
            "what the headers say stands", .apple,
            #""payloads":{"apple":{"body":{"aps":{"alert":"Hi"}},"headers":{"apns-expiration":"0","X-Apns-Priority":"5","apns-collapse-id":"mine","apns-push-type":"alert","apns-topic":"com.example.app"}}},"ttl_seconds":60,"priority":"high","collapse_key":"c""#
        ),
        (
            "a background push has priority 5", .apple,
            #""payloads":{"apple":{"body":{"aps":{"content-available":1}}}},"priority":"high""#
        ),
        (
            "a background push by its header, as a string", .apple,
            #""payloads":{"apple":{"body":"{\"aps\":{\"content-available\":1}}","headers":{"apns-push-type":"background"}}},"priority":"low""#
        ),
        (
            "a live activity gets no identity", .apple,
            #""payloads":{"apple":{"body":{"aps":{"event":"update"}},"headers":{"apns-push-type":"liveactivity"}}}"#
        ),
        ("before message", .apple, #""message":{"title":"not this"},"payloads":{"apple":{"body":{"aps":{"alert":"this"}}}}"#),
        (
            "an object, nothing added to it", .fcmv1,
            #""payloads":{"fcm":{"body":{"message":{"notification":{"title":"Hi"},"data":{"k":"v"},"android":{"ttl":"60s"}}}}},"ttl_seconds":5,"priority":"high","collapse_key":"c""#
        ),
        ("an object", .gcm, #""payloads":{"gcm":{"body":{"notification":{"title":"Hi"},"data":{"k":1}}}}"#),
        (
            "a toast, known by its root", .windows,
            #""payloads":{"wns":{"body":"<?xml version=\"1.0\"?>\n<!-- a toast -->\n<toast><visual/></toast>\n"}},"ttl_seconds":60,"priority":"low","collapse_key":"game-42""#
        ),
        ("a toast gets an identity of its own", .windows, #""payloads":{"wns":{"body":"<toast/>"}}"#),
        (
            "a tile", .windows,
            #""payloads":{"windows":{"body":"<tile><visual><binding template='TileMedium'/></visual></tile>"}}"#
        ),
        (
            "a badge, content type given", .windows,
            #""payloads":{"windows":{"body":"<badge value=\"3\"/>","content_type":"application/xml"}}"#
        ),
        (
            "raw, because the header says so", .windows,
            #""payloads":{"windows":{"body":"any <bytes","headers":{"X-WNS-Type":"wns/raw","X-WNS-TTL":"9"}}},"ttl_seconds":60,"collapse_key":"c""#
        ),
        ("raw from an object", .windows, #""payloads":{"windows":{"body":{"k":[1,2]},"headers":{"x-wns-type":"WNS/RAW"}}}"#),
        ("an object", .adm, #""payloads":{"adm":{"body":{"data":{"k":"v"}}}}"#),
        (
            "an object with a header", .baidu,
            #""payloads":{"baidu":{"body":{"title":"Hi"},"headers":{"X-Baidu-Message-Type":"1"}}}"#
        ),
        ("a string", .browser, #""payloads":{"browser":{"body":"{\"title\":\"Hi\"}"}}"#),
        ("a string of bytes", .xiaomi, #""payloads":{"xiaomi":{"body":"k=v","content_type":"application/octet-stream"}}"#),
    ]

    static let templateCases: [(title: String, members: String)] = [
        ("properties", #""template":{"messageParam":"Hello","lang":"en"}"#),
        ("escapes", #""template":{"a \"b\"":"<é> \u0007\n\uD83D\uDE80","empty":""}"#),
        ("an expiry for the Apple templates", #""template":{"k":"v"},"ttl_seconds":90"#),
    ]

    static let refusalCases: [(title: String, platform: Platform, members: String)] = [
        ("no content", .fcmv1, #""payloads":{"apple":{"body":{"aps":{}}}}"#),
        ("a message cannot be formatted", .adm, #""message":{"title":"Hi"}"#),
        ("a message cannot be formatted", .browser, #""message":{"title":"Hi"}"#),
        ("a data key named aps", .apple, #""message":{"title":"Hi","data":{"aps":"x"}}"#),
        (
            "a data key beside the field of its name", .apple,
            #""message":{"title":"Hi","deep_link":"a:b","data":{"deep_link":"c:d"}}"#
        ),
        ("a reserved data key", .fcmv1, #""message":{"title":"Hi","data":{"a":"b","google.id":"x"}}"#),
        ("a reserved data key", .gcm, #""message":{"title":"Hi","data":{"gcmx":"x"}}"#),
        ("a target in the body", .fcmv1, #""payloads":{"fcmv1":{"body":{"message":{"token":"secret-token"}}}}"#),
        ("a target in a string body", .fcmv1, #""payloads":{"fcmv1":{"body":"{\"message\":{\"t\\u006fpic\":\"news\"}}"}}"#),
        ("no JSON", .apple, #""payloads":{"apple":{"body":"{\"aps\":{\"alert\":}}"}}"#),
        ("no known root", .windows, #""payloads":{"windows":{"body":"<note/>"}}"#),
        (
            "a header of the hub call", .apple,
            #""payloads":{"apple":{"body":{"aps":{}},"headers":{"ServiceBusNotification-Tags":"all"}}}"#
        ),
        ("too large", .apple, #""message":{"title":"Hi","data":{"a":"\#(String(repeating: "é", count: 2040))"}}"#),
    ]
}
