import Delivery
import FaultOracle
import PushModel
import Testing

/// Each invariant of the oracle can fail, and holds where it must: evidence made by hand.
@Suite struct OracleTests {
    /// Evidence without a fault: two requests, one of which is flawed, and one unreadable record.
    static var sound: Evidence {
        var evidence = Evidence()
        evidence.published = 3
        evidence.inputs = [
            InputFact(Place(0, 0), .request(user: 1, isFlawed: false)),
            InputFact(Place(0, 1), .unreadable(digest: 7)),
            InputFact(Place(1, 0), .request(user: 2, isFlawed: true)),
        ]
        evidence.results = [
            ResultFact(Place(0, 0), user: 1, at: 1000, sends: [.init(isSuccess: true, notification: 11)]),
            ResultFact(Place(1, 0), user: nil, at: 1000, state: .rejected, safety: .pointless, explainedCalls: 0),
        ]
        evidence.deadLetters = [DeadLetterFact(Place(0, 1), digest: 7)]
        evidence.positions = [PositionFact(0, committed: 2), PositionFact(1, committed: 1)]
        evidence.calls = [CallFact(user: 1, at: 990, notification: 11)]
        evidence.resumption = 15_000
        return evidence
    }

    static func violated(_ change: (inout Evidence) -> Void) -> Set<Invariant> {
        var evidence = sound
        change(&evidence)
        return Set(Oracle(evidence).findings().filter { !$0.holds }.map(\.invariant))
    }

    @Test func soundEvidenceViolatesNothing() {
        #expect(Self.violated { _ in } == [])
        #expect(Set(Oracle(Self.sound).findings().map(\.invariant)).count == Invariant.allCases.count - 22)
    }

    @Test func aRequestThatIsNotOnTheTopicIsMissed() {
        #expect(Self.violated { $0.published = 4 } == [.published])
    }

    @Test func aRequestWithoutAResultIsLost() {
        #expect(Self.violated { $0.results.removeLast() } == [.lost])
    }

    @Test func aSecondResultIsRepeated() {
        #expect(Self.violated { $0.results.append($0.results[1]) } == [.repeated])
    }

    /// The broker says that it left out markers of w1's transaction: one more result of what it holds is told, and not judged.
    @Test(arguments: [(0, [], 0), (1, [], 1), (2, [Invariant.repeated], 1)])
    func aSecondResultOfATornTransactionIsTold(_ copies: Int, _ violated: [Invariant], _ told: Int) {
        var evidence = Self.sound
        let first = evidence.results[1]
        for _ in 0..<copies {
            var copy = first
            copy.at += 60_000
            evidence.results.append(copy)
        }
        evidence.tornTransactions = [TornTransaction(worker: first.worker, begin: first.at, end: first.at + 100)]
        let findings = Oracle(evidence).findings()
        #expect(findings.filter { !$0.holds }.map(\.invariant) == violated)
        #expect(findings.first { $0.invariant == .torn }?.measured == Double(told))
        // That of another worker, or of another time, explains nothing.
        for other in [
            TornTransaction(worker: "other", begin: first.at, end: first.at + 100),
            TornTransaction(worker: first.worker, begin: first.at - 500, end: first.at - 1),
            TornTransaction(worker: first.worker, begin: first.at + 1001, end: first.at + 2000),
        ] {
            evidence.tornTransactions = [other]
            #expect(Oracle(evidence).findings().first { $0.invariant == .repeated }?.measured == Double(copies))
        }
    }

    @Test func aBrokersLogTellsOfTornTransactions() {
        func resumed(_ id: String, _ word: String, _ end: Int) -> Substring {
            "1 INFO Sending txn markers for AndTransitMetadata(\(id),6,\(word),Metadata(state=X, txnStartTimestamp=100, txnLastUpdateTimestamp=\(end), v=0),Next[txnStartTimestamp=100, txnLastUpdateTimestamp=9000])"
        }
        func left(_ id: String) -> Substring {
            "2 INFO Couldn't find leader endpoint for partitions HashSet(r-0, o-1) while trying to send transaction markers for \(id), these partitions are skipped"
        }
        let lines = [
            "0 INFO something else", resumed("g:w1", "COMMIT", 120), resumed("g:w2", "ABORT", 130),
            resumed("other:w3", "COMMIT", 140),
            left("g:w2"), left("other:w3"), left("g:w1"), left("g:w1"), resumed("g:w4", "COMMIT", 150),
        ]
        #expect(TornTransaction.read(lines, group: "g") == [TornTransaction(worker: "w1", begin: 100, end: 120)])
    }

