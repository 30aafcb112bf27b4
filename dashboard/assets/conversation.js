// What was said, both sides, as a conversation. A person's correction is what is shown; the model's answer stands under it.
import { daytime, el, say, shape, slotName, words } from "./dom.js"

const AT_ONCE = 150 // sentences put on the page in one go
const NEAR_PX = 80
const UNCLEAR = new Set(["unknown", "nomatch.none"])
const OURS = new Set(["agent", "assistant"]) // who speaks for the house

export function conversation({ onPlay, onCorrect, onPin, canPin, intents, sentiments }) {
  const list = el("div", { class: "said", role: "log", "aria-label": "What was said" })
  const interims = el("div", { class: "interims" })
  const more = el("button", { class: "main newer", text: "↓ newer", hidden: "" })
  const scroll = el("div", { class: "scroll", tabindex: "0" }, list, interims)
  const root = el("div", { class: "conversation" }, scroll, more)
  const rows = new Map()
  let call = null, playing = null, following = true, building = 0

  scroll.onscroll = () => {
    following = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR_PX
    if (following) more.hidden = true
    scroll.classList.toggle("above", scroll.scrollTop > 4)
  }
  // Rows out of sight have only a guess of a height: when they get their own, stay where one was.
  new ResizeObserver(() => { if (following && call?.live) down() }).observe(list)
  more.onclick = () => { following = true; down() }
  const down = () => { scroll.scrollTop = scroll.scrollHeight; more.hidden = true }
  const settle = () => { if (following) down(); else more.hidden = !call.live }

  /** The whole call. A long one comes in pieces, so that the page answers meanwhile; what is there already stays where
      it is, with whatever is being written on it. */
  function show(next) {
    const first = !call
    call = next
    const turn = ++building
    for (const [id, row] of rows) if (!call.sentences.has(id)) { row.root.remove(); rows.delete(id) }
    const sentences = call.ordered()
    const put = (from) => {
      if (turn !== building) return
      for (const { sentence } of sentences.slice(from, from + AT_ONCE)) place(call.sentences.get(sentence))
      if (from + AT_ONCE < sentences.length) requestAnimationFrame(() => put(from + AT_ONCE))
      else if (call.live) settle()
    }
    if (first) following = call.live
    put(0)
    interim()
  }

  function place(sentence) {
    let row = rows.get(sentence.sentence)
    if (!row) {
      row = build(sentence)
      rows.set(sentence.sentence, row)
      let before = list.lastElementChild
      while (before && Number(before.dataset.start) > sentence.start_ms) before = before.previousElementSibling
      if (before) before.after(row.root)
      else list.prepend(row.root)
    }
    fill(row, sentence)
  }

  function build(sentence) {
    const row = {
      text: el("p", { class: "text", dir: "auto" }), meta: el("div", { class: "meta" }), model: el("div", { class: "model" }),
      side: el("span", { class: "side" }), time: el("span", { class: "time" }), notes: el("div", { class: "pinned" }),
    }
    const marks = sentiments.map((value) => el("button", {
      class: `mark ${value}`, text: shape(value), title: `This is ${value}`, "aria-label": `This is ${value}`,
      onclick: (event) => { event.stopPropagation(); onCorrect(sentence.sentence, "sentiment", value) },
    }))
    const open = el("button", { class: "mark", text: "✎", title: "Correct or note", "aria-label": "Correct or note" })
    row.tools = el("div", { class: "tools" }, ...marks, open)
    row.bubble = el("div", { class: "bubble" }, row.text, row.meta, row.model, row.tools)
    row.root = el("div", { class: "row", "data-sentence": sentence.sentence, "data-start": sentence.start_ms }, el("div", { class: "by" }, row.side, row.time), row.bubble, row.notes)
    open.onclick = (event) => { event.stopPropagation(); menu(row) }
    row.bubble.onclick = (event) => { if (!event.target.closest("button, form, input, select, textarea") && call.recorded) onPlay(row.sentence.start_ms) }
    return row
  }

  function fill(row, sentence) {
    row.sentence = sentence
    const labels = call.labelsOf(sentence.sentence)
    const { side, text, sentiment, intent } = call.shown(sentence)
    const foreign = sentence.language === "other" && !labels.sentiment
    row.root.className = `row ${OURS.has(side) ? "right" : "left"} ${sentiment}${playing === sentence.sentence ? " playing" : ""}`
    row.bubble.classList.toggle("playable", call.recorded)
    say(row.side, words(side))
    say(row.time, call.when(sentence.start_ms))
    say(row.text, text)
    const told = [el("span", { class: "feeling", text: foreign ? "another language" : `${shape(sentiment)} ${sentiment}` })]
    const heard = call.turnOf(sentence), turn = heard?.intent ? heard : null // what the assistant made of it
    const wish = turn && !labels.intent ? turn.intent : intent
    if (wish && !UNCLEAR.has(wish)) told.push(el("span", { class: "chip", text: words(wish) }))
    for (const [name, value] of Object.entries((turn ? turn.slots : sentence.slots) || {})) told.push(el("span", { class: "chip" }, `${slotName(name)} `, el("b", { text: value })))
    for (const [name, value] of Object.entries(sentence.labels || {})) told.push(el("span", { class: "chip" }, `${words(name)} `, el("b", { text: words(value) })))
    row.meta.replaceChildren(...told)
    row.bubble.title = latency(sentence)
    row.model.replaceChildren(...corrected(Object.values(labels)))
    row.notes.replaceChildren(...call.notesOf(sentence.sentence).map((note) => el("div", { class: "note-pin", text: `✉ ${note.author}: ${note.text}` })))
  }

  function menu(row) {
    const old = row.bubble.querySelector("form")
    if (old) { old.remove(); return }
    const { sentence } = row, opened = Date.now()
    const correct = (kind, value) => { form.remove(); onCorrect(sentence.sentence, kind, value, (Date.now() - opened) / 1000) }
    const intent = el("select", { "aria-label": "Intent" }, el("option", { value: "", text: "Intent …" }),
      ...intents.map((value) => el("option", { value, text: words(value) })))
    intent.onchange = () => { if (intent.value) correct("intent", intent.value) }
    const text = el("textarea", { rows: "2", "aria-label": "Text" })
    const { text: shown, side } = call.shown(sentence)
    text.value = shown
    const others = call.about.roles.filter((role) => role !== side)
    const form = el("form", { class: "correct" }, text, el("div", { class: "choices" },
      el("button", { class: "plain", type: "submit", text: "Save text" }), intent,
      ...others.map((role) => el("button", { class: "plain", type: "button", text: `Said by ${role}`, onclick: () => correct("role", role) })),
      canPin ? el("button", { class: "plain", type: "button", text: "Note to agent", onclick: () => { form.remove(); onPin(sentence) } }) : null))
    form.onsubmit = (event) => { event.preventDefault(); if (text.value.trim()) correct("text", text.value) }
    row.bubble.append(form)
    text.focus()
  }

  function interim() {
    const said = call.live ? [...call.interims.values()] : []
    interims.replaceChildren(...said.map((one) => {
      const side = call.sideOf(one.role)
      return el("div", { class: `row interim ${OURS.has(side) ? "right" : "left"}` }, el("div", { class: "by" }, el("span", { class: "side", text: words(side) })),
        el("div", { class: "bubble" }, el("p", { class: "text", dir: "auto", text: one.text })))
    }))
    settle()
  }

  return {
    root, show, interim,
    put(sentence) { place(sentence); settle() },
    refill(id) { const row = rows.get(id); if (row) fill(row, call.sentences.get(id) || row.sentence) },
    refillAll() { for (const id of rows.keys()) this.refill(id) },
    playing(id) {
      if (id === playing) return
      rows.get(playing)?.root.classList.remove("playing")
      playing = id
      const row = rows.get(id)
      if (row) { row.root.classList.add("playing"); if (!call.live) this.find(id, "nearest") }
    },
    find(id, block = "center") {
      const row = rows.get(id)
      if (!row) return
      following = false
      const at = row.root.offsetTop - scroll.offsetTop
      if (block === "center") scroll.scrollTop = at - scroll.clientHeight / 2
      else if (at < scroll.scrollTop || at + row.root.offsetHeight > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = at - 60
      if (block === "center") row.bubble.animate([{ outline: "2px solid var(--main)" }, { outline: "2px solid transparent" }], 1500)
    },
  }
}

/** Who put it right, and what the model had said. */
function corrected(labels) {
  if (!labels.length) return []
  const written = ({ kind, value }) => (kind === "sentiment" ? `${shape(value)} ${value}` : kind === "text" ? `“${value}”` : words(value))
  const people = [...new Set(labels.map((label) => label.author))].join(", ")
  return [
    el("span", { class: "pen", text: `✎ ${people}`, title: labels.map((label) => `${label.author}, ${daytime(label.at)}: ${written(label)}`).join("\n") }),
    ...labels.filter((label) => label.predicted !== label.value).map((label) => el("i", { text: written({ ...label, value: label.predicted }), title: `The model's ${label.kind}` })),
  ]
}

/** Where the time went between the word and the page. */
function latency({ times, latency_ms }) {
  const { captured, recognised, understood, sentence_published: published } = times || {}
  if (!captured || !published) return ""
  const ms = (from, to) => `${Math.round((to - from) * 1000)} ms`
  const parts = [`${ms(captured, published)} from the end of speech to this line`]
  if (recognised) parts.push(`recognised after ${ms(captured, recognised)}`)
  if (recognised && understood) parts.push(`understood in ${ms(recognised, understood)}`)
  return parts.join("\n")
}
