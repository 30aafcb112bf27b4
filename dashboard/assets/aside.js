// Beside the conversation: the moods, the figures, what was wanted, alerts and notes.
import { daytime, el, moodClass, moodText, ruleName, say, shape, slotName, words } from "./dom.js"
import { curve, now as moodNow } from "./curve.js"

const FIGURES = [
  ["silence_share", "Silence", (value) => `${Math.round(value * 100)} %`],
  ["silence_longest_s", "Longest silence", (value) => `${value.toFixed(0)} s`],
  ["overlap_s", "Both at once", (value) => `${value.toFixed(0)} s`],
  ["interruptions.agent", "Agent broke in", (value) => `${value.toFixed(0)} ×`],
  ["interruptions.caller", "Caller broke in", (value) => `${value.toFixed(0)} ×`],
  ["words_per_minute.agent", "Agent's pace", (value) => `${value.toFixed(0)} words/min`],
  ["words_per_minute.caller", "Caller's pace", (value) => `${value.toFixed(0)} words/min`],
  ["longest_monologue_s.agent", "Agent's longest turn", (value) => `${value.toFixed(0)} s`],
  ["longest_monologue_s.caller", "Caller's longest turn", (value) => `${value.toFixed(0)} s`],
  ["loudness.caller", "Caller's loudness", (value) => `${value.toFixed(0).replace("-", "−")} dB`],
  ["loudness.agent", "Agent's loudness", (value) => `${value.toFixed(0).replace("-", "−")} dB`],
]

export function card(title, ...content) {
  return el("section", { class: "card" }, el("h2", { text: title }), ...content)
}

export function moods({ onSeek }) {
  const line = curve("Mood of caller and agent over the call")
  const caller = el("span", { class: "mood" }), agent = el("span", { class: "mood" })
  const plot = el("div", { class: "plot" }, line.root)
  plot.onclick = (event) => {
    const box = plot.getBoundingClientRect()
    onSeek(line.at((event.clientX - box.left) / box.width))
  }
  const from = el("span", {}), to = el("span", {})
  const scale = el("div", { class: "scale", "aria-hidden": "true" }, ...["+1", "0", "−1"].map((text) => el("span", { text })))
  const root = card("Mood", el("div", { class: "moods" }, caller, agent), el("div", { class: "scaled" }, scale, plot, el("div", { class: "span" }, from, to)))
  return {
    root,
    play: (at) => line.play(at),
    draw(call) {
      const sides = call.moods()
      const all = Object.values(sides).flat().map(([at]) => at)
      const first = all.length ? Math.min(...all) : 0
      const span = [call.recorded ? 0 : first, Math.max(first + 1, ...all, call.about.duration_ms || 0)]
      say(from, call.when(span[0]))
      say(to, call.when(span[1]))
      line.draw(sides, span, [...call.alerts.values()].map((alert) => alert.at_ms))
      for (const [element, side, key] of [[caller, "caller", "━"], [agent, "agent", "┅"]]) {
        const value = moodNow(sides[side] || [])
        element.className = `mood ${value === null ? "neutral" : moodClass(value)}`
        say(element, value === null ? `${key} ${words(side)} –` : `${key} ${words(side)} ${shape(moodClass(value))} ${moodText(value)}`)
      }
    },
  }
}

export function figures() {
  const talk = el("div", { class: "talk" }), list = el("dl", {}), late = el("p", { class: "small soft late" })
  const root = card("Conversation", talk, list, late)
  return {
    root,
    draw(call) {
      const caller = call.figure("talk_share.caller"), agent = call.figure("talk_share.agent")
      talk.hidden = caller === undefined && agent === undefined
      if (!talk.hidden) {
        const sum = (caller || 0) + (agent || 0) || 1, part = Math.round(((caller || 0) / sum) * 100)
        talk.replaceChildren(
          el("div", { class: "bar", role: "img", "aria-label": `Caller ${part} % of the talking, agent ${100 - part} %` }, el("i", { style: `width:${part}%` })),
          el("div", { class: "moods small soft" }, el("span", { text: `Caller talks ${part} %` }), el("span", { text: `Agent ${100 - part} %` })))
      }
      const present = FIGURES.filter(([name]) => call.figure(name) !== undefined)
      list.replaceChildren(...present.flatMap(([name, title, text]) => [el("dt", { text: title }), el("dd", { text: text(call.figure(name)) })]))
      say(late, call.late())
      late.hidden = !late.textContent
      root.hidden = talk.hidden && !present.length && late.hidden
    },
  }
}

