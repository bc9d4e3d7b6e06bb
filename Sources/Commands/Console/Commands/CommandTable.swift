extension Command {
    /// Every command of this module, one entry each.
    public static let builtIn: [Command] = [
        .help, .version, .completion,
        .enqueue, .cancel, .explain, .schema,
        .emulator, .topicsCreate, .topicsCheck, .topicsACLs, .configCheck, .configShow, .healthcheck, .doctor, .status,
        .groupAdopt, .groupStart,
        .hold, .limit, .release, .holds,
        .handlesCollect, .usersSet, .usersList, .usersRemove, .keysCreate, .keysList,
        .keysRevoke,
        .callbacksCheck, .callbacksList, .callbacksTest, .callbacksPause, .callbacksResume, .callbacksReplay,
        .hubBackup, .hubCheck, .hubExport, .hubImport, .hubErase,
        .resultsList, .resultsShow, .resultsTail, .failed,
        .replayPlan, .replayRun, .replayList, .replayStatus, .replayPause, .replayResume, .replayStop, .replayLeftovers,
        .replayDeadLetter,
    ]
}
