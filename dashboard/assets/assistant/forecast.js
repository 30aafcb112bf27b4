// A forecast as a small chart: from the low to the high of every day, and how likely rain or snow is.
import { el, svg } from "./dom.js"

const DAY = 48, TOP = 52, PLOT = 62, FOOT = 40, BAR = 6
const known = (value) => typeof value === "number"
const rounded = (value) => String(Math.round(value))

const date = (day) => new Date(`${day.date}T12:00`)
const weekday = (day) => date(day).toLocaleDateString("en-US", { weekday: "short" })
const calendar = (day) => date(day).toLocaleDateString("en-US", { month: "short", day: "numeric" })

/** Rain, or snow where that is likelier. */
function wetness(day) {
  const snow = (day.snow_chance ?? 0) > (day.rain_chance ?? 0)
  return { chance: snow ? day.snow_chance : day.rain_chance, name: snow ? "snow" : "rain" }
}

function words(day) {
  const { chance, name } = wetness(day)
  const warm = known(day.low_f) && known(day.high_f) ? `${rounded(day.low_f)} to ${rounded(day.high_f)} degrees Fahrenheit` : ""
  return [`${weekday(day)}, ${calendar(day)}`, day.condition, warm, known(chance) ? `${name} ${chance} percent` : ""].filter(Boolean).join(", ")
}

const CLOUD = "M-7 5a4.2 4.2 0 0 1 .4-8.4 5.6 5.6 0 0 1 10.6-.9A4.7 4.7 0 0 1 6.6 5z"

function icon(condition = "") {
  const parts = []
  const sunny = /sun|clear/.test(condition), partly = /part|mostly/.test(condition)
  if (sunny || partly) {
    const at = partly ? "translate(5 -5) scale(.75)" : ""
    const rays = Array.from({ length: 8 }, (_, turn) => svg("path", { d: "M0 -8.5v-2", transform: `rotate(${turn * 45})` }))
    parts.push(svg("g", { class: "sun", transform: at }, svg("circle", { r: 5 }), ...rays))
  }
  if (!sunny || partly) parts.push(svg("path", { class: "cloud", d: CLOUD }))
  if (/rain|shower|drizzle|storm/.test(condition)) for (const x of [-4, 0, 4]) parts.push(svg("path", { class: "drop", d: `M${x} 8l-1.5 4` }))
  if (/snow|sleet/.test(condition)) for (const x of [-4, 0, 4]) parts.push(svg("circle", { class: "flake", cx: x, cy: 10, r: 1.5 }))
  return svg("g", {}, ...parts)
}

function column(day, index, scale) {
  const middle = index * DAY + DAY / 2, { chance } = wetness(day)
  const parts = [
    svg("text", { class: "day", x: middle, y: 11 }, weekday(day)),
    svg("g", { transform: `translate(${middle} 27)` }, icon(day.condition)),
  ]
  if (known(day.high_f) && known(day.low_f)) {
    const high = scale(day.high_f), low = Math.max(scale(day.low_f), high + 4)
    parts.push(
      svg("rect", { class: "range", x: middle - BAR / 2, y: high, width: BAR, height: low - high, rx: BAR / 2 }),
      svg("text", { class: "high", x: middle, y: high - 4 }, `${rounded(day.high_f)}°`),
      svg("text", { x: middle, y: low + 12 }, `${rounded(day.low_f)}°`),
    )
  }
  if (known(chance)) {
    const y = TOP + PLOT + 24, width = DAY - 16, share = Math.min(100, Math.max(0, chance)) / 100
    parts.push(
      svg("rect", { class: "gauge", x: middle - width / 2, y, width, height: 4, rx: 2 }),
      svg("rect", { class: "gauge full", x: middle - width / 2, y, width: width * share, height: 4, rx: 2 }),
      svg("text", { class: chance >= 50 ? "wet" : "", x: middle, y: y + 16 }, `${rounded(chance)}%`),
    )
  }
  return svg("g", {}, ...parts)
}

function chart(days) {
  const temperatures = days.flatMap((day) => [day.high_f, day.low_f]).filter(known)
  const most = Math.max(...temperatures), least = Math.min(...temperatures)
  const scale = (value) => TOP + 10 + ((most - value) / Math.max(1, most - least)) * (PLOT - 10)
  const width = days.length * DAY, height = TOP + PLOT + FOOT + 6
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...days.map((day, index) => column(day, index, scale)))
  drawing.style.maxWidth = `${width * 1.3}px`
  drawing.style.minWidth = `${width * 0.8}px`
  return el("div", { class: "days" }, drawing)
}

function single(day) {
  const { chance, name } = wetness(day)
  const drawing = svg("svg", { viewBox: "-13 -13 26 28", "aria-hidden": "true" }, icon(day.condition))
  const warm = el("strong", { text: known(day.high_f) ? `${rounded(day.high_f)}°F` : "" })
  if (known(day.low_f)) warm.append(el("small", { text: ` low ${rounded(day.low_f)}°` }))
  const detail = [day.condition, known(chance) ? `${chance}% chance of ${name}` : ""].filter(Boolean).join(" · ")
  return el("div", { class: "now" }, drawing, el("div", {}, warm, el("p", { text: detail })))
}

export function forecast({ place, state, rows }) {
  const where = [place, state].filter(Boolean).join(", ")
  const last = rows[rows.length - 1]
  const when = rows.length > 1 ? `${calendar(rows[0])} – ${calendar(last)}` : `${weekday(rows[0])}, ${calendar(rows[0])}`
  const caption = el("figcaption", {}, el("h2", { text: where }), el("span", { text: when }))
  const spoken = el("p", { class: "unseen", text: rows.map(words).join(". ") })
  if (rows.length === 1) return el("figure", { class: "card forecast" }, caption, single(rows[0]), spoken)
  const kinds = [...new Set(rows.filter((day) => known(wetness(day).chance)).map((day) => wetness(day).name))]
  const key = kinds.length ? el("p", { class: "key", "aria-hidden": "true", text: `High and low in °F, chance of ${kinds.join(" or ")}` }) : null
  return el("figure", { class: "card forecast" }, caption, chart(rows), key, spoken)
}
