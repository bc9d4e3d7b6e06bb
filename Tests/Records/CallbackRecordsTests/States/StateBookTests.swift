import Testing

@testable import CallbackRecords

@Suite struct StateBookTests {
    private let paused = ReceiverState(paused: true, at: 1)
    private let running = ReceiverState(paused: false, at: 2)

    @Test func nothingIsNewsBeforeTheEndWhichAlwaysIsTheFirstTime() {
        var book = StateBook()
        var isNews = book.take(paused, of: "shop")
        #expect(!isNews)
        #expect(!book.isKnown && book.states.isEmpty)
        isNews = book.complete()
        #expect(isNews)
        #expect(book.isKnown && book.states == ["shop": paused])
        isNews = book.complete()
        #expect(!isNews)
    }

    @Test func aReaderThatBeginsAgainTellsNothingOfTheHistory() {
        var book = StateBook()
        _ = book.take(running, of: "shop")
        _ = book.complete()
        book.begin()
        var isNews = book.take(paused, of: "shop")
        #expect(!isNews)
        #expect(book.states == ["shop": running])
        isNews = book.take(running, of: "shop")
        #expect(!isNews)
        isNews = book.complete()
        #expect(!isNews)
        #expect(book.states == ["shop": running])
    }

    @Test func whatChangedMeanwhileIsToldOnceAtTheEnd() {
        var book = StateBook()
        _ = book.take(running, of: "shop")
        _ = book.take(paused, of: "gone")
        _ = book.complete()
        book.begin()
        _ = book.take(paused, of: "shop")
        let isNews = book.complete()
        #expect(isNews)
        #expect(book.states == ["shop": paused])
    }

    @Test func behindTheEndEachChangeIsNewsAtOnce() {
        var book = StateBook()
        _ = book.complete()
        var isNews = book.take(paused, of: "shop")
        #expect(isNews)
        isNews = book.take(paused, of: "shop")
        #expect(!isNews)
        isNews = book.take(nil, of: "shop")
        #expect(isNews)
        #expect(book.states.isEmpty)
    }

    @Test func aTopicThatIsAwayTakesNothingBack() {
        var book = StateBook()
        var isNews = book.noteMissing()
        #expect(isNews)
        #expect(book.isKnown)
        _ = book.take(paused, of: "shop")
        isNews = book.complete()
        #expect(isNews)
        book.begin()
        isNews = book.noteMissing()
        #expect(!isNews)
        #expect(book.states == ["shop": paused])
    }
}
