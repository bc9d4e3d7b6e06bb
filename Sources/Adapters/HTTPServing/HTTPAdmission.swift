/// The decision on a request whose head is complete, before any byte of its body is kept.
public enum HTTPAdmission: Sendable {
    /// The body is read, and the handler gets it as it came, whatever `Content-Encoding` it has. One of more bytes, or of more than
    /// ``HTTPServerConfiguration/maximumBodyByteCount``, is answered 413.
    case read(atMost: Int)
    /// The body is read, and the handler gets it unpacked from gzip. The header fields stay as they came.
    ///
    /// One that has more bytes, packed or unpacked, than these or than ``HTTPServerConfiguration/maximumBodyByteCount`` is answered 413 as
    /// soon as that is seen, one that is no whole gzip (RFC 1952) 400, and one of another coding 415 at its head, with `Accept-Encoding: gzip`
    /// (RFC 9110, 12.5.3). Bytes count in ``HTTPServerConfiguration/maximumBodyByteCountInAll`` as they are unpacked, and 40 KiB for what
    /// unpacks them. A body that is not packed is read as by ``read(atMost:)``.
    case readUnpacked(atMost: Int)
    /// The body is read and discarded. The handler gets none.
    case skip
    /// This is the answer, and the handler is not called. Its delivery and its delay do not count.
    ///
    /// Where the head announces a body, the answer does not wait for it, and ends the connection: with `Expect: 100-continue` the client
    /// sends none, and what another one has on its way is read past, so that it can read the answer. Else the connection stays.
    case answer(HTTPServerResponse)
}
