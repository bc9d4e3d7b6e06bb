package import PushModel
package import ResultQuery

/// The fate of a request in one sentence, and its reason.
package struct Verdict: Sendable, Equatable {
    /// The words for programs.
    package enum Code: String, Sendable, CaseIterable {
        /// The hub accepted every call.
        case sent
        /// The push services took it for every device.
        case delivered
        case reachedSome = "reached_some"
        case reachedNobody = "reached_nobody"
        case perhapsTwice = "perhaps_twice"
        case sentInPart = "sent_in_part"
        /// A replay sent the rest.
        case repaired
        case failed
        /// It failed, and devices may have been reached all the same.
        case mayHaveRung = "may_have_rung"
        case rejected, expired, cancelled
        case dryRun = "dry_run"
        case duplicate
        case deadLetter = "dead_letter"
        /// Kafka has not said that it has it.
        case unconfirmed
        case published
        case inWork = "in_work"
        /// It waits for a moment.
        case waiting
        /// A hold keeps it back.
        case held
        /// It waits behind another with its ordering key.
        case behindItsKey = "behind_its_key"
        case inParts = "in_parts"
        /// It was cancelled, and ends when it has its turn.
        case cancelling
        /// Something keeps us from knowing it.
        case notKnown = "not_known"
        /// No record of it was found.
        case notFound = "not_found"
    }

    /// A word for programs, from a closed list.
    package let code: String
    /// One sentence for people, with its full stop.
    package let text: String
    /// The reason in a sentence, or nil where the verdict says it all.
    package let reason: String?

    /// A verdict.
    package init(_ code: String, text: String, reason: String? = nil) {
        (self.code, self.text, self.reason) = (code, text, reason)
    }

    init(_ code: Code, text: String, because reason: String?) {
        self.init(code.rawValue, text: text, reason: reason)
    }

    /// The verdict on a request.
    ///
    /// - Parameters:
    ///   - story: All that is known of it.
    ///   - now: The present moment.
    ///   - zone: The zone of its moments.
    /// - Returns: The verdict. It claims nothing that the story does not say.
    package static func of(_ story: RequestStory, now: Timestamp, zone: LocalZone = .utc) -> Verdict {
        let words = MomentWords(now: now, zone: zone)
        let verdict =
            story.ending.map { EndingWords(story: story, ending: $0, words: words).verdict }
            ?? StandingWords(story: story, now: now, words: words).verdict
        guard let whole = story.whole else { return verdict }
        let text = verdict.text.prefix(1).lowercased() + verdict.text.dropFirst()
        return Verdict(verdict.code, text: "Part \(whole.number) of \(whole.id): \(text)", reason: verdict.reason)
    }

    /// Text and reason, one behind the other.
    package var sentences: String { [text, reason].compactMap(\.self).joined(separator: " ") }

    /// The verdict as a JSON object.
    package var json: [UInt8] { JSONObject(["code": code, "text": text, "reason": reason]).bytes }
}

extension String {
    /// The same as a sentence: with a full stop, unless it ends with one.
    var sentence: String { hasSuffix(".") ? self : self + "." }

    /// A clause as a sentence: with a capital in front, and a full stop.
    var capitalSentence: String { prefix(1).uppercased() + dropFirst() + "." }

    /// The same as a clause within a sentence: with a small letter in front, and without the full stop.
    var clause: String {
        let text = hasSuffix(".") ? dropLast() : self[...]
        let isName = text.prefix(2).allSatisfy { $0.isUppercase || $0.isNumber }
        return isName ? String(text) : text.prefix(1).lowercased() + text.dropFirst()
    }
}
