// Elements and the way things are written. What people said only ever goes in as text, never as markup.
export const SHAPES = { negative: "▼", neutral: "●", positive: "▲" }
export const OTHER_SHAPE = "◆"

export function el(tag, options = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue
    if (name === "text") element.textContent = value
    else if (name.startsWith("on")) element[name] = value
    else if (name === "class") element.className = value
    else element.setAttribute(name, value)
  }
  element.append(...children.filter((child) => child !== null && child !== undefined))
  return element
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/** Changes the page only when there is something new. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

export const words = (name) => {
  const said = (name || "").replace(/[._-]+/g, " ").trim()
  return said.charAt(0).toUpperCase() + said.slice(1)
}

/** The rule of the assistant's own alert, which is no rule of the house's. */
export const HANDOVER = "assistant.handover"
export const ruleName = (rule) => (rule === HANDOVER ? "Person wanted" : words(rule))

/** What kind of value a slot has: a sentence's second date is called date_2. */
export const slotName = (slot) => words(slot.replace(/_\d+$/, ""))

export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const pad = (number) => String(number).padStart(2, "0")
  const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60
  return hours ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`
}

/** A time of day, with the day when it is not today's: 16:29, or 9 Nov 16:29. */
export function daytime(at) {
  const then = new Date(at * 1000), time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
  if (then.toDateString() === new Date().toDateString()) return time
  return `${then.getDate()} ${then.toLocaleDateString("en-GB", { month: "short" })} ${time}`
}

export const moodText = (value) => (Math.abs(value) < 0.005 ? "" : value > 0 ? "+" : "−") + Math.abs(value).toFixed(2)

let felt = Infinity // from where on a mood is more than neutral: the pages' own rule, told with their data
export const feelFrom = (mood) => { felt = mood }
export const moodClass = (value) => (value <= -felt ? "negative" : value >= felt ? "positive" : "neutral")

export const shape = (sentiment) => SHAPES[sentiment] || OTHER_SHAPE

/** Who speaks under a role that the platform told: the server says for whom that is not so. */
export const sideOf = (role, sides) => sides?.[role] ?? role

/** What is kept by side, when it turns out that who speaks under each role is not as it `was`. */
export function turned(kept, was, sides) {
  const told = Object.fromEntries(Object.entries(was || {}).map(([role, side]) => [side, role]))
  return Object.fromEntries(Object.entries(kept).map(([side, value]) => [sideOf(told[side] ?? side, sides), value]))
}

/** What a call is called that has no agent: its file, or the assistant that answers it. */
export const nameOf = ({ attributes }) => attributes?.name || (attributes?.assistant ? `${words(attributes.assistant)} assistant` : "")

/** Where a call belongs, and what is not usual about it. */
export function placeOf({ queue, site, medium, sample, attributes }) {
  const madeUp = sample || attributes?.sample === "yes" // the database's word, or the bus's
  return [queue, site, medium !== "voice" ? medium : "", madeUp ? "sample data" : ""].filter(Boolean).join(" · ")
}

/** Something quiet in the place of what is still on its way. */
export function loading(kind, count) {
  return el("div", { class: `loading ${kind}`, role: "status", "aria-label": "Loading" }, ...Array.from({ length: count }, () => el("i")))
}

/** Once a frame, however much has changed. */
export function everyFrame(work) {
  let asked = false
  return () => {
    if (asked) return
    asked = true
    requestAnimationFrame(() => { asked = false; work() })
  }
}

export async function act(token, name, content) {
  const answer = await fetch(`/actions/${name}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(content),
  })
  const said = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Error(said.error || `that did not work (${answer.status})`)
  return said
}
