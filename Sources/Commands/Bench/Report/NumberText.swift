/// Numbers as a person reads them.
enum NumberText {
    /// One digit behind the point, two for numbers below ten, and two that are not 0 for numbers below one. `0.0` is 0 alone.
    static func text(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "\(number)" }
        let factor = factor(for: abs(number))
        let rounded = (number * factor).rounded() / factor
        if rounded == 0 && number != 0 { return "\(number)" }
        return rounded == rounded.rounded() && abs(number) >= 100 ? "\(Int(rounded))" : "\(rounded)"
    }

    /// A share of 1 in percent, whole from one percent on.
    static func percent(_ share: Double) -> String {
        let percent = share * 100
        return "\(abs(percent) >= 1 && abs(percent) < 1e15 ? "\(Int(percent.rounded()))" : percent == 0 ? "0" : text(percent)) %"
    }

    /// The power of ten down to which a number is shown.
    private static func factor(for size: Double) -> Double {
        if size >= 10 { return 10 }
        var factor = 100.0
        while size > 0, size * factor < 10, factor < 1e15 { factor *= 10 }
        return factor
    }
}
