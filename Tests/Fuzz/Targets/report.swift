import Fleet

/// What the journal hands on of what machines have sent. It makes no difference in which pieces it
/// comes, and no machine is shown that the bytes do not name.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    let wanted = Set(MachineReport.fields)
    var whole: [JournalExport.Fields] = []
    var reader = JournalExport(wanted)
    reader.take(bytes.span) { whole.append($0) }
    var pieces: [JournalExport.Fields] = []
    var again = JournalExport(wanted)
    for byte in bytes { again.take([byte].span) { pieces.append($0) } }
    must(whole == pieces, "in pieces it is something else")
    var reports = MachineReports(of: nil, now: 1_800_000_000, mostMachines: 3)
    for fields in whole {
        must(fields.keys.allSatisfy(wanted.contains), "a field that nobody wants")
        must(fields.values.allSatisfy { $0.count <= 4096 }, "a value without a limit")
        reports.take(fields)
    }
    must(reports.last.count <= 3, "more machines than are counted")
    for (machine, report) in reports.last {
        must(report.machine == machine, "a report of another machine")
        must(report.problem.count <= 256 && report.release.count <= 256, "a text without a limit")
        let name = Array(machine.text.utf8)
        must(
            bytes.indices.contains { bytes[$0...].starts(with: name) },
            "a machine that nobody named"
        )
    }
    return 0
}
