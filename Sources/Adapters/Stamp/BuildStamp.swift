import CStamp

/// The origin of this program, as the build read it from the environment variables `PUSHFAN_COMMIT` and `PUSHFAN_DATE`.
public enum BuildStamp {
    /// The commit, in 7 to 64 small hexadecimal digits, or `unknown`.
    public static let commit = String(cString: pushfan_commit())
    /// The day of the commit in UTC, such as `2026-11-27`, or `unknown`.
    public static let date = String(cString: pushfan_date())
}
