// Mood as a line: above the middle good, below it bad, so that its place says what its colour says.
import { svg } from "./dom.js"

let drawn = 0
const KEPT = 0.6 // of what the mood was, with each new sentence

/** [[position, mood], ...] with single words evened out. */
export function smooth(points) {
  let mood = 0
  return points.map(([at, value], index) => {
    mood = index === 0 ? value : KEPT * mood + (1 - KEPT) * value
    return [at, mood]
  })
}

export const now = (points) => (points.length ? smooth(points)[points.length - 1][1] : null)

/** Draws sides {role: points} into a box of 100 x 100 that stretches. */
export function curve(label) {
  const zero = svg("g", { class: "zero" }, ...[6, 50, 94].map((y) => svg("line", { x1: 0, x2: 100, y1: y, y2: y })))
  const shades = svg("linearGradient", { id: `shades-${++drawn}`, gradientUnits: "userSpaceOnUse", x1: 0, y1: 0, x2: 0, y2: 100 },
    svg("stop", { offset: "50%", class: "good" }), svg("stop", { offset: "50%", class: "bad" }))
  const area = svg("path", { class: "area", fill: `url(#shades-${drawn})` })
  const agent = svg("path", { class: "line agent" })
  const caller = svg("path", { class: "line caller" })
  const marks = svg("g", { class: "marks" })
  const playing = svg("line", { y1: 0, y2: 100, class: "playing", visibility: "hidden" })
  const root = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", class: "curve", role: "img", "aria-label": label },
    svg("defs", {}, shades), zero, area, agent, caller, marks, playing)
  let from = 0, to = 1
  const x = (at) => ((at - from) / Math.max(1, to - from)) * 100
  const y = (mood) => 50 - mood * 44
  return {
    root,
    at: (share) => from + share * (to - from),
    draw(sides, window, alerts = []) {
      [from, to] = window
      const callers = path(sides.caller || [], x, y), agents = path(sides.agent || [], x, y)
      caller.setAttribute("d", callers.line)
      area.setAttribute("d", callers.area)
      agent.setAttribute("d", agents.line)
      marks.replaceChildren(...alerts.map((at) => svg("line", { x1: x(at), x2: x(at), y1: 4, y2: 96, class: "alert" })))
    },
    play(at) {
      playing.setAttribute("visibility", at === null ? "hidden" : "visible")
      if (at !== null) { playing.setAttribute("x1", x(at)); playing.setAttribute("x2", x(at)) }
    },
  }
}

function path(points, x, y) {
  if (!points.length) return { line: "", area: "" }
  const even = smooth(points)
  let line = `M${x(even[0][0]).toFixed(2)} ${y(even[0][1]).toFixed(2)}`
  for (let index = 1; index < even.length; index++) {
    const before = x(even[index - 1][0]), here = x(even[index][0]), middle = ((before + here) / 2).toFixed(2)
    line += `C${middle} ${y(even[index - 1][1]).toFixed(2)} ${middle} ${y(even[index][1]).toFixed(2)} ${here.toFixed(2)} ${y(even[index][1]).toFixed(2)}`
  }
  const last = even[even.length - 1]
  line += `L100 ${y(last[1]).toFixed(2)}`
  return { line, area: `${line}L100 50L${x(even[0][0]).toFixed(2)} 50Z` }
}
