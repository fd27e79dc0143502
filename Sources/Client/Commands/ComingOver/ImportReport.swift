import ToolTexts
import Wire

/// What came, what was there, and what did not come, and why.
struct ImportReport {
    struct Count {
        var name: [UInt8]
        var came = 0
        var present = 0
        /// There with another secret, which stays.
        var different = 0
        var left = 0
    }

    struct Left {
        var from: [UInt8]
        /// Empty where it is all of it.
        var item: [UInt8] = []
        var why: [UInt8]
    }

    struct Different {
        var from: [UInt8]
        var item: [UInt8]
    }

    var counts: [Count] = []
    var left: [Left] = []
    var different: [Different] = []

    var status: ExitStatus { left.isEmpty ? .success : .refused }

    func tell(_ run: Run, isDry: Bool, _ verb: String) {
        switch run.settings.form {
        case .plain:
            for one in left {
                let name = one.item.isEmpty ? one.from : one.from + Array(": ".utf8) + one.item
                run.voice.error(
                    Text(Printable.escaped(name), ": ", one.why).bytes)
            }
            for one in different {
                run.voice.info(
                    run.words(
                        .comingDifferent, Printable.escaped(one.from), Printable.escaped(one.item)))
            }
            for count in counts {
                run.voice.done(
                    run.words(
                        isDry ? .comingDryCounts : .comingCounts, Printable.escaped(count.name),
                        count.came, count.present, count.left))
                guard count.different > 0 else { continue }
                run.voice.done(
                    run.words(
                        .comingDifferentCount, Printable.escaped(count.name), count.different))
            }
        case .json:
            var json = JSON()
            json.field("action", verb)
            json.field("result", left.isEmpty ? "done" : "incomplete")
            json.field("dryRun", isDry)
            json.objects("from", counts) { json, count in
                json.field("name", count.name)
                json.field("came", count.came)
                json.field("present", count.present)
                json.field("different", count.different)
                json.field("left", count.left)
            }
            json.objects("different", different) { json, one in
                json.field("from", one.from)
                json.field("item", one.item)
            }
            json.objects("left", left) { json, one in
                json.field("from", one.from)
                if !one.item.isEmpty { json.field("item", one.item) }
                json.field("why", one.why)
            }
            run.voice.print(json.finish())
        }
    }
}
