/// Every verb, in the order in which help and manual page show them.
enum AllCommands {
    static let list: [any Command.Type] = [
        CreateCommand.self,
        WelcomeCommand.self,
        StatusCommand.self,
        StoresCommand.self,
        RenameCommand.self,
        ShareCommand.self,
        UnshareCommand.self,
        MembersCommand.self,
        WatchCommand.self,
        UnlockCommand.self,
        LockCommand.self,
        SwitchCommand.self,
        ScreenCommand.self,
        HoldCommand.self,
        ResumeCommand.self,
        PasswdCommand.self,
        RecoveryNewCommand.self,
        RecoveryDeleteCommand.self,
        RecoverCommand.self,
        ActionsCommand.self,

        PeopleListCommand.self,
        PeopleAddCommand.self,
        PeopleRemoveCommand.self,
        PeopleChooseCommand.self,

        FingerprintEnrollCommand.self,
        FingerprintListCommand.self,
        FingerprintVerifyCommand.self,
        FingerprintDeleteCommand.self,
        FingerprintOnCommand.self,
        FingerprintOffCommand.self,
        FingerprintClearCommand.self,
        KeyringForgetCommand.self,

        SetCommand.self,
        GetCommand.self,
        ListCommand.self,
        DeleteCommand.self,
        CopyCommand.self,
        MoveCommand.self,
        ExportCommand.self,
        ImportCommand.self,

        RunCommand.self,
        AppAddCommand.self,
        AppOpenCommand.self,
        AppRemoveCommand.self,
        AppListCommand.self,

        PolicyShowCommand.self,
        PolicyCheckCommand.self,
        PolicyLintCommand.self,
        PolicyPreviewCommand.self,
        TextsCommand.self,

        FleetStatusCommand.self,
        FleetJoinCommand.self,
        FleetFetchCommand.self, ConsentsShowCommand.self, ConsentsAnswerCommand.self,
        FleetImportCommand.self,
        FleetLeaveCommand.self,
        FleetCheckCommand.self,
        FleetManifestCommand.self,
        FleetPackCommand.self,
        FleetLockCommand.self,
        FleetUnlockCommand.self,
        FleetWipeCommand.self,
        FleetResetCommand.self,
        FleetReportCommand.self,

        ResetCommand.self,
        ResyncCommand.self,
        MendCommand.self,
        TriesClearCommand.self,
        ChownCommand.self,
        DoctorCommand.self,

        VersionCommand.self,
        DemoScreensCommand.self,
        HelpCommand.self,
    ]
}

extension VerbEntry {
    package static let all = AllCommands.list.map { $0.entry }
}
