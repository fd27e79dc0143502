import ToolTexts
import Wire

/// What went to another keyring, what was there, and what did not go, and why.
struct DepartureReport {
    struct Count {
        var name: [UInt8]
        var went = 0
        var present = 0
        /// There with another secret, which stays.
        var different = 0
        var left = 0
    }

    struct Different {
        var collection: [UInt8]
        var item: [UInt8]
    }

    struct Left {
        var collection: [UInt8]
        /// Empty where it is all of it.
        var item: [UInt8] = []
        var why: [UInt8]
    }

    /// What the other program is called.
    var program: [UInt8] = []
    var counts: [Count] = []
    var different: [Different] = []
    var left: [Left] = []

    var status: ExitStatus { left.isEmpty ? .success : .refused }

    func tell(_ run: Run, isDry: Bool, _ verb: String) {
        switch run.settings.form {
        case .plain:
            for one in left {
                let name =
                    one.item.isEmpty
                    ? one.collection : one.collection + Array(": ".utf8) + one.item
                run.voice.error(Text(Printable.escaped(name), ": ", one.why).bytes)
            }
            for one in different {
                run.voice.info(
                    run.words(
                        .goingDifferent, Printable.escaped(one.collection),
                        Printable.escaped(one.item)))
            }
            for count in counts {
                run.voice.done(
                    run.words(
                        isDry ? .goingDryCounts : .goingCounts, Printable.escaped(count.name),
                        count.went, count.present, count.different, count.left))
            }
        case .json:
            var json = JSON()
            json.field("action", verb)
            json.field("result", left.isEmpty ? "done" : "incomplete")
            json.field("dryRun", isDry)
            json.field("to", program)
            json.objects("collections", counts) { json, count in
                json.field("name", count.name)
                json.field("went", count.went)
                json.field("present", count.present)
                json.field("different", count.different)
                json.field("left", count.left)
            }
            json.objects("different", different) { json, one in
                json.field("collection", one.collection)
                json.field("item", one.item)
            }
            json.objects("left", left) { json, one in
                json.field("collection", one.collection)
                if !one.item.isEmpty { json.field("item", one.item) }
                json.field("why", one.why)
            }
            run.voice.print(json.finish())
        }
    }
}
