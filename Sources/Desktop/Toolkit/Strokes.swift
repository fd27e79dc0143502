/// A picture of lines, on a square of 24 by 24.
struct Strokes {
    static let size = 24.0

    enum Step {
        case move(Double, Double)
        case line(Double, Double)
        /// Around a point, clockwise, in degrees.
        case arc(Double, Double, Double, from: Double, to: Double)
        case close
        /// The next one begins elsewhere.
        case lift
    }

    var width = 1.5
    let steps: [Step]

    fileprivate static func lines(_ points: [(Double, Double)], closed: Bool = false) -> [Step] {
        points.enumerated().map {
            $0.offset == 0 ? .move($0.element.0, $0.element.1) : .line($0.element.0, $0.element.1)
        }
            + (closed ? [.close] : [])
    }

    fileprivate static func circle(_ x: Double, _ y: Double, _ radius: Double) -> [Step] {
        [.lift, .arc(x, y, radius, from: 0, to: 360)]
    }

    fileprivate static func box(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, round: Double = 1.5
    ) -> [Step] {
        [
            .lift, .arc(x + round, y + round, round, from: 180, to: 270),
            .arc(x + width - round, y + round, round, from: 270, to: 360),
            .arc(x + width - round, y + height - round, round, from: 0, to: 90),
            .arc(x + round, y + height - round, round, from: 90, to: 180), .close,
        ]
    }
}

extension Strokes {
    static let lock = Strokes(
        steps: box(4.5, 10.5, 15, 10.5) + [
            .move(7.5, 10.5), .line(7.5, 7.5), .arc(12, 7.5, 4.5, from: 180, to: 360),
            .line(16.5, 10.5),
        ] + circle(12, 15, 1.2) + lines([(12, 16.2), (12, 18)]))
    static let openLock = Strokes(
        steps: box(4.5, 10.5, 15, 10.5) + [
            .move(7.5, 10.5), .line(7.5, 6.5), .arc(12, 6.5, 4.5, from: 180, to: 345),
        ] + circle(12, 15, 1.2) + lines([(12, 16.2), (12, 18)]))
    /// A door of a vault.
    static let logo = Strokes(
        steps: box(2.5, 2.5, 19, 17.5, round: 2.5) + circle(12, 11.25, 5) + circle(12, 11.25, 1.4)
            + lines([(12, 6.25), (12, 4.6)]) + lines([(12, 16.25), (12, 17.9)])
            + lines([(7, 11.25), (5.4, 11.25)]) + lines([(17, 11.25), (18.6, 11.25)])
            + lines([(6, 20), (6, 21.8)]) + lines([(18, 20), (18, 21.8)]))
    static let key = Strokes(
        steps: circle(7.5, 16.5, 4.5) + lines([(10.7, 13.3), (20.5, 3.5)])
            + lines([(17.2, 6.8), (20.4, 10)]) + lines([(14.4, 9.6), (16.8, 12)]))
    static let finger = Strokes(
        width: 1.3,
        steps: [
            .lift, .arc(12, 12, 9, from: 200, to: 325),
            .lift, .arc(12, 12.5, 6.2, from: 170, to: 360), .line(18.2, 15),
            .lift, .arc(12, 12.8, 3.4, from: 180, to: 360), .line(15.4, 15.5),
            .arc(8.5, 15.5, 6.9, from: 0, to: 42),
            .move(12, 12.8), .line(12, 15.5), .arc(5.5, 15.5, 6.5, from: 0, to: 50),
            .move(8.6, 12.8), .line(8.6, 15), .arc(3.6, 15, 5, from: 0, to: 50),
            .move(18.2, 15), .arc(10, 15, 8.2, from: 0, to: 35),
            .move(5.8, 13.6), .line(5.4, 15.2),
        ])
    static let person = Strokes(
        steps: circle(12, 8, 4.2) + [
            .move(4, 21), .arc(12, 21, 8, from: 180, to: 360), .close,
        ])
    static let people = Strokes(
        steps: circle(9, 8.5, 3.6) + [
            .move(2.2, 20), .arc(9, 20, 6.8, from: 180, to: 360), .close,
            .lift, .arc(16.2, 8.2, 3.2, from: 250, to: 450),
            .lift, .arc(16, 20, 6, from: 285, to: 360), .line(18.6, 20),
        ])
    static let paper = Strokes(
        steps: lines([(5, 2.5), (14, 2.5), (19, 7.5), (19, 21.5), (5, 21.5)], closed: true)
            + lines([(14, 2.5), (14, 7.5), (19, 7.5)]) + lines([(8, 11.5), (16, 11.5)])
            + lines([(8, 14.5), (16, 14.5)]) + lines([(8, 17.5), (13, 17.5)]))
    static let organisation = Strokes(
        steps: lines([(4, 21.5), (4, 3), (14, 3), (14, 21.5)])
            + lines([(14, 9), (20, 9), (20, 21.5)]) + lines([(2, 21.5), (22, 21.5)])
            + lines([(7.5, 7), (10.5, 7)]) + lines([(7.5, 11), (10.5, 11)])
            + lines([(7.5, 15), (10.5, 15)]) + lines([(17, 13), (17, 13.1)])
            + lines([(17, 17), (17, 17.1)]))
    static let warning = Strokes(
        steps: lines([(12, 3), (22, 20.5), (2, 20.5)], closed: true)
            + lines([(12, 9.5), (12, 14.5)])
            + lines([(12, 17.4), (12, 17.5)]))
    static let done = Strokes(
        steps: circle(12, 12, 9.5) + lines([(7.5, 12.4), (10.7, 15.6), (16.6, 8.8)]))
    static let code = Strokes(
        steps: box(3, 3, 7, 7, round: 1) + box(14, 3, 7, 7, round: 1) + box(3, 14, 7, 7, round: 1)
            + lines([(14, 14), (17, 14), (17, 17)]) + lines([(21, 14), (21, 17)])
            + lines([(14, 18), (14, 21), (17, 21)]) + lines([(20.9, 20.9), (21, 21)]))

    static let check = Strokes(width: 2.6, steps: lines([(4.5, 12.5), (9.5, 17.5), (19.5, 6.5)]))
    static let cross = Strokes(
        width: 2.6, steps: lines([(6, 6), (18, 18)]) + lines([(18, 6), (6, 18)]))
    static let dot = Strokes(width: 2.6, steps: circle(12, 12, 1.6))
}
