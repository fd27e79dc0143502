/// What one program may have of something that all programs share: a part of what is still free, and no more.
/// So each that takes a lot leaves most of it for the others, and none can take the last.
public enum FairShare {
    private static let part = 8

    /// Whether there is one more for a program that has `own` of the `all` that are taken. `least` are
    /// for everybody, as long as there are any.
    public static func hasRoom(
        for more: Int = 1, own: Int, all: Int, most: Int, least: Int
    ) -> Bool {
        let free = most - all
        return more <= free && own + more <= max(least, free / part)
    }
}
