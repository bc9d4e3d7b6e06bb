import Basics
import Delivery
import YAML

/// A flag of the command line that sets a key.
public struct SettingFlag: Sendable {
    /// The dotted name of the key.
    public let key: String
    /// The text as it was given.
    public let value: String
    /// The flag as it was spelled, such as `--log-level`, for messages.
    public let spelling: String

    /// Names a flag as it was spelled, with its text and the dotted name of its key.
    public init(key: String, value: String, spelling: String) {
        self.key = key
        self.value = value
        self.spelling = spelling
    }
}

/// A value that a source offers for a key.
struct SettingCandidate: Sendable {
    let input: SettingInput
    let origin: SettingOrigin
}

/// Gathers the values of flags, environment and file, the strongest source last.
struct SettingSources {
    typealias ReadFile = (String) throws -> [UInt8]

    private(set) var candidates: [String: SettingCandidate] = [:]
    private(set) var problems: [SettingProblem] = []
    /// The files of the hubs' secrets that were read.
    private(set) var hubKeyFiles: [String] = []
    /// The names of the sections that the file names.
    private(set) var named = NamedSettings()
    private var definitions = SettingsSchema.all
    private let readFile: ReadFile

    init(readFile: @escaping ReadFile) {
        self.readFile = readFile
    }

    // MARK: flags

    mutating func add(flags: [SettingFlag]) {
        for flag in flags {
            guard definitions.contains(where: { $0.name == flag.key }) else {
                problems.append(unknown(flag.key, at: .flag(flag.spelling)))
                continue
            }
            candidates[flag.key] = SettingCandidate(input: .text(flag.value), origin: .flag(flag.spelling))
        }
    }

    // MARK: environment

    /// An empty variable counts as one that is not set.
    mutating func add(environment: [String: String]) {
        let given = environment.filter { !$0.value.isEmpty }
        for definition in definitions {
            let name = definition.variable
            if let text = given[name] {
                candidates[definition.name] = SettingCandidate(input: .text(text), origin: .variable(name))
            }
            if definition.isSecret, let path = given[name + "_FILE"] {
                add(secretFile: path, of: definition, isRepeated: given[name] != nil)
            }
        }
        let known = SettingVariables.known(definitions)
        for name in given.keys.sorted() where SettingVariables.isOurs(name) && !known.contains(name) {
            let hint = Self.hint(SettingVariables.nearest(to: name, among: known), for: name)
            note(nil, at: .variable(name), message: "there is no such setting" + hint)
        }
    }

    private mutating func add(secretFile path: String, of definition: SettingDefinition, isRepeated: Bool) {
        let variable = definition.variable + "_FILE"
        guard !isRepeated else {
            let message = "both \(definition.variable) and \(variable) are set; keep one"
            return note(definition.name, at: .variable(variable), message: message)
        }
        let origin = SettingOrigin.variableFile(variable: variable, path: path)
        guard let text = secret(in: path, of: definition, at: origin) else { return }
        candidates[definition.name] = SettingCandidate(input: .text(text), origin: origin)
    }

    /// The content of a file without a byte order mark and its last line break, or nil and a problem when it cannot be read.
    private mutating func secret(in path: String, of definition: SettingDefinition, at origin: SettingOrigin) -> String? {
        do {
            guard var text = String(validating: try readFile(path).withoutByteOrderMark, as: UTF8.self) else {
                note(definition.name, at: origin, message: "the file is not UTF-8 text")
                return nil
            }
            if text.last?.isNewline == true { text.removeLast() }
            if ["hub.", "hubs."].contains(where: definition.name.hasPrefix) { hubKeyFiles.append(path) }
            return text
        } catch {
            note(definition.name, at: origin, message: "the file cannot be read: \(error)")
            return nil
        }
    }

    // MARK: file

    /// - Parameters:
    ///   - path: The settings file.
    ///   - origin: The source that named it.
    mutating func add(file path: String, namedBy origin: SettingOrigin) {
        do {
            try add(file: path, root: YAMLReader.read(try readFile(path), showing: SettingText.shown))
        } catch let error as YAMLError {
            note(nil, at: at(error.mark, path: path), message: error.message)
        } catch {
            note(nil, at: origin, message: "the settings file \(path) cannot be read: \(error)")
        }
    }

    private mutating func add(file path: String, root: YAMLNode) throws(YAMLError) {
        guard case .mapping(let entries) = root.value else {
            throw YAMLError(mark: root.mark, message: "the file must be a mapping of keys to values")
        }
        for entry in entries where NamedSettings.sections.contains(entry.key) { addNames(of: entry, at: path) }
        definitions = Settings.definitions(naming: named)
        add(entries.filter { !NamedSettings.sections.contains($0.key) || isMapping($0) }, below: "", of: path)
    }

