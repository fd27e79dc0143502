/// Every length and every wait that the protocol knows, in one place.
public enum Limits {
    /// The version that every peer speaks.
    public static let version: UInt16 = 1
    /// The version of front ends that draw screens. A daemon that does not know it names its own.
    public static let versionWithScreens: UInt16 = 2

    /// One maximum for every frame: a value of 1 MiB, its name and the fields around them.
    public static let frame = (1 << 20) + 4096
    /// What a peer may send before it was greeted, and all that the module ever reads.
    public static let smallFrame = 4096

    public static let secret = 1024
    public static let value = 1 << 20
    public static let name = 255
    public static let text = 255
    /// Which store: its name, behind its owner's and a slash where somebody shares it.
    public static let storeText = 511
    /// A finished line of a message: 80 columns on a terminal are up to 320 bytes of UTF-8; two
    /// such lines.
    public static let line = 800
    public static let messageID = 64
    /// The id of an application: the name of its desktop entry.
    public static let appID = 128
    public static let policyKey = 128
    /// A text of an item of the desktop's secrets: its label, a name or a value of an attribute.
    public static let itemText = 16_384
    /// Attributes of one item.
    public static let attributes = 128
    /// Collections of a store, and aliases of them. All of them stand in one answer.
    public static let collections = 256
    /// The label of a collection.
    public static let collectionText = 1024
    /// The name of an alias.
    public static let aliasText = 200
    /// Of items that one answer has: more than one of them only within this.
    public static let itemPage = 256 << 10
    /// A line of an organisation's: its name, whom to ask.
    public static let fleetText = 256
    public static let url = 2048
    /// What an organisation may ask people to agree to.
    public static let consents = 16
    public static let parameters = 8
    /// A paragraph of a screen, or of what is to be read on it.
    public static let paragraph = 4096
    /// Of a screen.
    public static let screenLines = 8
    public static let screenFields = 12
    public static let screenRules = 64
    public static let screenItems = 255
    public static let screenChoices = 8
    /// Paragraphs of what is to be read.
    public static let documentTexts = 4096
    /// All that was typed into the fields of a screen.
    public static let answers = 3072
    /// What is typed is judged so often while one screen stands.
    public static let drafts = 1000
    /// A value of the policy, or what is wrong with a file of it.
    public static let policyText = 4096
    /// Flows that one change of policy can cause.
    public static let flows = 8
    /// Names of one page of a listing, entries of any other list.
    public static let page = 1024
    /// Every text that an administrator can replace.
    public static let texts = 4096

    /// Connections at a time: of root and of a private daemon's own user; of a person, and once more of
    /// root's programs that act for that person; of all uids without an account; of all but root.
    public static let placesOfRoot = 512
    public static let placesOfPerson = 16
    public static let placesWithoutAccount = 32
    public static let placesOfOthers = 1024
    /// Of a person's places, those that may be used to watch.
    public static let watchers = 4
    /// Beside them, for what answers for the desktop's secrets: other programs of the person do not
    /// get these. And those of them that may be used to watch.
    public static let placesOfSecrets = 4
    public static let watchersOfSecrets = 2

    /// Milliseconds.
    public static let connectWait: Int32 = 1_000
    public static let firstFrameWait: Int32 = 2_000
    public static let silenceWait: Int32 = 5_000
    /// A frame that has begun, until it is whole; an answer, until it is read.
    public static let frameWait: Int32 = 10_000
    public static let unreadWait: Int32 = 10_000
    /// A connection of which nothing is wanted.
    public static let idleWait: Int32 = 300_000
    public static let workingEvery: Int32 = 1_000
    public static let personWait: Int32 = 120_000
    /// A whole create or change.
    public static let exchangeWait: Int32 = 600_000
}
