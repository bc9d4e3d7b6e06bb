import HTTPServing

/// The subset of JSON Patch (RFC 6902) that installations know: add, replace and remove. Values are strings, and any other JSON
/// value is its text inside a string.
enum InstallationPatch {
    /// An operation, taken apart.
    private struct Step {
        let removes: Bool
        let replaces: Bool
        let path: [String]
        let value: String?

        /// The value of an operation that needs one.
        func required() throws(RefusedCall) -> String {
            guard let value else { throw .invalid("The operation on '/\(path.joined(separator: "/"))' needs a value") }
            return value
        }

        var unknownPath: RefusedCall { RefusedCall(400, detail: "A patch cannot change '/\(path.joined(separator: "/"))'") }
    }

    /// Applies every operation of a patch, in order, or none: 400 names the first that cannot be applied.
    static func apply(_ body: [UInt8], to installation: inout StoredInstallation) throws(RefusedCall) {
        var patched = installation
        for operation in try InstallationReader(body).operations() {
            guard ["add", "replace", "remove"].contains(operation.name) else {
                throw .invalid("The operation '\(operation.name)' is not one of add, replace and remove")
            }
            guard operation.path.hasPrefix("/") else { throw .invalid("The path '\(operation.path)' does not begin with '/'") }
            let path = operation.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
                .map { String($0.replacing("~1", with: "/").replacing("~0", with: "~")) }
            let step = Step(
                removes: operation.name == "remove", replaces: operation.name == "replace", path: path, value: operation.value)
            try apply(step, to: &patched)
        }
        try patched.checkSize()
        if patched.target.pushChannel != installation.target.pushChannel { patched.isChannelExpired = false }
        installation = patched
    }

    private static func apply(_ step: Step, to installation: inout StoredInstallation) throws(RefusedCall) {
        switch step.path[0] {
        case "userId" where step.path.count == 1:
            installation.userID = step.removes ? nil : try step.required()
        case "expirationTime" where step.path.count == 1:
            installation.expirationTime = step.removes ? nil : try step.required()
        case "pushVariables":
            try applyVariables(step, to: &installation)
        case "secondaryTiles" where step.path.count > 1:
            try applyTile(step, to: &installation)
        default:
            try apply(step, at: Array(step.path), to: &installation.target)
        }
    }

    private static func applyVariables(_ step: Step, to installation: inout StoredInstallation) throws(RefusedCall) {
        switch step.path.count {
        case 1:
            installation.pushVariables = step.removes ? [] : try InstallationReader(Array(step.required().utf8)).pairs()
        case 2:
            installation.pushVariables.removeAll { $0.name == step.path[1] }
            if !step.removes { installation.pushVariables.append((step.path[1], try step.required())) }
        default:
            throw step.unknownPath
        }
    }

    private static func applyTile(_ step: Step, to installation: inout StoredInstallation) throws(RefusedCall) {
        let name = step.path[1]
        let position = installation.secondaryTiles.firstIndex { $0.name == name }
        if step.path.count == 2 {
            if let position { installation.secondaryTiles.remove(at: position) }
            guard !step.removes else { return }
            let target = try InstallationReader(Array(step.required().utf8)).target()
            installation.secondaryTiles.append((name, target))
            return
        }
        guard let position else { throw .invalid("There is no secondary tile '\(name)'") }
        try apply(step, at: Array(step.path.dropFirst(2)), to: &installation.secondaryTiles[position].target)
    }

    private static func apply(_ step: Step, at path: [String], to target: inout InstallationTarget) throws(RefusedCall) {
        switch (path[0], path.count) {
        case ("pushChannel", 1):
            guard !step.removes else { throw .invalid("The pushChannel cannot be removed") }
            target.pushChannel = try step.required()
        case ("tags", 1), ("tags", 2):
            try applyTags(step, at: path, to: &target.tags)
            target.tags = try InstallationReader.checked(target.tags)
        case ("templates", 2...):
            try applyTemplate(step, at: path, to: &target.templates)
        default:
            throw step.unknownPath
        }
    }

    private static func applyTags(_ step: Step, at path: [String], to tags: inout [String]) throws(RefusedCall) {
        if step.removes {
            tags = path.count == 1 ? [] : tags.filter { $0.lowercased() != path[1].lowercased() }
            return
        }
        let value = path.count == 2 ? path[1] : try step.required()
        let added = value.hasPrefix("[") ? try InstallationReader(Array(value.utf8)).strings() : [value]
        if step.replaces, path.count == 1 { tags = [] }
        for tag in added where !tags.contains(where: { $0.lowercased() == tag.lowercased() }) { tags.append(tag) }
    }

    private static func applyTemplate(
        _ step: Step, at path: [String], to templates: inout [InstallationTarget.Template]
    ) throws(RefusedCall) {
        let name = path[1]
        let position = templates.firstIndex { $0.name == name }
        if path.count == 2 {
            let template = step.removes ? nil : try InstallationReader(Array(step.required().utf8)).template(name: name)
            switch (position, template) {
            case (let position?, let template?): templates[position] = template
            case (let position?, nil): templates.remove(at: position)
            case (nil, let template?): templates.append(template)
            case (nil, nil): break
            }
            return
        }
        guard let position else { throw .invalid("There is no template '\(name)'") }
        switch (path[2], path.count) {
        case ("body", 3):
            templates[position].text = try step.required()
            templates[position].body = try InstallationReader.compiled(templates[position].text)
        case ("expiry", 3):
            templates[position].expiry = step.removes ? nil : try step.required()
        case ("tags", 3), ("tags", 4):
            try applyTags(step, at: Array(path.dropFirst(2)), to: &templates[position].tags)
            templates[position].tags = try InstallationReader.checked(templates[position].tags)
        case ("headers", 3):
            let pairs = step.removes ? [] : try InstallationReader(Array(step.required().utf8)).pairs()
            templates[position].headers = [:]
            for pair in pairs { templates[position].headers.append(pair.name, value: pair.value) }
        case ("headers", 4):
            templates[position].headers.remove(path[3])
            if !step.removes { templates[position].headers.append(path[3], value: try step.required()) }
        default:
            throw step.unknownPath
        }
    }
}
