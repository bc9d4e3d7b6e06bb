package import HTTPServing
package import PushModel

/// A device in the list of devices, with what rang on it.
package struct DeviceEntry: Sendable {
    /// A notification as it rang.
    package struct Ring: Sendable {
        /// Empty for a test send.
        package let notificationID: String
        package let callID: Int
        /// Milliseconds since 1970.
        package let milliseconds: Int64
        /// The format of the send.
        package let format: String
        /// The name of the template that was filled in, "" for one without a name.
        package let template: String?
        package let headers: HTTPFields
        package let body: [UInt8]

        package init(
            notificationID: String, callID: Int, milliseconds: Int64, format: String, template: String?, headers: HTTPFields,
            body: [UInt8]
        ) {
            (self.notificationID, self.callID, self.milliseconds) = (notificationID, callID, milliseconds)
            (self.format, self.template, self.headers, self.body) = (format, template, headers, body)
        }

        fileprivate var json: JSONObject {
            var object = JSONObject([
                "notification_id": notificationID, "call": callID, "time": Moment(milliseconds: milliseconds).rfc3339,
                "format": format, "template": template,
            ])
            object.add("headers", raw: ReportJSON.fields(headers))
            object.add("body", value: String(decoding: body, as: UTF8.self))
            return object
        }
    }

    package let platform: String
    package let handle: String
    /// The tags of its registrations, each once.
    package let tags: [String]
    package let installations: [String]
    package let registrationCount: Int
    /// All rings, those included that are not kept any more.
    package let rungCount: Int
    package let rung: [Ring]
    /// The kept rings that no newer one replaces.
    package let visibleCount: Int
    /// For each of `rung`, that no newer ring replaces it.
    package let areShown: [Bool]

    package init(
        platform: String, handle: String, tags: [String], installations: [String], registrationCount: Int, rungCount: Int,
        rung: [Ring], visibleCount: Int, areShown: [Bool]
    ) {
        (self.platform, self.handle, self.tags, self.installations) = (platform, handle, tags, installations)
        (self.registrationCount, self.rungCount, self.rung) = (registrationCount, rungCount, rung)
        (self.visibleCount, self.areShown) = (visibleCount, areShown)
    }

    /// The device as JSON.
    package var json: JSONObject {
        let rings = rung.map(\.json.bytes)
        var object = JSONObject(["platform": platform, "handle": handle])
        object.add("tags", array: tags.map(JSONObject.text))
        object.add("installations", array: installations.map(JSONObject.text))
        object.add(["registrations": registrationCount, "rung_count": rungCount])
        object.add("rung", array: rings)
        object.add("visible_count", value: visibleCount)
        object.add("visible", array: zip(rings, areShown).filter(\.1).map(\.0))
        return object
    }
}

extension [Registration] {
    /// Their tags, each once.
    package var allTags: [String] { flatMap(\.tags).eachOnce }

    /// The installations that they belong to, each once.
    package var allInstallations: [String] { compactMap(\.installationID).eachOnce }
}

extension [String] {
    /// Every text once, where it is first.
    fileprivate var eachOnce: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
