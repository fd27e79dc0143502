/// The release that this tool belongs to.
public enum ThisRelease {
    public static let text = "0.1.0"
}
