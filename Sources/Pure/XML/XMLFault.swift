/// The first place at which a text is not well-formed XML.
package struct XMLFault: Error, Sendable, Equatable {
    /// The rule that it breaks.
    package enum Kind: Sendable, Equatable, CaseIterable {
        /// Bytes that are no UTF-8.
        case utf8
        /// A character that XML does not have, such as U+000B.
        case character
        /// An `&` that begins no reference.
        case ampersand
        /// A reference to anything but the five predefined entities and the characters of XML.
        case reference
        /// No name where one must stand.
        case name
        /// A prefix that is declared nowhere around, or a name with more than one, for readers that know namespaces.
        case prefix
        /// A tag, or what begins with `<!`, that is none.
        case tag
        /// An attribute without `=` or quotation marks.
        case attribute
        /// A `<` in an attribute's value.
        case lessThan
        /// An attribute that its element has already.
        case secondAttribute
        /// A closing tag that does not close what is open.
        case closingTag
        /// The end of the text before that of an element, a comment, an instruction or a section.
        case end
        /// `]]>` in text.
        case sectionEnd
        /// `--` in a comment.
        case comment
        /// A processing instruction that is none.
        case instruction
        /// An XML declaration that is none.
        case declaration
        /// An XML declaration behind the first byte.
        case lateDeclaration
        /// A declared encoding that is not the text's.
        case encoding
        /// A document type.
        case documentType
        /// Text outside the root element.
        case outside
        /// A second root element.
        case secondRoot
        /// The end of the text without an element.
        case root
        /// More elements inside one another than are taken.
        case depth
        /// More attributes of one element than are taken.
        case attributeCount
    }

    /// The rule.
    package var kind: Kind
    /// The number of bytes before the fault.
    package var offset: Int

    package init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// True if the text is beyond what the scanner takes, and may be XML all the same.
    package var isLimit: Bool { [.depth, .attributeCount, .documentType].contains(kind) }

    /// One plain sentence that repeats nothing of the text.
    package var sentence: String {
        switch kind {
        case .utf8: "The text is not UTF-8 at byte \(offset)."
        case .character: "The text has a character at byte \(offset) that XML does not allow."
        case .ampersand: "The text has a bare & at byte \(offset); write &amp;."
        case .reference: "The reference at byte \(offset) stands for no character of XML; write the character itself."
        case .name: "A name must begin at byte \(offset)."
        case .prefix: "The name at byte \(offset) has a prefix that is not declared."
        case .tag: "The tag is not well formed at byte \(offset)."
        case .attribute: "The attribute lacks = or quotation marks at byte \(offset)."
        case .lessThan: "The attribute's value has a < at byte \(offset); write &lt;."
        case .secondAttribute: "The attribute at byte \(offset) stands in its element already."
        case .closingTag: "The closing tag at byte \(offset) does not close the element that is open."
        case .end: "The text ends at byte \(offset) before all that it opens is closed."
        case .sectionEnd: "The text has ]]> at byte \(offset); write ]]&gt;."
        case .comment: "The comment has -- at byte \(offset)."
        case .instruction: "The processing instruction is not well formed at byte \(offset)."
        case .declaration: "The XML declaration is not well formed at byte \(offset)."
        case .lateDeclaration: "The XML declaration at byte \(offset) must be the first thing of the text."
        case .encoding: "The encoding declared at byte \(offset) is not that of the text, which is UTF-8."
        case .documentType: "The text declares a document type at byte \(offset), which is not allowed."
        case .outside: "The text has something outside its root element at byte \(offset)."
        case .secondRoot: "The text has a second root element at byte \(offset)."
        case .root: "The text ends at byte \(offset) without a root element."
        case .depth: "The elements are nested too deeply at byte \(offset)."
        case .attributeCount: "The element has too many attributes at byte \(offset)."
        }
    }
}
