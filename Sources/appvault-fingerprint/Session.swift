internal import CFprint
import Posix
import Wire

/// One request: a reader opened, used and let go.
@safe
final class Session {
    private let exchange: Exchange
    private let readers: Readers
    private var nonce: [UInt8] { exchange.nonce }
    private var stop: Stop { exchange.stop }

    init(_ exchange: Exchange, _ readers: Readers) {
        self.exchange = exchange
        self.readers = readers
    }

    func run(_ request: Request) {
        do throws(Failure) {
            switch request {
            case .list:
                // Where there is a choice, the daemon takes the first one.
                let all = readers.all()
                let sorted = all.filter(\.isFixed) + all.filter { !$0.isFixed }
                let list = FingerprintReaders(nonce: nonce, readers: sorted.map(\.info))
                exchange.answer(list, FingerprintLink.readers)
            case .enroll(let choice): try enroll(choice)
            case .match(let choice, let seconds, let prints):
                try match(choice, seconds, prints)
            case .delete(let choice, let print): try delete(choice, print)
            case .stored(let choice, let prints): try stored(choice, prints)
            case .clear(let choice): try clear(choice)
            }
        } catch {
            fail(error)
        }
    }

    private func fail(_ failure: Failure) {
        let fault: FingerprintFault
        switch failure {
        case .fault(let said): fault = stop.reason ?? said
        case .retry: fault = stop.reason ?? .general
        }
        exchange.fail(fault)
    }

    private func find(_ choice: ReaderChoice) throws(Failure) -> Reader {
        guard let reader = readers.find(choice) else { throw .fault(.noReader) }
        return reader
    }

    /// The reader of a request, open while `body` runs: what can be refused was refused before.
    private func with<R: ~Copyable>(
        _ reader: Reader, _ stop: Stop, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        let unplugged = Unplugged(reader, stop)
        defer { withExtendedLifetime(unplugged) {} }
        do throws(Failure) {
            try reader.open(stop)
        } catch {
            // What libfprint knows of it may be a ghost.
            readers.forget()
            throw error
        }
        defer { reader.close() }
        return try body()
    }

    // MARK: - Enrolment

    private func enroll(_ choice: ReaderChoice) throws(Failure) {
        let reader = try find(choice)
        var enrolled: Print?
        let template = try with(reader, stop) { () throws(Failure) -> SecretBuffer in
            let print = try newPrint(reader)
            guard let bytes = print.serialized() else {
                drop(print, from: reader)
                throw .fault(.general)
            }
            // A print that nobody wants any more stays on no chip. One that cannot be deleted is
            // answered: the daemon tries again.
            if stop.reason != nil || !exchange.isHeard, drop(print, from: reader) {
                throw .fault(stop.reason ?? .general)
            }
            enrolled = print
            return bytes
        }
        exchange.answer(enrolled: template)
        // The daemon may have left while the reader was closed: nobody knows of the print then.
        guard !exchange.isHeard, reader.info.stores, let print = enrolled else { return }
        try with(reader, Stop()) { () throws(Failure) in _ = drop(print, from: reader) }
    }

    /// All touches of an enrolment. What the reader has enrolled is returned even where a stop
    /// came meanwhile: it may be on the reader's chip.
    private func newPrint(_ reader: Reader) throws(Failure) -> Print {
        let scan = Scan(exchange, reader, stages: reader.stages)
        let empty = reader.emptyPrint()
        let call = Call()
        // SAFETY: reader, print, scan and call live in this function, which does not end before the
        // call has; every call of this file is made and waited for like that.
        unsafe fp_device_enroll(
            reader.device, empty.pointer, stop.cancellable,
            { _, stage, _, data, error in
                let scan = unsafe Unmanaged<Scan>.fromOpaque(data!).takeUnretainedValue()
                // SAFETY: the error is libfprint's own: a copy is looked at.
                unsafe scan.touched(stage, error.map { unsafe g_error_copy($0) })
            }, Unmanaged.passUnretained(scan).toOpaque(), nil, Call.ended, call.data)
        scan.wait(for: call)
        var error: UnsafeMutablePointer<GError>?
        guard let pointer = unsafe fp_device_enroll_finish(reader.device, call.result, &error)
        else { throw unsafe Failure.of(error) }
        return unsafe Print(owning: pointer)
    }

