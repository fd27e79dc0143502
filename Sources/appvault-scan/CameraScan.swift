internal import CZbar
import Posix

/// Looks for QR codes through the camera at standard input, for a minute. Each that is another one than
/// the one before is said: whoever has started this judges it, and ends this program.
enum CameraScan {
    private static let seconds: UInt64 = 60
    /// Nobody sees more than so many pictures a second.
    private static let previewEvery: UInt64 = 100
    /// A camera that sends nothing for so long sends nothing any more.
    private static let silence: UInt64 = 10_000

    static func run(_ preview: Sandbox.Preview) -> Never {
        do throws(PosixError) {
            try Sandbox.enterCamera(preview)
        } catch {
            ThisProcess.leave(1)
        }
        // SAFETY: the camera's own functions bound what it says; it lives until this process ends.
        var camera = unsafe appvault_camera()
        switch unsafe appvault_camera_start(&camera, 0) {
        case APPVAULT_CAMERA_DONE: break
        case APPVAULT_CAMERA_NONE: leave("device")
        case APPVAULT_CAMERA_FORMAT: leave("format")
        case APPVAULT_CAMERA_BUSY: leave("busy")
        default: leave("broken")  // lint: allow: a number of C's
        }
        say("looking\n", [])
        unsafe look(&camera, preview)
    }

    private static func look(_ camera: inout appvault_camera, _ preview: Sandbox.Preview) -> Never {
        var shown = appvault_preview()
        let end = ToolIO.milliseconds + seconds * 1000
        var (lastFrame, lastPreview): (UInt64, UInt64) = (ToolIO.milliseconds, 0)
        var before: [UInt8] = []
        while case let now = ToolIO.milliseconds, now < end {
            // SAFETY: as above; the preview's functions write no further than it reaches.
            switch unsafe appvault_camera_frame(&camera, 200) {
            case APPVAULT_CAMERA_DONE: lastFrame = now
            case APPVAULT_CAMERA_LATE:
                guard now - lastFrame < silence else { leave("broken") }
                continue
            default: leave("broken")  // lint: allow: a number of C's
            }
            if preview == .shown {
                if now - lastPreview >= previewEvery {
                    unsafe appvault_preview_take(&shown, &camera.frame)
                    lastPreview = now
                }
                unsafe appvault_preview_write(&shown, 3)
            }
            guard case .one(let text) = unsafe Scanner.code(in: &camera.frame), text != before
            else { continue }
            before = text
            say("code \(text.count)\n", text)
        }
        unsafe appvault_camera_stop(&camera)
        leave("late")
    }

    private static func say(_ line: String, _ text: [UInt8]) {
        do throws(PosixError) {
            try ToolIO.write(1, (Array(line.utf8) + text).span)
        } catch {
            ThisProcess.leave(1)
        }
    }

    private static func leave(_ why: String) -> Never {
        say("\(why)\n", [])
        ThisProcess.leave(0)
    }
}
