import Secrets

extension Purpose {
    static let machineID = Purpose("AV machine id")
    static let blockKey = Purpose("AV block key")
    static let slotKey = Purpose("AV slot key")
    static let blockMAC = Purpose("AV block mac")
    static let blockCheck = Purpose("AV block check")
    static let passcodeKEK = Purpose("AV kek passcode")
    static let deviceKEK = Purpose("AV kek device")
    static let following = Purpose("AV following")
    static let parentKEK = Purpose("AV kek parent")
    static let recoveryKEK = Purpose("AV kek recovery")
    static let history = Purpose("AV history")
    static let memberKey = Purpose("AV member key")
    static let memberMACKey = Purpose("AV member mkey")
    static let memberMAC = Purpose("AV member mac")
    static let recoveryText = Purpose("AV recovery text")
    static let policyRules = Purpose("AV policy rules")
    static let finger = Purpose("AV finger")
    static let keyring = Purpose("AV keyring")
    static let token = Purpose("AV token")
}