const TIMES = new Set(["date", "time"]) // said in every call, and about nothing by themselves

/** What the call is about: its task, what else was wanted, and the values that tell it from others. */
export function wanted(tasks) {
  const about = new Set(tasks)
  const task = el("p", { class: "task" }), chips = el("div", { class: "chips" })
  const root = card("What it is about", task, chips)
  return {
    root,
    draw(call) {
      const { task: name, task_score: score } = call.about
      say(task, name && name !== "unknown" ? words(name) : call.live ? "Not clear yet" : "Not clear")
      task.title = score ? `${Math.round(score * 100)} % of the evidence` : ""
      const counts = new Map(), slots = new Map()
      for (const sentence of call.ordered()) {
        const { intent, side } = call.shown(sentence)
        if (side === "assistant") continue
        if (side !== "agent" && about.has(intent)) counts.set(intent, (counts.get(intent) || 0) + 1)
        for (const [slot, value] of Object.entries(sentence.slots || {})) {
          if (TIMES.has(slot.replace(/_\d+$/, ""))) continue
          const name = slotName(slot)
          slots.set(`${name} ${value.toLowerCase()}`, [name, value])
        }
      }
      const often = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6)
      chips.replaceChildren(...often.map(([intent, times]) => el("span", { class: "chip", text: times > 1 ? `${words(intent)} ×${times}` : words(intent) })),
        ...[...slots.values()].slice(-12).map(([name, value]) => el("span", { class: "chip" }, `${name} `, el("b", { text: value }))))
    },
  }
}

export function alerts({ onFind }) {
  const list = el("div", { class: "list" })
  const root = card("Alerts", list)
  return {
    root,
    draw(call) {
      root.hidden = call.alerts.size === 0
      list.replaceChildren(...[...call.alerts.values()].sort((a, b) => b.at_ms - a.at_ms).map((alert) => el("button", {
        class: "alert-line", onclick: () => onFind(alert),
      }, el("span", { class: `badge ${alert.severity}`, text: `⚑ ${ruleName(alert.rule)}${alert.escalation ? " · step in" : ""}` }),
      el("span", { class: "small soft", text: `${call.when(alert.at_ms)} · ${alert.text}` }))))
    },
  }
}

const ANSWERS = [["yes", "✓", "Done"], ["no", "✗", "Not done"], ["not_due", "–", "Not asked for"]]

const KINDS = [["wanted", "Wanted"], ["detail", ""], ["done", "Done"], ["promised", "Promised"], ["open", "Open"], ["mood", "Mood"]]
const OUTCOMES = { done: "✓ Done", promised: "→ Promised", unconfirmed: "? Nobody said that it was done", open: "○ Open" }

