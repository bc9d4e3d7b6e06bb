import Basics
import TestSupport
import Testing

@testable import WorkerRuntime

/// Workers of one name on two machines, with a group that knows the last one that joined. Chance kills them, and fences them by their own
/// shadows; each is started again after 2 s, as a service manager does.
struct NameTurnsTests {
    private static let step: Int64 = 100_000_000
    private static let second: Int64 = 1_000_000_000
    private static let session = 10 * second

    /// Who has the name: a run, its membership, and when the group heard of it last.
    private struct Group {
        var holder: Int?
        var membership = 0
        /// The machine and the run of whoever joined when nobody had the name; all that a look shows.
        var shown = (machine: 0, run: 0)
        var heard = MonotonicTime(nanoseconds: 0)
        /// Whether the holder's client is taken for an outdated one.
        var isShadow = false
    }

    private enum Phase {
        case down(until: MonotonicTime)
        case watching(NameWatch, look: MonotonicTime)
        /// The name was free, and the client is on its way to the group.
        case joining(until: MonotonicTime)
        case serving
        case disputing(look: MonotonicTime)
    }

    private struct Worker {
        var phase: Phase
        var run: Int
        var dispute = NameDispute(session: NameTurnsTests.session)
        var endings = 0
    }

    private struct World {
        var random: SeededRandom
        var now = MonotonicTime(nanoseconds: 0)
        /// Until when the broker is away. It has crashed, and gives all their sessions anew when it is back.
        var isAwayUntil = MonotonicTime.past
        var group = Group()
        var workers: [Worker]
        private var runs: Int

        init(_ seed: Int, workers count: Int) {
            random = SeededRandom(seed)
            workers = (0..<count).map { Worker(phase: .down(until: MonotonicTime(nanoseconds: 0)), run: $0) }
            runs = count
        }

        var jitter: Double { mutating get { Double(random.below(1000)) / 1000 } }

        var endings: Int { workers.reduce(0) { $0 + $1.endings } }

        func isServing(_ index: Int) -> Bool { if case .serving = workers[index].phase { true } else { false } }

        mutating func turn() {
            now += NameTurnsTests.step
            if isAway {
                group.heard = now
            } else if now.nanoseconds(since: group.heard) > NameTurnsTests.session {
                group = Group(membership: group.membership)
            }
            for index in workers.indices { turn(index) }
        }

        var isAway: Bool { now < isAwayUntil }

        mutating func kill(_ index: Int) { workers[index].phase = .down(until: now + 2 * NameTurnsTests.second) }

        private func sighting(by index: Int) -> NameHolder {
            guard group.holder != nil else { return .nobody }
            if group.shown.run == workers[index].run { return .own }
            return group.shown.machine == index ? .ended : .other
        }

        private mutating func join(_ index: Int) {
            if group.holder == nil { group.shown = (index, workers[index].run) }
            (group.holder, group.heard, group.isShadow) = (workers[index].run, now, false)
            group.membership += 1
        }

        private mutating func turn(_ index: Int) {
            switch workers[index].phase {
            case .down(let until):
                guard now >= until else { return }
                runs += 1
                workers[index] = Worker(phase: .watching(NameWatch(), look: now), run: runs, endings: workers[index].endings)
            case .watching(var watch, let look):
                guard now >= look else { return }
                let action =
                    isAway
                    ? watch.noteNoAnswer(now: now, jitter: jitter)
                    : watch.noteHolder(sighting(by: index), now: now, jitter: jitter)
                switch action {
                case .take: workers[index].phase = .joining(until: now + NameTurnsTests.second / 2)
                case .check(let moment): workers[index].phase = .watching(watch, look: moment)
                }
            case .joining(let until):
                guard now >= until, !isAway else { return }
                join(index)
                workers[index].phase = .serving
            case .serving:
                if isAway { return }
                if group.holder == workers[index].run, !group.isShadow {
                    group.heard = now
                } else if group.holder == nil {
                    // The group has forgotten it, and takes it in again.
                    join(index)
                } else if case .check(let moment) = workers[index].dispute.fenced(as: nil, now: now, jitter: jitter) {
                    workers[index].phase = .disputing(look: moment)
                }
            case .disputing(let look):
                guard now >= look else { return }
                let seen = group.holder.map { _ in
                    NameMember(memberID: "\(group.membership)", coordinator: 1, isStable: true)
                }
                let action =
                    isAway
                    ? workers[index].dispute.noteNoAnswer(now: now)
                    : workers[index].dispute.noteMember(seen, asked: now, now: now)
                switch action {
                case .check(let moment): workers[index].phase = .disputing(look: moment)
                case .rejoin: workers[index].phase = .joining(until: now + NameTurnsTests.second / 2)
                case .end:
                    workers[index].endings += 1
                    kill(index)
                }
            }
        }
    }

    @Test(arguments: 0..<50) func workersOfOneNameDoNotEndEachOtherInTurns(_ seed: Int) {
        var world = World(seed, workers: 2)
        var kills = 0
        for turn in 0..<6000 {
            world.turn()
            if turn % 1000 == 999, let served = world.workers.indices.first(where: world.isServing) {
                world.kill(served)
                kills += 1
            }
            // Who joins at the same moment as the other may lose, and then win once, because the group shows its earlier run.
            #expect(world.endings <= 2 * (kills + 1))
        }
        #expect(kills >= 5, "somebody works again each time")
    }

    @Test(arguments: 0..<50) func aWorkerDoesNotEndOfItsOwnShadow(_ seed: Int) {
        var world = World(seed, workers: 1)
        var shadows = 0
        var idle = 0
        for _ in 0..<6000 {
            world.turn()
            idle = world.isServing(0) ? 0 : idle + 1
            #expect(idle < 320, "it works again within 32 s")
            if world.isServing(0), world.random.below(100) == 0 {
                world.group.isShadow = true
                world.group.membership += 1
                shadows += 1
            }
        }
        #expect(world.endings == 0 && shadows > 5)
    }

    /// Its shadows outlive many sessions while the broker crashes every few seconds.
    @Test(arguments: 0..<50) func aWorkerDoesNotEndOfItsOwnShadowWhileItsBrokerCrashes(_ seed: Int) {
        var world = World(seed, workers: 1)
        var shadows = 0
        for turn in 0..<6000 {
            world.turn()
            if turn < 5000, !world.isAway, world.random.below(40) == 0 {
                world.isAwayUntil = world.now + (3 + Int64(world.random.below(4))) * Self.second
                world.group.isShadow = world.isServing(0)
                world.group.membership += world.isServing(0) ? 1 : 0
                shadows += world.isServing(0) ? 1 : 0
            }
        }
        #expect(world.endings == 0 && shadows > 0 && world.isServing(0))
    }
}
