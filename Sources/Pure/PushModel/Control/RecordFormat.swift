/// The version of pushfan that wrote a record that pushfan reads back, as its headers say (page Upgrading, "What versions have in
/// common").
///
/// The header `pushfan-format` names the version of the record's form; without it that is 1, which this version writes. Whoever meets
/// another one leaves the partition as it is. That header and `pushfan-group` mean the same in every version, so that the records of
/// another group are passed over whatever their form is.
public struct RecordFormat: Sendable, Equatable {
    /// The header with the version of a record's form.
    public static let header = "pushfan-format"

    private let group: String?
    private var isKnown = true
    private var isForeign = false

    /// The format of a record of which no header was read. The group whose records matter is nil for a topic whose records name
    /// none.
    public init(of group: String?) { self.group = group }

    /// Reads one header. Every record's headers must be given in their order.
    ///
    /// - Parameters:
    ///   - name: The header's name.
    ///   - value: Its value, if it has one.
    public mutating func add(name: Span<UInt8>, value: Span<UInt8>?) {
        if name.equals(Self.header) {
            guard let value, value.equals("1") else {
                isKnown = false
                return
            }
        } else if let group, name.equals("pushfan-group") {
            guard let value else { return }
            isForeign = !value.equals(group)
        }
    }

    /// True if another version wrote the record for this group, so that this version must leave it.
    public var isNewer: Bool { !isKnown && !isForeign }
}
