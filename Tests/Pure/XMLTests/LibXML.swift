import Glibc

/// libxml2's judgement. FoundationXML asks it too, but its XMLParser says nothing of a text that ends too early, and falls over an
/// instruction without content.
struct LibXML {
    private typealias Read =
        @convention(c) (UnsafePointer<CChar>, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?, CInt) -> OpaquePointer?
    private typealias Free = @convention(c) (OpaquePointer) -> Void
    /// No network, and nothing printed.
    private static let options: CInt = 1 << 11 | 1 << 5 | 1 << 6

    private let read: Read
    private let free: Free

    /// Nil where the library is not installed.
    init?() {
        guard let library = dlopen("libxml2.so.2", RTLD_NOW), let read = dlsym(library, "xmlReadMemory"),
            let free = dlsym(library, "xmlFreeDoc")
        else { return nil }
        self.read = unsafeBitCast(read, to: Read.self)
        self.free = unsafeBitCast(free, to: Free.self)
    }

    /// True if `text` is well formed. A name whose namespace is unknown is no fault.
    func isWellFormed(_ text: [UInt8]) -> Bool {
        let document = text.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return nil }
            return read(start, CInt(bytes.count), nil, nil, Self.options)
        }
        guard let document else { return false }
        free(document)
        return true
    }
}
