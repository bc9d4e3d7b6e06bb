package import Kafka
package import PushModel

extension RecordFormat {
    /// True if a newer version wrote a record of pushfan's, so that this one must leave it. Without a group records of any count.
    package static func isNewer(_ record: FetchedRecord, of group: String?) -> Bool {
        var format = RecordFormat(of: group)
        for (name, value) in record.headers {
            if let value { format.add(name: name.span, value: value.span) } else { format.add(name: name.span, value: nil) }
        }
        return format.isNewer
    }

    /// The same for a record that is being read.
    package static func isNewer(_ record: borrowing ConsumedRecord, of group: String?) -> Bool {
        var format = RecordFormat(of: group)
        record.forEachHeader { name, value in format.add(name: name, value: value) }
        return format.isNewer
    }
}
