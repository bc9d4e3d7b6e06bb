import PushModel

/// Audiences as requests have them.
extension ByteWriter {
    /// Appends an audience of names of a kind.
    mutating func append(_ kind: StaticString, names: some Sequence<JSONDocument.Text>, in document: JSONDocument) {
        append("{")
        append(key: kind)
        append("[")
        append(list: names) { $0.append(json: document.span($1)) }
        append("]}")
    }

    /// Appends an audience of devices, each by its handle.
    mutating func append(devices: some Sequence<FanOutPlan.Device>, in document: JSONDocument) {
        append("{\"devices\":[")
        append(list: devices) { json, device in
            json.append("{\"platform\":", word: device.platform.name)
            json.append(",\"handle\":", json: document.span(device.handle))
            json.append("}")
        }
        append("]}")
    }
}

extension FanOutPlan {
    /// A device of a native call.
    struct Device {
        let platform: Platform
        let handle: JSONDocument.Text
    }

    /// The devices of some calls that name them.
    func devices(of group: some Sequence<Int>) -> [Device] {
        group.flatMap { index -> [Device] in
            guard let platform = calls[index].platform else { return [] }
            return calls[index].target.handles.map { Device(platform: platform, handle: $0) }
        }
    }
}

extension FanOutPlan.Target {
    /// The handles that it is named by.
    fileprivate var handles: [JSONDocument.Text] {
        switch self {
        case .device(let handle): [handle]
        case .devices(let handles): handles
        case .tags, .broadcast: []
        }
    }
}
