/// The release that this tool belongs to.
public enum Version {
    public static let text = "0.1.0"
}