/** The summary of a call, each point with its sentence; whoever sees it puts it right with a click. */
export function summary({ codes, onMend, onWrapUp, onFind }) {
  const outcome = el("select", { class: "outcome", "aria-label": "What came of it" }), list = el("div", { class: "list" }), trouble = el("p", { class: "small trouble", role: "alert", hidden: "" })
  const code = el("select", { "aria-label": "Wrap-up code" }, el("option", { value: "", text: "How did it end?" }), ...Object.entries(codes).map(([value, text]) => el("option", { value, text })))
  const author = el("b", { class: "small soft" }), prose = el("p", { class: "prose" }), written = el("div", { class: "sum written", hidden: "" }, author, prose)
  const root = card("Summary", outcome, list, written, el("label", { class: "wrap-up small soft" }, el("span", { text: "Wrap-up" }), code), trouble)
  root.classList.add("summary")
  let writing = "", drawn = ""
  async function doing(work) {
    trouble.hidden = true
    try { await work() } catch (error) { trouble.hidden = false; trouble.textContent = error.message }
  }
  outcome.onchange = () => doing(() => onMend({ point: "outcome", text: outcome.value }))
  code.onchange = () => doing(() => onWrapUp(code.value))
  function editor(point, again) {
    const text = el("textarea", { rows: "2", maxlength: "500", "aria-label": "What it should say" })
    text.value = point.told
    const done = () => { writing = ""; again() }
    const form = el("form", {}, text, el("div", { class: "choices" }, el("button", { class: "main", type: "submit", text: "Save" }), el("button", { class: "plain", type: "button", text: "Cancel", onclick: done })))
    form.onsubmit = (event) => { event.preventDefault(); if (text.value.trim()) doing(() => onMend({ point: point.id, text: text.value }).then(done)) }
    text.onkeydown = (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); form.requestSubmit() } else if (event.key === "Escape") done() }
    setTimeout(() => text.focus())
    return form
  }
  function line(call, point, again) {
    const until = [point.by ? words(call.sideOf(point.by)) : "", point.until].filter(Boolean).join(" · ")
    const name = point.kind === "detail" && point.name ? (/^[a-z_.]+$/.test(point.name) ? words(point.name) : point.name) : ""
    if (writing === point.id) return editor(point, again)
    const text = el("button", { class: "point-text", title: point.sentence ? "Show the sentence" : undefined, onclick: () => point.sentence && onFind(point.sentence) },
      name ? el("span", { class: "soft small", text: `${name} ` }) : null, el("span", { class: point.gone ? "gone" : "", text: point.told }),
      until ? el("span", { class: "soft small", text: ` ${until}` }) : null, point.by_person ? el("span", { class: "pen small", title: `Put right by ${point.by_person}`, text: " ✎" }) : null)
    const tool = (sign, title, onclick) => el("button", { class: "mark", type: "button", text: sign, title, "aria-label": `${title}: ${point.told}`, onclick })
    const tools = point.gone || point.by_person ? [tool("↶", "Put back", () => doing(() => onMend({ point: point.id, withdrawn: true })))]
      : [tool("✎", "Put right", () => { writing = point.id; again() }), tool("✕", "That is wrong", () => doing(() => onMend({ point: point.id, text: "" })))]
    return el("div", { class: "sum-line", "data-point": point.id }, text, point.kind === "mood" ? null : el("span", { class: "sum-tools" }, ...tools))
  }
  function draw(call) {
    const now = call.summary()
    const told = call.about.written_summary?.text ? call.about.written_summary : null
    root.hidden = !now.points.length && !call.about.wrap_up && !told
    const key = JSON.stringify([now, call.about.wrap_up, writing, told])
    if (root.hidden || drawn === key) return
    drawn = key
    const here = now.outcome ? [] : [el("option", { value: "", text: call.live ? "… Going on" : "Not known", disabled: "" })]
    outcome.replaceChildren(...here, ...Object.entries(OUTCOMES).map(([value, text]) => el("option", { value, text })))
    outcome.value = now.outcome
    outcome.title = now.by ? `Said by ${now.by}` : ""
    code.value = call.about.wrap_up || ""
    written.hidden = !told
    if (told) { say(author, `Written by ${told.model}, not checked`); say(prose, told.text) } // as text: others' words
    list.replaceChildren(...KINDS.flatMap(([kind, title]) => {
      const points = now.points.filter((point) => point.kind === kind)
      return points.length ? [el("div", { class: `sum ${kind}` }, title ? el("b", { class: "small soft", text: title }) : null, ...points.map((point) => line(call, point, () => draw(call))))] : []
    }))
  }
  return { root, draw }
}

