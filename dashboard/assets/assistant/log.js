// The conversation on the screen. What anybody wrote only ever goes in as text.
import { cardOf } from "./cards.js"
import { el, say } from "./dom.js"

const NEAR_PX = 120
const LINE_MS = 1500 // how long the last words may stand before the line itself comes

export class Log {
  constructor(list) {
    this.list = list
    this.waiting = false
    this.clear()
  }

  clear() {
    this.list.replaceChildren()
    this.sent = new Map() // id -> a line of ours that has no position yet
    this.lines = new Map() // position -> line
    this.typing = this.hearing = null
    this.typed = new Set() // lines of ours that the server has not told yet
    this.ahead = null // a spoken line whose answer came before it
    this.waits(false)
  }

  /** What is being said. The last words stay until the line itself comes, which may have come before them. */
  hears({ text, final }) {
    clearTimeout(this.fading)
    if (!final) return this.interim(text)
    if (this.hearing && text) this.interim(text)
    this.fading = setTimeout(() => this.interim(""), LINE_MS)
  }

  /** What is being said, while it is being said; an empty text when it is over. Screen readers get the line itself. */
  interim(text) {
    if (!text) {
      this.hearing?.remove()
      this.hearing = null
      return
    }
    if (!this.hearing) {
      this.hearing = this.entry("caller pending interim", el("div", { class: "bubble" }))
      this.hearing.setAttribute("aria-hidden", "true")
      this.add(this.hearing, true)
    }
    say(this.hearing.querySelector(".bubble"), text)
    this.list.scrollTop = this.list.scrollHeight
  }

  /** A line of ours, on its way. */
  sending(id, text, answered) {
    const line = this.entry("caller pending", el("div", { class: "bubble", text }))
    this.sent.set(id, line)
    this.typed.add(line)
    this.add(line, true)
    if (answered) this.waits(true)
  }

  accepted(id, position) {
    const line = this.sent.get(id)
    this.sent.delete(id)
    if (!line) return
    line.classList.remove("pending")
    const there = this.lines.get(position)
    if (!there) this.lines.set(position, line)
    else if (there !== line) line.remove() // the server told it before it said so
  }

  failed(id) {
    const line = this.sent.get(id)
    this.sent.delete(id)
    this.typed.delete(line)
    line?.classList.replace("pending", "failed")
    line?.append(el("span", { class: "who", text: "Not sent" }))
    this.waits(false)
  }

  /** A line as it was kept: ours, with what was taken out of it, or a person's. */
  line({ role, line: position, text, spoken }) {
    if (role === "agent") {
      this.waits(false)
      this.add(this.entry("agent", el("span", { class: "who", text: "A person" }), el("div", { class: "bubble", text })))
      return
    }
    let line = this.lines.get(position)
    if (spoken) {
      this.interim("")
      if (this.ahead?.textContent.includes(text)) return void this.lines.set(position, this.ahead)
    } else if (!line) {
      const [first] = this.sent // lines come in order: it is the oldest that is on its way
      line = first?.[1]
      if (first) this.sent.delete(first[0])
    }
    if (!line) this.add((line = this.entry("caller", el("div", { class: "bubble" }))))
    line.classList.remove("pending")
    this.typed.delete(line)
    say(line.querySelector(".bubble"), text)
    this.lines.set(position, line)
  }

  turn({ replies, input }) {
    this.waits(false)
    if (input && !this.typed.size && !this.shows(input)) {
      this.interim("")
      this.add((this.ahead = this.entry("caller", el("div", { class: "bubble", text: input }))))
    }
    for (const { text, card } of replies) {
      const entry = this.entry("assistant", el("span", { class: "unseen", text: "Assistant: " }), el("div", { class: "bubble", text }))
      const shown = card && cardOf(card)
      if (shown) entry.append(shown)
      this.add(entry)
    }
  }

  /** Whether the last lines of ours have this text. Two that were spoken as one sentence are one turn. */
  shows(text) {
    const lines = [...this.list.querySelectorAll("li.caller:not(.interim)")].slice(-3).map((line) => line.textContent)
    return lines.includes(text) || lines.slice(-2).join(" ") === text || lines.join(" ") === text
  }

  filler({ text }) {
    this.add(this.entry("assistant", el("div", { class: "bubble", text })))
  }

  note(text) {
    this.add(this.entry("note", text))
  }

  waits(waiting) {
    this.waiting = waiting
    this.typing?.remove()
    this.typing = null
    if (!waiting) return
    const dots = el("div", { class: "bubble typing", "aria-hidden": "true" }, el("i"), el("i"), el("i"))
    this.typing = this.entry("assistant", dots)
    this.add(this.typing, true)
  }

  entry(kind, ...children) {
    return el("li", { class: kind }, ...children)
  }

  add(entry, always = false) {
    const { list } = this
    const near = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX
    if (this.typing && entry !== this.typing) list.insertBefore(entry, this.typing)
    else list.append(entry)
    if (near || always) list.scrollTop = list.scrollHeight
  }
}