    /// Whether the print is on no chip any more.
    @discardableResult
    private func drop(_ print: Print, from reader: Reader) -> Bool {
        guard reader.info.stores else { return true }
        // The request's own stop would stop this, too.
        return (try? remove(print, from: reader, Stop())) != nil
    }

    // MARK: - Matching

    private func match(
        _ choice: ReaderChoice, _ seconds: Int, _ given: [Print?]
    ) throws(Failure) {
        let prints = given.compactMap { $0 }
        guard prints.count == given.count else { throw .fault(.badTemplate) }
        let deadline = Clock.bootMilliseconds() + UInt64(seconds) * 1_000
        let reader = try find(choice)
        guard prints.allSatisfy(reader.takes) else { throw .fault(.badTemplate) }
        guard prints.count == 1 || reader.info.identifies else { throw .fault(.notSupported) }
        try with(reader, stop) { () throws(Failure) in
            let scan = Scan(exchange, reader, stages: 0)
            scan.deadline = deadline
            scan.prints = prints
            while true {
                do throws(Failure) {
                    try touch(reader, scan)
                    return
                } catch {
                    guard case .retry(let kind) = error, stop.reason == nil else { throw error }
                    scan.tell(.retry, 0, kind)
                }
            }
        }
    }

    /// One touch, compared with every template.
    private func touch(_ reader: Reader, _ scan: Scan) throws(Failure) {
        let call = Call()
        let matched: FpMatchCb = { _, match, _, data, error in
            guard unsafe error == nil else { return }
            let scan = unsafe Unmanaged<Scan>.fromOpaque(data!).takeUnretainedValue()
            unsafe scan.compared(match)
        }
        let data = unsafe Unmanaged.passUnretained(scan).toOpaque()
        var error: UnsafeMutablePointer<GError>?
        if scan.prints.count == 1, reader.has(FP_DEVICE_FEATURE_VERIFY) {
            unsafe fp_device_verify(
                reader.device, scan.prints[0].pointer, stop.cancellable, matched, data, nil,
                Call.ended, call.data)
            scan.wait(for: call)
            var isMatch: gboolean = 0
            guard
                unsafe fp_device_verify_finish(
                    reader.device, call.result, &isMatch, nil, &error) != 0
            else { return try scan.ended(unsafe Failure.of(error)) }
            unsafe scan.compared(isMatch != 0 ? scan.prints[0].pointer : nil)
            try scan.ended()
        } else {
            let gallery = unsafe g_ptr_array_new()
            defer { unsafe g_ptr_array_unref(gallery) }
            for print in scan.prints {
                unsafe g_ptr_array_add(gallery, UnsafeMutableRawPointer(print.pointer))
            }
            unsafe fp_device_identify(
                reader.device, gallery, stop.cancellable, matched, data, nil, Call.ended,
                call.data)
            scan.wait(for: call)
            var match: OpaquePointer?
            guard
                unsafe fp_device_identify_finish(
                    reader.device, call.result, &match, nil, &error) != 0
            else { return try scan.ended(unsafe Failure.of(error)) }
            defer {
                if let match = unsafe match {
                    unsafe g_object_unref(UnsafeMutableRawPointer(match))
                }
            }
            unsafe scan.compared(match)
            try scan.ended()
        }
    }

    // MARK: - The chip

    private func delete(_ choice: ReaderChoice, _ print: Print?) throws(Failure) {
        guard let print else { throw .fault(.badTemplate) }
        let reader = try find(choice)
        guard reader.takes(print) else { throw .fault(.badTemplate) }
        if reader.info.stores {
            try with(reader, stop) { () throws(Failure) in try remove(print, from: reader, stop) }
        }
        exchange.answer(FingerprintNonce(nonce: nonce), FingerprintLink.done)
    }

    private func remove(_ print: Print, from reader: Reader, _ stop: Stop) throws(Failure) {
        let call = Call()
        unsafe fp_device_delete_print(
            reader.device, print.pointer, stop.cancellable, Call.ended, call.data)
        call.wait(stop, until: Clock.bootMilliseconds() + FingerprintLink.readerWait)
        var error: UnsafeMutablePointer<GError>?
        guard unsafe fp_device_delete_print_finish(reader.device, call.result, &error) == 0 else {
            return
        }
        let failure = unsafe Failure.of(error)
        // It is not there: that is what was asked for.
        guard failure != .fault(.notStored) else { return }
        throw failure
    }