/** The scorecard of a call that is over: what rules and intents found, each with its sentence, for a person to confirm. */
export function scorecard({ canConfirm, onConfirm, onFind }) {
  const sum = el("p", { class: "small soft" }), list = el("div", { class: "list" }), trouble = el("p", { class: "small trouble", role: "alert", hidden: "" })
  const all = el("button", { class: "main", hidden: "" })
  const root = card("Scorecard", sum, list, all, trouble)
  root.classList.add("scorecard")
  async function confirm(points) {
    trouble.hidden = true
    try { await onConfirm(points) } catch (error) { trouble.hidden = false; trouble.textContent = error.message }
  }
  function answers(point, value) {
    return el("div", { class: "answers", role: "group", "aria-label": point.asks }, ...ANSWERS.map(([name, sign, title]) => el("button", {
      type: "button", title, "aria-label": title, "aria-pressed": String(Boolean(point.confirmed) && value === name),
      class: value === name ? (point.confirmed ? "said" : "proposed") : "", text: sign, onclick: () => confirm({ [point.point]: name }),
    })))
  }
  return {
    root,
    draw(call) {
      root.hidden = call.live || !call.scorecard.length
      if (root.hidden) return
      const open = call.scorecard.filter((point) => !point.confirmed), due = call.scorecard.filter(({ confirmed }) => confirmed && confirmed.value !== "not_due")
      const met = due.filter(({ confirmed }) => confirmed.value === "yes").length
      say(sum, open.length === call.scorecard.length ? "Found by rules. It counts nowhere until a person confirms it."
        : `${met} of ${due.length} done${open.length ? ` · ${open.length} not confirmed, which count nowhere` : ""}`)
      list.replaceChildren(...call.scorecard.map((point) => {
        const value = point.confirmed?.value ?? point.value, [, sign, title] = ANSWERS.find(([name]) => name === value)
        const proof = call.sentences.get(point.sentence)
        const by = !point.confirmed ? `${title}, not confirmed`
          : `${title}, ${point.confirmed.value === point.value ? "confirmed" : "mended"} by ${call.names.get(point.confirmed.author) || point.confirmed.author || "someone"}, ${daytime(point.confirmed.at)}`
        return el("div", { class: `point ${value}${point.confirmed ? "" : " open"}`, "data-point": point.point },
          el("div", { class: "line" }, canConfirm ? null : el("b", { text: sign, title }), el("span", { text: point.asks || words(point.point) }), canConfirm ? answers(point, value) : null),
          proof ? el("button", { class: "quote small", title: `At ${call.when(point.at_ms)}`, text: `${point.value === "no" ? "After: " : ""}“${call.shown(proof).text}”`, onclick: () => onFind(proof.sentence) }) : null,
          el("div", { class: "small soft", text: by }))
      }))
      all.hidden = !canConfirm || !open.length
      say(all, open.length === call.scorecard.length ? "Confirm all" : `Confirm the other ${open.length}`)
      all.onclick = () => confirm(Object.fromEntries(open.map(({ point, value }) => [point, value])))
    },
  }
}

const BASES = { "task and mood": "calls about the same, whose callers began in the same mood", task: "calls about the same", mood: "calls whose callers began in the same mood", "all calls": "all calls" }
const FITS = 6