    private func isMapping(_ entry: YAMLNode.Entry) -> Bool {
        if case .mapping(let inner) = entry.node.value { !inner.isEmpty } else { false }
    }

    /// Takes in which hubs, or spreads, the file names.
    private mutating func addNames(of entry: YAMLNode.Entry, at path: String) {
        guard case .mapping(let names) = entry.node.value else {
            if !entry.node.isAbsent {
                note(entry.key, at: at(entry.mark, path: path), message: "this is a section; expected names below it")
            }
            return
        }
        for name in names {
            guard let fault = named.add(name.key, to: entry.key) else { continue }
            note(entry.key, at: at(name.mark, path: path), message: "\(SettingText.shown(name.key)) \(fault)")
        }
    }

    private mutating func add(_ entries: [YAMLNode.Entry], below prefix: String, of path: String) {
        for entry in entries {
            let name = prefix + entry.key
            if let definition = definitions.first(where: { $0.name == name }) {
                add(entry, of: path, for: definition)
            } else if let definition = definitions.first(where: { $0.isSecret && !$0.acceptsMap && $0.name + "_file" == name }) {
                add(secretFile: entry, of: path, for: definition)
            } else if !definitions.contains(where: { $0.name.hasPrefix(name + ".") }) {
                problems.append(unknown(name, at: at(entry.mark, path: path)))
            } else if case .mapping(let inner) = entry.node.value {
                add(inner, below: name + ".", of: path)
            } else if !entry.node.isAbsent {
                note(name, at: at(entry.mark, path: path), message: "this is a section; expected keys below it")
            }
        }
    }

    /// A secret that stands in a file of its own, which the settings file names.
    private mutating func add(secretFile entry: YAMLNode.Entry, of path: String, for definition: SettingDefinition) {
        guard !entry.node.isAbsent else { return }
        let place = at(entry.mark, path: path)
        guard let file = Self.scalar(entry.node) else {
            return note(definition.name, at: place, message: "the value has the wrong shape", expected: "the path of a file")
        }
        guard candidates[definition.name] == nil else {
            return note(definition.name, at: place, message: "the key is given twice in this file")
        }
        if let text = secret(in: file, of: definition, at: place) {
            candidates[definition.name] = SettingCandidate(input: .text(text), origin: place)
        }
    }

    private mutating func add(_ entry: YAMLNode.Entry, of path: String, for definition: SettingDefinition) {
        guard !entry.node.isAbsent else { return }
        let origin = at(entry.mark, path: path)
        guard let input = Self.input(entry.node, for: definition) else {
            return note(definition.name, at: origin, message: "the value has the wrong shape", expected: definition.allowed)
        }
        guard candidates.updateValue(SettingCandidate(input: input, origin: origin), forKey: definition.name) == nil else {
            return note(definition.name, at: origin, message: "the key is given twice in this file")
        }
    }

    private static func input(_ node: YAMLNode, for definition: SettingDefinition) -> SettingInput? {
        switch node.value {
        case .scalar(let text, _): return .text(text)
        case .sequence(let items) where definition.acceptsList:
            let texts = items.compactMap(scalar)
            return texts.count == items.count ? .list(texts) : nil
        case .mapping(let entries) where definition.acceptsMap:
            let pairs = entries.compactMap { entry in scalar(entry.node).map { SettingPair(name: entry.key, value: $0) } }
            return pairs.count == entries.count ? .map(pairs) : nil
        case .sequence, .mapping: return nil
        }
    }

    private static func scalar(_ node: YAMLNode) -> String? {
        if case .scalar(let text, _) = node.value { text } else { nil }
    }

    private mutating func note(_ key: String?, at origin: SettingOrigin, message: String, expected: String? = nil) {
        problems.append(SettingProblem(key, origin: origin, message: message, expected: expected))
    }

    private func at(_ mark: YAMLMark, path: String) -> SettingOrigin {
        .file(path: path, line: mark.line, column: mark.column)
    }

    private func unknown(_ name: String, at origin: SettingOrigin) -> SettingProblem {
        let suggestion = SettingText.nearest(to: name, among: definitions.map(\.name), separator: ".")
        let hint = Self.hint(suggestion, for: SettingDefinition.variable(of: name))
        return SettingProblem(nil, origin: origin, message: "there is no setting \(SettingText.shown(name))\(hint)")
    }

    /// The end of the sentence about an unknown setting.
    private static func hint(_ suggestion: String?, for variable: String) -> String {
        if Topics.formerVariables.contains(variable) { return "; its topic is named after kafka.topics.requests" }
        return suggestion.map { "; did you mean \($0)?" } ?? ""
    }
}
