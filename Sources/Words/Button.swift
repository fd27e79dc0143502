/// What a person can do on a screen. What it says there is a text.
package enum Button: String, CaseIterable, Sendable {
    case goOn = "continue"
    case agree
    case disagree
    case deny
    case notNow = "not-now"
    case loginPassword = "login-password"
    case ownPasscode = "own-passcode"
    case noPasscode = "no-passcode"
    case open
    case forgotten
    case somebodyElse = "somebody-else"
    case enable
    case makeKey = "make-key"
    case noKey = "no-key"
    case remove
    case keep
    case later
    case addPerson = "add"
    case join
    case invitation
    case picture
    case type
    case signedIn = "signed-in"
    case cancel

    var text: TextID {
        switch self {
        case .goOn: .buttonContinue
        case .agree: .buttonAgree
        case .disagree: .buttonDisagree
        case .deny: .buttonDeny
        case .notNow: .buttonNotNow
        case .loginPassword: .buttonLoginPassword
        case .ownPasscode: .buttonOwnPasscode
        case .noPasscode: .buttonNoPasscode
        case .open: .buttonOpen
        case .forgotten: .buttonForgotten
        case .somebodyElse: .buttonSomebodyElse
        case .enable: .fingerprintEnable
        case .makeKey: .buttonMakeKey
        case .noKey: .buttonNoKey
        case .remove: .buttonRemove
        case .keep: .buttonKeep
        case .later: .buttonLater
        case .addPerson: .buttonAddPerson
        case .join: .buttonJoin
        case .invitation: .buttonInvitation
        case .picture: .buttonPicture
        case .type: .buttonType
        case .signedIn: .buttonSignedIn
        case .cancel: .buttonCancel
        }
    }
}