    @Test func aResultOfNoRequestIsForeign() {
        #expect(
            Self.violated { $0.results.append(ResultFact(Place(0, 1), user: nil, state: .rejected, safety: .pointless)) } == [
                .foreign
            ])
        #expect(Self.violated { $0.results[0].user = 5 } == [.foreign])
        #expect(Self.violated { $0.calls.append(CallFact(user: 5, isAccepted: false)) } == [.foreign])
    }

    @Test func anUnreadableRecordThatIsNotKeptIsLost() {
        #expect(Self.violated { $0.deadLetters = [] } == [.unreadableLost])
        #expect(Self.violated { $0.deadLetters[0].digest = 8 } == [.unreadableLost])
    }

    @Test func aDeadLetterTooManyIsRepeated() {
        #expect(Self.violated { $0.deadLetters.append($0.deadLetters[0]) } == [.unreadableRepeated])
        #expect(Self.violated { $0.deadLetters.append(DeadLetterFact(Place(0, 0), digest: 1)) } == [.unreadableRepeated])
    }

    @Test func aSuccessThatTheHubDoesNotKnowContradictsIt() {
        #expect(Self.violated { $0.results[0].sends[0].notification = 12 } == [.contradictions])
        #expect(Self.violated { $0.results[0].sends[0].notification = nil } == [.contradictions])
        #expect(Self.violated { $0.results[0].sends = [] } == [.contradictions])
        #expect(Self.violated { $0.calls[0].isAccepted = false } == [.contradictions])
        #expect(Self.violated { $0.calls[0].user = 2 }.contains(.contradictions))
    }

    @Test(arguments: [ResultState.failed, .expired, .cancelled])
    func aResultWithoutSuccessContradictsACallThatTheHubTook(_ state: ResultState) {
        let safe = ResultFact(Place(0, 0), user: 1, at: 1000, state: state, safety: .safe, explainedCalls: 0)
        #expect(Self.violated { $0.results[0] = safe }.contains(.contradictions))
        var doubtful = safe
        doubtful.safety = .ambiguous
        doubtful.explainedCalls = 1
        #expect(Self.violated { $0.results[0] = doubtful } == [])
    }

    @Test func aKilledWorkerExplainsACallThatItsSuccessorCannotKnow() {
        func change(_ kind: Disturbance.Kind, at moment: Int64) -> Set<Invariant> {
            Self.violated { evidence in
                evidence.results[0] = ResultFact(
                    Place(0, 0), user: 1, at: 3000, state: .failed, safety: .safe, explainedCalls: 0)
                evidence.calls[0].at = 2990
                evidence.disturbances = [Disturbance(kind, worker: "w1", startedAt: 900, at: moment)]
            }
        }
        #expect(change(.kill, at: 2995) == [])
        #expect(change(.kill, at: 1990) == [], "the hub may record a call a second after its worker's death")
        #expect(change(.kill, at: 1989).contains(.contradictions))
        #expect(change(.drain, at: 2995).contains(.contradictions))
    }

    @Test func aFlawThatIsNotRejectedIsContradicted() {
        #expect(Self.violated { $0.inputs[2].content = .request(user: 2, isFlawed: false) } == [.contradictions])
        #expect(Self.violated { $0.inputs[0].content = .request(user: 1, isFlawed: true) } == [.contradictions])
    }

    @Test func aRecordAtOrAboveTheCommittedPositionIsNotDone() {
        #expect(Self.violated { $0.positions[0].committed = 1 } == [.position])
        #expect(Self.violated { $0.positions[0].committed = nil } == [.position])
        #expect(Self.violated { $0.positions.removeLast() } == [.position])
    }

    @Test func aPositionBeyondTheEndIsWrongUnlessMarkersStandThere() {
        #expect(Self.violated { $0.positions[0].committed = 3 } == [.position])
        #expect(Self.violated { ($0.positions[0].committed, $0.hasMarkers) = (3, true) } == [])
    }

    @Test func metadataThatCannotBeReadIsWrong() {
        #expect(Self.violated { $0.positions[1].finished = nil } == [.position])
    }

    @Test func aCallThatIsMadeAgainWithoutAKillIsUnexplained() {
        #expect(
            Self.violated { $0.calls.insert(CallFact(user: 1, at: 980, notification: 10), at: 0) }
                == [.repeatedCalls, .repeatedCallsPerKill])
        let drain = Disturbance(.drain, worker: "w1", startedAt: 900, at: 985)
        #expect(
            Self.violated {
                $0.calls.insert(CallFact(user: 1, at: 980, notification: 10), at: 0)
                $0.disturbances = [drain]
            } == [.repeatedCalls, .repeatedCallsPerKill])
    }

    /// One in flight, and a tick of 40 ms in which the hub can answer twice: three calls for a worker of one connection.
    @Test func aKillExplainsWhatWasInItsWindowAndNoMore() {
        func change(_ count: Int) -> Set<Invariant> {
            Self.violated { evidence in
                evidence.maxInFlight = 1
                evidence.hubDelay = 20
                evidence.results[0].at = 2000
                evidence.results[1].at = 950
                evidence.disturbances = [Disturbance(.kill, worker: "w1", startedAt: 900, at: 990)]
                for step in 0..<count { evidence.calls.append(CallFact(user: 1, at: 951 + Int64(step), notification: 20)) }
            }
        }
        #expect(change(3) == [])
        #expect(change(4) == [.repeatedCalls, .repeatedCallsPerKill])
    }

    @Test func aCallMayBeRecordedASecondAfterItsWorkersDeath() {
        func change(_ moment: Int64) -> Set<Invariant> {
            Self.violated { evidence in
                evidence.results[0].at = 2600
                evidence.calls = [
                    CallFact(user: 1, at: moment, notification: 20), CallFact(user: 1, at: 2500, notification: 11),
                ]
                evidence.disturbances = [Disturbance(.kill, worker: "w1", startedAt: 900, at: 990)]
            }
        }
        #expect(change(1990) == [])
        #expect(change(1991) == [.repeatedCallsPerKill])
    }

    /// One in flight, a hub that takes 100 ms, and a broker that was killed at some time in 1000 to 1700, with a batch committed at 1100.
    @Test func anOutageWhoseMomentIsNotKnownIsJudgedByTheLongestPause() {
        func change(_ count: Int, doneAt: Int64) -> Set<Invariant> {
            Self.violated { evidence in
                evidence.maxInFlight = 1
                evidence.hubDelay = 100
                evidence.results[0].at = 30_000
                evidence.results[1].at = 1100
                var outage = Disturbance(.outage, worker: "w1", startedAt: 950, at: 1000, until: 3000)
                outage.doneAt = doneAt
                evidence.disturbances = [outage]
                for step in 0..<count { evidence.calls.append(CallFact(user: 1, at: 1301 + Int64(step), notification: 20)) }
            }
        }
        // 1 and (50 + 600) / 100, or (600 + 600) / 100; and behind the outage 1 and 1200 / 100.
        #expect(change(8 + 13, doneAt: 1000) == [])
        #expect(change(9 + 13, doneAt: 1000) == [.repeatedCalls, .repeatedCallsPerKill])
        #expect(change(13 + 13, doneAt: 1700) == [])
        #expect(change(14 + 13, doneAt: 1700) == [.repeatedCalls, .repeatedCallsPerKill])
    }

    /// Two outages 300 ms apart, of which the first may still cause calls when the second begins: both windows hold what came then.
    @Test func windowsThatOverlapHoldTheirCallsTogether() {
        func change(_ count: Int, second: Int64) -> Set<Invariant> {
            Self.violated { evidence in
                evidence.maxInFlight = 1
                evidence.hubDelay = 700
                evidence.results[0].at = 30_000
                evidence.disturbances = [
                    Disturbance(.outage, worker: "w1", startedAt: 950, at: 1000, until: 1500),
                    Disturbance(.outage, worker: "w1", startedAt: 950, at: second, until: second + 500),
                ]
                for step in 0..<count { evidence.calls.append(CallFact(user: 1, at: 1301 + Int64(step), notification: 20)) }
            }
        }
        #expect(change(5 + 6, second: 1300) == [])
        #expect(change(6 + 6, second: 1300) == [.repeatedCalls, .repeatedCallsPerKill])
        #expect(change(3 + 3, second: 20_000).contains(.repeatedCallsPerKill))
    }

    @Test func callsThatTheResultTellsAboutAreNotRepeated() {
        #expect(
            Self.violated {
                $0.calls.append(CallFact(user: 1, at: 995, notification: 12))
                $0.results[0].explainedCalls = 2
            } == [])
    }

    /// The first request failed, and was replayed.
    private static func replay(_ replays: [ReplayFact], _ results: [ResultFact]) -> Set<Invariant> {
        violated { evidence in
            evidence.results[0].state = .failed
            evidence.results[0].safety = .safe
            evidence.results[0].sends = [.init(isSuccess: false)]
            evidence.results[0].explainedCalls = 0
            evidence.results += results
            evidence.setApart(replays)
        }
    }

    private static func delivered(_ place: Place) -> ResultFact {
        ResultFact(place, user: nil, at: 1100, sends: [.init(isSuccess: true, notification: 11)])
    }

    @Test func aFailureThatIsReplayedOnceIsSound() {
        let place = Place(1, 9, isReplay: true)
        #expect(Self.replay([ReplayFact(place, of: Place(0, 0), sends: [0])], [Self.delivered(place)]) == [])
        #expect(Self.replay([ReplayFact(place, of: Place(0, 0))], [Self.delivered(place)]) == [])
    }

    @Test func aReplayTooManyOrTooFewIsFound() {
        let first = ReplayFact(Place(1, 9, isReplay: true), of: Place(0, 0))
        let second = ReplayFact(Place(1, 10, isReplay: true), of: Place(0, 0))
        let both = [first, second].map { Self.delivered($0.place) }
        #expect(Self.replay([first, second], both) == [.replays])
        #expect(Self.replay([first, ReplayFact(Place(1, 10, isReplay: true), of: Place(1, 0))], both) == [.replays])
        #expect(Self.replay([ReplayFact(Place(1, 9, isReplay: true), of: Place(0, 0), sends: [1])], [both[0]]) == [.replays])
        #expect(Self.replay([first], []).contains(.replays))
        #expect(Self.replay([first], [both[0], both[0]]) == [.replays])
        let needless = Self.violated { evidence in
            evidence.results.append(Self.delivered(first.place))
            evidence.setApart([first])
        }
        #expect(needless.contains(.replays))
    }

    @Test func theTimeToTheNextResultIsToldAndNotJudged() {
        var evidence = Self.sound
        evidence.resumption = 60_000
        evidence.wholeResumption = 70_000
        let findings = Oracle(evidence).findings()
        #expect(findings.filter { !$0.holds }.isEmpty)
        #expect(findings.first { $0.invariant == .resumption }?.measured == 60_000)
        #expect(findings.first { $0.invariant == .wholeResumption }?.measured == 70_000)
    }

    @Test func moreThanTwoCallsPerSecondAndWorkerAreAStorm() {
        let outage = Outage(begin: 100_000, end: 110_000, workers: 2)
        let calls = (0..<41).map { CallFact(user: nil, at: 100_000 + Int64($0), status: 503, isAccepted: false) }
        #expect(Self.violated { ($0.outage, $0.calls) = (outage, $0.calls + calls.dropLast()) } == [])
        #expect(Self.violated { ($0.outage, $0.calls) = (outage, $0.calls + calls) } == [.outageCalls])
        let refused = Outage(begin: 100_000, end: 110_000, workers: 2, unseenCalls: 41)
        #expect(Self.violated { $0.outage = refused } == [.outageCalls])
    }

    @Test func aWorkerThatEndsByItselfIsWrong() {
        #expect(Self.violated { $0.crashes = ["w1"] } == [.exits])
        #expect(Self.violated { $0.uncleanExits = ["w1"] } == [.exits])
    }

    private static func repeated(_ change: (inout Evidence) -> Void) -> Set<Invariant> {
        violated { evidence in
            evidence.published += 1
            evidence.inputs.append(InputFact(Place(0, 2), .request(user: 1, isFlawed: false)))
            evidence.results.append(
                ResultFact(Place(0, 2), user: 1, at: 1000, state: .duplicate, safety: .pointless, explainedCalls: 0))
            evidence.positions[0].committed = 3
            change(&evidence)
            evidence.setRepetitionsApart()
        }
    }

    @Test func ofARepeatedRequestOneRecordIsSent() {
        #expect(Self.repeated { _ in } == [])
        #expect(Self.repeated { ($0.results[0].origin, $0.results[2].origin) = (Place(0, 2), Place(0, 0)) } == [])
        #expect(Self.repeated { $0.results.removeLast() } == [.repetitions])
        #expect(Self.repeated { $0.results.append($0.results[2]) } == [.repetitions])
        #expect(Self.repeated { $0.results[0].state = .duplicate }.contains(.repetitions))
        let both = Self.repeated { evidence in
            evidence.results[2] = ResultFact(Place(0, 2), user: 1, at: 1000, sends: [.init(isSuccess: true, notification: 12)])
            evidence.calls.append(CallFact(user: 1, at: 995, notification: 12))
        }
        #expect(both.isSuperset(of: [.repetitions, .repeatedCallsPerKill]))
    }
}