/** Who fits a call that waits for a person, or that wants somebody else: a suggestion, asked for when it is wanted. */
export function fits({ onAsk }) {
  const about = el("p", { class: "small soft" }), list = el("div", { class: "list" }), ask = el("button", { class: "plain", text: "Who fits?" })
  const root = card("Who fits", about, list, ask)
  root.classList.add("fits")
  const percent = (share) => `${Math.round(share * 100)} %`
  ask.onclick = async () => {
    ask.disabled = true
    try { shown(await onAsk()) } catch (error) { say(about, error.message) }
    ask.disabled = false
    say(ask, "Ask again")
  }
  function shown({ wanted, basis, calls, share, agents }) {
    const what = [wanted.task && words(wanted.task), wanted.unhappy ? "unhappy" : "not unhappy"].filter(Boolean).join(", ")
    say(about, agents.length ? `${what}. Share of ${BASES[basis]} that went well, with 95 % intervals; with everybody ${share === null ? "none yet" : `${percent(share)} of ${calls}`}. A suggestion: you decide.`
      : "Nobody is known to be free: no agent without a call has had one in the last four hours.")
    list.replaceChildren(...agents.slice(0, FITS).map((one) => el("div", { class: "fit", "data-agent": one.agent },
      el("div", { class: "line" }, el("b", { text: one.name }), el("span", { class: "small soft", text: one.calls ? `${one.calls} ${one.calls === 1 ? "call" : "calls"}` : "no such call yet" }), el("span", { class: "gap" }), el("span", { text: one.own === null ? "–" : percent(one.own) })),
      el("div", { class: "reach", role: "img", "aria-label": one.interval ? `between ${percent(one.interval.low)} and ${percent(one.interval.high)}` : "too few calls" },
        one.interval ? el("i", { style: `left:${one.interval.low * 100}%;right:${100 - one.interval.high * 100}%` }) : null,
        one.own === null ? null : el("b", { style: `left:${one.own * 100}%` })))))
  }
  return { root, draw(call, waiting) { root.hidden = !call.live || !(waiting || [...call.alerts.values()].some(({ escalation }) => escalation)) } }
}

/** Notes from a manager. Managers write them; the agent on the call acknowledges them. */
export function notes({ canWrite, canAcknowledge, onWrite, onAcknowledge, onFind }) {
  const list = el("div", { class: "list" }), pinned = el("div", { class: "pin small", hidden: "" }), trouble = el("p", { class: "small trouble", hidden: "" })
  const text = el("textarea", { rows: "2", maxlength: "2000", placeholder: "A note to the agent, seen at once", "aria-label": "Note to the agent" })
  const form = canWrite ? el("form", {}, pinned, text, el("button", { class: "main", type: "submit", text: "Send" }), trouble) : el("div", {})
  const root = card("Notes", list, form)
  let pin = null
  function pinTo(sentence) {
    pin = sentence
    pinned.hidden = !sentence
    pinned.replaceChildren(...(sentence ? [el("span", { text: `On: “${sentence.text}”` }), el("button", { class: "mark", type: "button", text: "✕", "aria-label": "Not on this sentence", onclick: () => pinTo(null) })] : []))
    if (sentence) text.focus()
  }
  if (canWrite) {
    form.onsubmit = async (event) => {
      event.preventDefault()
      if (!text.value.trim()) return
      trouble.hidden = true
      try { await onWrite(text.value, pin?.sentence || ""); text.value = ""; pinTo(null) }
      catch (error) { trouble.hidden = false; trouble.textContent = error.message }
    }
    text.onkeydown = (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); form.requestSubmit() } }
  }
  return {
    root, pinTo,
    draw(call) {
      root.hidden = !canWrite && call.notes.size === 0
      list.replaceChildren(...[...call.notes.values()].sort((a, b) => a.at - b.at).map((note) => {
        const on = call.sentences.get(note.sentence)
        const seen = note.acknowledged_at ? el("span", { class: "small soft", text: `✓ read by ${note.acknowledged_by}, ${daytime(note.acknowledged_at)}` })
          : canAcknowledge ? el("button", { class: "main", text: "Got it", onclick: () => onAcknowledge(note.note) }) : el("span", { class: "small soft", text: "not read yet" })
        return el("div", { class: `note${note.acknowledged_at ? "" : " fresh"}`, "data-note": note.note },
          el("div", { class: "small soft", text: `${note.author}, ${daytime(note.at)}` }),
          on ? el("button", { class: "quote small", text: `“${call.shown(on).text}”`, onclick: () => onFind(on.sentence) }) : null,
          el("p", { text: note.text, dir: "auto" }), seen)
      }))
    },
  }
}
