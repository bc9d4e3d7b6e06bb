package import HTTPServing
package import Keys

extension APIOperation.Row {
    /// Checks the right of a key to call it: 403 that names the scope, or says that the key has a tenant.
    package func checkRights(scopes: Set<Scope>, tenant: String?) throws(APIProblem) {
        switch access {
        case .anyone, .user: return
        case .device: guard scopes.contains(.register) else { throw .forbiddenScope(.register) }
        case .key(let needed, let concernsAllTenants):
            guard needed.contains(where: scopes.contains) else { throw .forbiddenScope(needed[0]) }
            guard tenant == nil || !concernsAllTenants else { throw .notForTenants }
        }
    }

    /// Reads the query's members by their exact names: 400 for another name, and for one that is there twice. One without a value is
    /// yes where it is a flag, and else as if it were not there.
    package func query(of request: HTTPServerRequest) throws(APIProblem) -> [String: String] {
        var found: [String: String] = [:]
        for item in request.query {
            guard parameters.contains(where: { $0.place == .query && $0.name == item.name }) else { throw unknownMember }
            // No name of a zone has a blank, so that was a plus, which need not be escaped there.
            let value = item.name == "zone" ? item.value?.replacing(" ", with: "+") : item.value
            guard found.updateValue(value ?? "", forKey: item.name) == nil else {
                throw .invalid("The query has \(item.name) more than once.")
            }
        }
        return found.filter { name, value in !value.isEmpty || parameters.contains { $0.name == name && $0.isFlag } }
    }

    /// The names of the query's members, sorted.
    package var queryNames: [String] { parameters.filter { $0.place == .query }.map(\.name).sorted() }

    private var unknownMember: APIProblem {
        let names = queryNames
        guard names.isEmpty else {
            return .invalid("The query has an unknown member. Known are: \(names.joined(separator: ", ")).")
        }
        return .invalid(body == nil ? "The call has no query." : "The call has its members in the body, and no query.")
    }
}

extension [String: String] {
    /// A whole number of a query, or its default. What is none, or out of range, is 400.
    package func integer(_ name: String, in range: ClosedRange<Int>, default value: Int) throws(APIProblem) -> Int {
        try integer(name, in: range) ?? value
    }

    /// A whole number of a query, or nil. What is none, or out of range, is 400.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .invalid("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// A yes or no of a query, which is no when it is missing.
    package func isTrue(_ name: String) throws(APIProblem) -> Bool {
        switch self[name] {
        case nil, "false": false
        case "true", "": true
        default: throw .invalid("\(name) must be true or false.")
        }
    }
}

extension APIProblem {
    /// 403: the key lacks a scope.
    package static func forbiddenScope(_ scope: Scope) -> APIProblem {
        let needed: Set<Scope> =
            switch scope {
            case .broadcast: [.publish, .broadcast]
            case .payload: [.read, .payload]
            case .replay: [.read, .replay]
            case .handles: [.register, .handles]
            case .publish, .read, .operate, .register: [scope]
            }
        let scopes = Scope.text(needed)
        return APIProblem(
            403, code: .forbiddenScope,
            detail: "This key has not the scope \(scope.rawValue), which the call needs. "
                + "`pushfan keys create --scope \(scopes)` makes one that has it.")
    }

    /// 403: the answer would be about all tenants.
    package static let notForTenants = APIProblem(
        403, code: .forbiddenTenant, detail: "The key has a tenant, and what is asked for is not divided by tenants.")
}
