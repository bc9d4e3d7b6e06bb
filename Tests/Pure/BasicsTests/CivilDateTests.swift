import Basics
import Testing

@Suite struct CivilDateTests {
    @Test(
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (-25_509, 1900, 2, 28),
            (-25_508, 1900, 3, 1), (20_777, 2026, 11, 20), (-719_468, 0, 3, 1), (-719_469, 0, 2, 29), (2_932_896, 9999, 12, 31),
        ])
    func aDayHasItsDate(days: Int, year: Int, month: Int, day: Int) {
        let date = CivilDate(year: year, month: month, day: day)
        #expect(CivilDate(daysFromEpoch: days) == date)
        #expect(date.daysFromEpoch == days)
    }

    @Test func daysFollowEachOther() {
        var date = CivilDate(year: 1, month: 1, day: 1)
        for days in date.daysFromEpoch...CivilDate(year: 2401, month: 1, day: 1).daysFromEpoch {
            guard CivilDate(daysFromEpoch: days) == date, date.daysFromEpoch == days else {
                Issue.record("\(date) is day \(days)")
                return
            }
            if date.day < CivilDate.days(inMonth: date.month, of: date.year) {
                date = CivilDate(year: date.year, month: date.month, day: date.day + 1)
            } else if date.month < 12 {
                date = CivilDate(year: date.year, month: date.month + 1, day: 1)
            } else {
                date = CivilDate(year: date.year + 1, month: 1, day: 1)
            }
        }
    }
}
