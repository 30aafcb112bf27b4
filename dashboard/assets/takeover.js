// A person in the assistant's place: the conversation waits for one, is taken, written to and given back.
import { act, clock, el, say, slotName, words } from "./dom.js"

const LONGEST = 2000
const KEPT = "tenor.unsent."
const REASONS = {
  asked: "The shopper asked for a person", failures: "The assistant did not understand the shopper", "key 0": "The caller pressed 0",
  uncertain: "Nobody knows whether something went through", mood: "The shopper is unhappy",
}
const TAKES = new Set(["agent", "manager", "administrator"])

/** Why a person was called for, in words. */
export const reasonOf = ({ reason = "" } = {}) =>
  REASONS[reason] || (reason.startsWith("rule ") ? `Rule: ${words(reason.slice(5))}` : words(reason)) || "A person is called for"

/** Whether a platform has the call: who speaks on the web page can also be written to. */
export const onTelephone = ({ source, medium }) => medium === "voice" && source !== "web"

export const waits = (handover) => handover?.state === "waiting" || handover?.state === "missed"

/** How long it has been so, for people. */
export const sinceOf = (handover, offset) => clock((Date.now() / 1000 + offset - (handover.since || 0)) * 1000)

/** `name` and `role` of who looks; `token` is asked for each time, since it is renewed. */
export function takeover({ name, role, token }) {
  const title = el("b", {}), since = el("span", { class: "time" }), about = el("p", {}), chips = el("div", { class: "chips" })
  const take = el("button", { class: "main", text: "Take the call" }), back = el("button", { class: "plain", text: "Give back to the assistant" })
  const trouble = el("p", { class: "trouble", role: "alert", hidden: "" })
  const banner = el("section", { class: "card handover", hidden: "", "aria-label": "Who has this conversation" },
    el("div", { class: "line" }, title, since, el("span", { class: "gap" }), take, back), about, chips, trouble)
  const text = el("textarea", { rows: "2", maxlength: LONGEST, placeholder: "Write to the shopper", "aria-label": "Write to the shopper" })
  const send = el("button", { class: "main", type: "submit", text: "Send" })
  const composer = el("form", { class: "composer", hidden: "" }, text, send)
  let call = null, busy = false, unsent = null

  async function doing(work) {
    if (busy) return
    busy = take.disabled = back.disabled = send.disabled = true
    trouble.hidden = true
    try { await work() } catch (error) { trouble.hidden = false; trouble.textContent = sentence(error.message) }
    busy = take.disabled = back.disabled = send.disabled = false
  }
  const changed = (handover) => { call?.handOver(handover); draw(call) }
  take.onclick = () => doing(async () => { changed(await act(token(), "take", { call: call.about.id })); text.focus() })
  back.onclick = () => doing(async () => changed(await act(token(), "give-back", { call: call.about.id })))
  composer.onsubmit = (event) => {
    event.preventDefault()
    const said = text.value.trim()
    if (!said) return
    doing(async () => {
      // What is sent again, also after a reload, is sent under the same id and counts once.
      if (unsent?.text !== said) keep({ id: newId(), text: said })
      await act(token(), "write", { call: call.about.id, text: said, id: unsent.id })
      keep(null)
      text.value = ""
    })
  }
  text.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    composer.requestSubmit()
  }
  function keep(line) {
    unsent = line
    const place = KEPT + call.about.id
    if (line) sessionStorage.setItem(place, JSON.stringify(line))
    else sessionStorage.removeItem(place)
  }
  function recall() {
    try { unsent = JSON.parse(sessionStorage.getItem(KEPT + call.about.id)) } catch { unsent = null }
    if (unsent) text.value = unsent.text
  }

  function draw(next) {
    const first = next && call?.about.id !== next.about.id
    call = next
    const ours = Boolean(call?.about.attributes?.assistant)
    banner.hidden = !ours || !call.live
    if (first) recall()
    if (banner.hidden) { composer.hidden = true; return }
    const { handover = {} } = call.about, written = !onTelephone(call.about), mine = handover.state === "taken" && handover.agent === name
    banner.classList.toggle("waits", waits(handover))
    const who = handover.agent ? call.names.get(handover.agent) || handover.agent : "A person"
    say(title, {
      waiting: "Waits for a person", missed: "Nobody came yet", taken: mine ? "You have this conversation" : `${who} has this conversation`,
    }[handover.state] || "The assistant has this conversation")
    const asked = call.askedTurn()
    const told = waits(handover) || mine
    about.hidden = !told
    say(about, [reasonOf(handover), asked?.handover.summary, handover.state === "waiting" && !written ? `The call is in the telephone queue ${handover.queue}.` : ""].filter(Boolean).join(". "))
    const slots = told ? Object.entries(call.lastTurn()?.slots || {}) : []
    chips.replaceChildren(...slots.map(([slot, value]) => el("span", { class: "chip" }, `${slotName(slot)} `, el("b", { text: value }))))
    take.hidden = !TAKES.has(role) || !written || handover.state === "taken" || (role === "agent" && !waits(handover))
    take.className = waits(handover) ? "main" : "plain"
    back.hidden = !mine || !written
    composer.hidden = !mine || !written
    tick()
  }
  function tick() {
    const handover = call?.about.handover
    say(since, handover?.state && !banner.hidden ? sinceOf(handover, call.offset) : "")
  }
  return { banner, composer, draw, tick }
}

const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("")
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".")
