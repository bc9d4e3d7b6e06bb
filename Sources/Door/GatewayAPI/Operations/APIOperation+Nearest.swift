import Basics

extension APIOperation {
    /// The most bytes of a path that is compared. The longest of a route has 28.
    private static let comparedByteCount = 40
    /// The most letters in which two paths differ that are near each other.
    private static let allowance = 3
    /// The letters that a wrong method counts as.
    private static let methodWeight = 2

    private static let places: [(method: String, path: String)] = described.map { ($0.row.method, $0.row.path) }

    /// The route that a call with a wrong path or method probably meant, as in `` `POST /v1/requests` ``, or nil. Nothing of the
    /// call is in it. The length of the path does not matter for what this costs.
    package static func nearest(to method: String, at path: Substring) -> String? {
        let forms = forms(of: path)
        var best: (cost: Int, letters: Int, text: String)?
        for place in places {
            let distances = forms.map { Spelling.distance(from: $0, to: place.path) }
            guard let letters = distances.min(), letters <= min(allowance, place.path.utf8.count - 1) else { continue }
            let cost = letters + (place.method == method ? 0 : methodWeight)
            if let best, (best.cost, best.letters) <= (cost, letters) { continue }
            best = (cost, letters, "`\(place.method) \(place.path)`")
        }
        return best?.text
    }

    /// The path as it is, and with a placeholder where an id would be: its fourth piece. What follows a colon there is a part of the id
    /// or an action, and an action that there is leaves no doubt.
    private static func forms(of path: Substring) -> [String] {
        var pieces = path.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        var forms = [String(path)]
        if pieces.count > 3, !pieces[3].isEmpty {
            let action = pieces[3].lastIndex(of: ":").map { String(pieces[3][$0...]) } ?? ""
            for end in [action, ""] {
                pieces[3] = "{id}" + end
                let form = pieces.joined(separator: "/")
                if !end.isEmpty, places.contains(where: { $0.path == form }) { return [form] }
                forms.append(form)
            }
        }
        return forms.filter { $0.utf8.count <= comparedByteCount }
    }
}