    private func stored(_ choice: ReaderChoice, _ given: [Print?]) throws(Failure) {
        let reader = try find(choice)
        guard reader.has(FP_DEVICE_FEATURE_STORAGE_LIST) else { throw .fault(.notSupported) }
        let found = try with(reader, stop) { () throws(Failure) in try prints(on: reader) }
        let stored = found.prefix(FingerprintLink.storedMost).map { print in
            let known = given.firstIndex { $0?.isEqual(to: print) ?? false }
            return FingerprintStored.Print(
                given: UInt8(known.map { $0 + 1 } ?? 0), description: print.description)
        }
        exchange.answer(
            FingerprintStored(nonce: nonce, prints: stored), FingerprintLink.storedPrints)
    }

    private func prints(on reader: Reader) throws(Failure) -> [Print] {
        let call = Call()
        unsafe fp_device_list_prints(reader.device, stop.cancellable, Call.ended, call.data)
        call.wait(stop, until: Clock.bootMilliseconds() + FingerprintLink.readerWait)
        var error: UnsafeMutablePointer<GError>?
        guard
            let list = unsafe fp_device_list_prints_finish(reader.device, call.result, &error)
        else { throw unsafe Failure.of(error) }
        // The list lets go of its prints.
        defer { unsafe g_ptr_array_unref(list) }
        var prints: [Print] = []
        for place in 0..<Int(unsafe list.pointee.len) {
            guard let pointer = unsafe list.pointee.pdata[place] else { continue }
            unsafe g_object_ref(pointer)
            prints.append(unsafe Print(owning: OpaquePointer(pointer)))
        }
        return prints
    }

    /// At once where the chip can do that, else one print after the other.
    private func clear(_ choice: ReaderChoice) throws(Failure) {
        let reader = try find(choice)
        guard reader.info.stores else { throw .fault(.notSupported) }
        try with(reader, stop) { () throws(Failure) in
            do throws(Failure) {
                try clearAtOnce(reader)
            } catch {
                guard stop.reason == nil, reader.has(FP_DEVICE_FEATURE_STORAGE_LIST) else {
                    throw error
                }
                try clearEach(reader)
            }
        }
        exchange.answer(FingerprintNonce(nonce: nonce), FingerprintLink.done)
    }

    /// One that cannot be deleted keeps no other one there.
    private func clearEach(_ reader: Reader) throws(Failure) {
        var failure: Failure?
        for print in try prints(on: reader) {
            do throws(Failure) {
                try remove(print, from: reader, stop)
            } catch {
                guard stop.reason == nil else { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func clearAtOnce(_ reader: Reader) throws(Failure) {
        guard reader.has(FP_DEVICE_FEATURE_STORAGE_CLEAR) else { throw .fault(.notSupported) }
        let call = Call()
        unsafe fp_device_clear_storage(reader.device, stop.cancellable, Call.ended, call.data)
        call.wait(stop, until: Clock.bootMilliseconds() + FingerprintLink.readerWait)
        var error: UnsafeMutablePointer<GError>?
        guard unsafe fp_device_clear_storage_finish(reader.device, call.result, &error) != 0
        else { throw unsafe Failure.of(error) }
    }
}

/// Tells a request that its reader is gone.
@safe
final class Unplugged {
    private let reader: Reader
    private let stop: Stop
    private var signal: gulong = 0

    init(_ reader: Reader, _ stop: Stop) {
        self.reader = reader
        self.stop = stop
        // SAFETY: deinit takes the handler away before this object is gone.
        signal = unsafe appvault_on(
            UnsafeMutableRawPointer(reader.device), "notify::removed",
            { data in
                let own = unsafe Unmanaged<Unplugged>.fromOpaque(data!).takeUnretainedValue()
                if own.reader.isRemoved { own.stop.stop(.removed) }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        unsafe g_signal_handler_disconnect(UnsafeMutableRawPointer(reader.device), signal)
    }
}
