import Testing

@testable import Console

@Suite struct PhoneScreenTests {
    @Test func aScreenShowsWhoseItIsAndWhatRang() {
        let screen = PhoneScreen(name: "alice-phone", title: "Order shipped", text: "Your parcel is on its way")
        #expect(
            PhoneScreen.lines(beside: [screen]) == [
                "╭──────────────────────╮",
                "│ alice-phone          │",
                "│                      │",
                "│ Order shipped        │",
                "│ Your parcel is on    │",
                "│ its way              │",
                "╰──────────────────────╯",
            ])
    }

    @Test func screensBesideOneAnotherAreEquallyHigh() {
        let high = PhoneScreen(name: "a", title: "One", text: "Two")
        let low = PhoneScreen(name: "b", title: "", text: "Three")
        let lines = PhoneScreen.lines(beside: [high, low, high])
        #expect(lines.count == 6)
        #expect(lines[3] == "│ One                  │  │ Three                │  │ One                  │")
        #expect(lines[4] == "│ Two                  │  │                      │  │ Two                  │")
    }

    @Test(arguments: [
        "速報 pushfanが動いた", "速報速報速報速報速報速報速報速報", "a-word-that-is-much-longer-than-a-line-of-the-screen",
        "red \u{1B}[31m and\nnew lines\tand tabs", "👩‍👩‍👧 family of emoji, in one text",
    ])
    func everyLineTakesTheSameColumns(text: String) {
        let lines = PhoneScreen.lines(
            beside: [PhoneScreen](repeating: PhoneScreen(name: text, title: text, text: text), count: 3))
        #expect(Set(lines.map(DisplayWidth.of)) == [3 * PhoneScreen.width + 4])
        #expect(!lines.joined().contains("\u{1B}"))
    }

    @Test func noScreensAreNoLines() {
        #expect(PhoneScreen.lines(beside: []).isEmpty)
    }
}
