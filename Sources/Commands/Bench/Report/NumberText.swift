/// Numbers as a person reads them.
enum NumberText {
    /// One digit behind the point, or two for numbers below ten.
    static func text(_ number: Double) -> String {
        let factor = abs(number) < 10 ? 100.0 : 10
        let rounded = (number * factor).rounded() / factor
        return rounded == rounded.rounded() && abs(number) >= 100 ? "\(Int(rounded))" : "\(rounded)"
    }
}
