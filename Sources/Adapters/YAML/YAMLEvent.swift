import CYAML

/// One step through a YAML document, copied out of libyaml's memory.
struct YAMLEvent {
    enum Kind {
        case streamStart, streamEnd, documentStart, documentEnd
        case scalar(String, isQuoted: Bool)
        case sequenceStart, sequenceEnd, mappingStart, mappingEnd
        case alias
    }

    let kind: Kind
    let mark: YAMLMark
    let hasTag: Bool

    /// Copies an event. The caller still owns it and deletes it.
    init?(_ event: yaml_event_t) {
        mark = YAMLMark(event.start_mark)
        var tag: UnsafeMutablePointer<yaml_char_t>?
        switch event.type {
        case YAML_STREAM_START_EVENT: kind = .streamStart
        case YAML_STREAM_END_EVENT: kind = .streamEnd
        case YAML_DOCUMENT_START_EVENT: kind = .documentStart
        case YAML_DOCUMENT_END_EVENT: kind = .documentEnd
        case YAML_ALIAS_EVENT: kind = .alias
        case YAML_SEQUENCE_END_EVENT: kind = .sequenceEnd
        case YAML_MAPPING_END_EVENT: kind = .mappingEnd
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            kind = .scalar(String(decoding: text, as: UTF8.self), isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE)
            tag = scalar.tag
        case YAML_SEQUENCE_START_EVENT:
            kind = .sequenceStart
            tag = event.data.sequence_start.tag
        case YAML_MAPPING_START_EVENT:
            kind = .mappingStart
            tag = event.data.mapping_start.tag
        default: return nil
        }
        hasTag = tag != nil
    }
}

extension YAMLMark {
    /// libyaml counts lines and columns from 0.
    init(_ mark: yaml_mark_t) {
        self.init(line: mark.line + 1, column: mark.column + 1)
    }
}

/// Owns one libyaml parser over bytes that outlive it.
struct YAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeBufferPointer<UInt8>

    /// - Parameter input: Must stay where it is for the life of the parser, which reads it in place (yaml.h,
    ///   `yaml_parser_set_input_string`).
    /// - Throws: `YAMLError` when there is no memory for the parser.
    init(_ input: UnsafeBufferPointer<UInt8>) throws(YAMLError) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLError(mark: YAMLMark(line: 1, column: 1), message: "there is no memory to read the file")
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
        self.parser = parser
        self.input = input
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    /// - Returns: The next event.
    /// - Throws: `YAMLError` where the bytes are not YAML.
    mutating func next() throws(YAMLError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
        defer { yaml_event_delete(&event) }
        guard let copy = YAMLEvent(event) else { throw failure() }
        return copy
    }

    private func failure() -> YAMLError {
        let state = parser.pointee
        let problem = state.problem.map { String(cString: $0) } ?? "the document ends too early"
        guard state.error != YAML_READER_ERROR else {
            return YAMLError(mark: mark(ofByte: state.problem_offset), message: "the file is not UTF-8 text: \(problem)")
        }
        let context = state.context.map { " " + String(cString: $0) } ?? ""
        let since = state.context == nil ? "" : " that begins in line \(state.context_mark.line + 1)"
        return YAMLError(mark: YAMLMark(state.problem_mark), message: "the file is not YAML: \(problem)\(context)\(since)")
    }

    private func mark(ofByte offset: Int) -> YAMLMark {
        let before = input.prefix(max(0, offset))
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        return YAMLMark(line: line, column: before.count - lineStart + 1)
    }
}
