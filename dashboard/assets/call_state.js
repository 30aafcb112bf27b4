// What is known of one call, from the snapshot and from everything after it. Hearing something twice changes nothing.
import { delays } from "./delays.js"
import { clock, daytime, sideOf } from "./dom.js"

const SLACK_MS = 100
const RANK = ["ringing", "live", "ended", "analysed", "failed"] // a call never goes back in this order,
const AUDIO_STOPPED = "audio stopped" // but from here, when there is more audio after all
const LATEST_S = 60 // what was understood later than this was not followed live
const NOW = new Set(["ringing", "live"])

/** What a state says of its call. Where it names no agent, a person may have taken it from the assistant. */
export const described = (info, { agent = "" } = {}) => (info ? { ...info, agent: info.agent || agent } : {})

export class CallState {
  constructor(snapshot) {
    this.about = snapshot.call
    this.offset = snapshot.at - Date.now() / 1000
    this.sentences = new Map(snapshot.sentences.map((sentence) => [sentence.sentence, sentence]))
    this.alerts = new Map(snapshot.alerts.map((alert) => [alert.alert, alert]))
    this.notes = new Map(snapshot.notes.map((note) => [note.note, note]))
    this.labels = new Map(Object.entries(snapshot.effective || {}))
    this.names = new Map(Object.entries(snapshot.names || {}))
    this.turns = new Map((snapshot.turns || []).map((turn) => [turn.turn, turn]))
    this.scorecard = snapshot.scorecard || []
    this.about.handover ??= {}
    this.interims = new Map()
    this.heard = new Map()
    for (const sentence of snapshot.sentences) this.reach(sentence)
  }

  /** From the bus alone, when the database does not have it or is away. */
  static begun({ call, state, at, info }) {
    return new CallState({ at: Date.now() / 1000, call: { ...info, id: call, state, state_at: at, metrics: {} }, sentences: [], alerts: [], notes: [] })
  }

  /** What was heard here before and the snapshot does not know of yet. */
  keep(before) {
    this.interims = before.interims
    for (const held of before.sentences.values()) {
      const known = this.sentences.get(held.sentence)
      if (!known || known.revision < held.revision) this.sentences.set(held.sentence, held)
      else known.late_s = held.late_s
      this.reach(held)
    }
    for (const [point, held] of Object.entries(before.about.mended || {})) this.mended({ ...held, point, author: held.by })
    if ((before.about.handover.since || 0) > (this.about.handover.since || 0)) this.about.handover = before.about.handover
    for (const kind of ["alerts", "notes", "turns"]) for (const [id, held] of before[kind]) if (!this[kind].has(id)) this[kind].set(id, held)
  }

  get live() { return NOW.has(this.about.state) }
  get recorded() { return this.about.recorded }

  ordered() { return [...this.sentences.values()].sort((a, b) => a.start_ms - b.start_ms || a.channel - b.channel) }

  /** {side: [[position, mood]]}, with people's word on who spoke. */
  moods() {
    const sides = {}
    for (const sentence of this.ordered()) {
      ;(sides[this.shown(sentence).side] ??= []).push([sentence.start_ms, sentence.mood])
    }
    return sides
  }

  /** {kind: label}: of each kind the one that counts, as the server says. */
  labelsOf(sentence) { return this.labels.get(sentence) || {} }

  /** A sentence as people left it. */
  shown(sentence) {
    const { role, text, sentiment, intent } = this.labelsOf(sentence.sentence)
    return {
      side: role?.value ?? this.sideOf(sentence.role), text: text?.value ?? sentence.text,
      sentiment: sentiment?.value ?? sentence.sentiment, intent: intent?.value ?? sentence.intent,
    }
  }

  /** A figure by name; one of a side is that of whom people say it is. */
  figure(name) {
    const [what, role] = name.split(".")
    return (this.about.metrics || {})[role ? `${what}.${this.sideOf(role)}` : what]
  }

  /** A position for people: minutes and seconds of what is spoken, the time of day of what is written. */
  when(ms) { return this.about.medium === "voice" ? clock(ms) : daytime(this.about.started_at + ms / 1000) }

  /** How soon after the words the sentences were on the page, or, of a call that nobody watched, ready for it. */
  late() {
    const here = this.here(), kept = delays()
    for (const { times } of this.ordered()) if (times?.captured && times.sentence_published) kept.add(times.sentence_published - times.captured)
    const told = here.count ? here : kept
    if (!told.count || told.within(0.5) > LATEST_S) return ""
    return `${here.count ? "On this page" : "Ready"} ${told.within(0.5)} s after the words, 95 % within ${told.within(0.95)} s`
  }

  here() {
    const here = delays()
    for (const { late_s } of this.ordered()) if (late_s !== undefined) here.add(late_s)
    return here
  }

  /** Of a conversation with the assistant: the last turn, the one that called for a person, and the one of a sentence. */
  lastTurn() { return this.turns.get(Math.max(...this.turns.keys())) }
  askedTurn() { return [...this.turns.values()].filter(({ handover }) => handover?.queue).sort((a, b) => b.turn - a.turn)[0] }
  turnOf({ sentence }) { return [...this.turns.values()].find(({ cause }) => cause.includes(sentence)) }

  exchange(turn) { if (!this.turns.has(turn.turn)) this.turns.set(turn.turn, turn) }

  /** Who has the conversation now. */
  handOver({ call: _, ...handover }) {
    this.about.handover = handover
    if (handover.agent) this.about.agent = handover.agent
  }

  notesOf(sentence) { return [...this.notes.values()].filter((note) => note.sentence === sentence) }

  label({ sentence, effective }) { this.labels.set(sentence, effective) }

  sideOf(role) { return sideOf(role, this.about.sides) }

  /** Whether anything is new about who is who. */
  turn({ swapped, sides }) {
    if (this.about.swapped === swapped) return false
    Object.assign(this.about, { swapped, sides })
    return true
  }

  reach({ channel, end_ms }) { this.heard.set(channel, Math.max(this.heard.get(channel) || 0, end_ms)) }

  /** False when a later revision is known already. */
  hear(sentence) {
    const known = this.sentences.get(sentence.sentence)
    this.interims.delete(sentence.channel)
    this.reach(sentence)
    if (known && known.revision >= sentence.revision) return false
    this.sentences.set(sentence.sentence, sentence)
    this.about.duration_ms = Math.max(this.about.duration_ms || 0, sentence.end_ms)
    return true
  }

  transcript(said) {
    this.interims.delete(said.channel)
    // Topics are read side by side: what comes of an utterance may come after the sentence it became.
    const told = this.sentences.has(said.utterance) || said.start_ms + SLACK_MS < (this.heard.get(said.channel) || 0)
    if (said.text && !told) this.interims.set(said.channel, said)
  }

  note(note) { if (!this.notes.has(note.note)) this.notes.set(note.note, { ...note }) }

  acknowledge({ note, by, at }) {
    const known = this.notes.get(note)
    if (known && !known.acknowledged_at) { known.acknowledged_by = by; known.acknowledged_at = at }
  }

  state({ state, at, reason, info }) {
    const more = state === "live" && !this.live && this.about.reason === AUDIO_STOPPED && at > (this.about.state_at || 0)
    if (!more && RANK.indexOf(state) < RANK.indexOf(this.about.state)) return
    Object.assign(this.about, described(info, this.about), { state, state_at: at, reason: more ? reason : reason || this.about.reason })
    if (!this.live) this.interims.clear()
  }

  /** The points of the summary as people left them; one that was struck out says so. */
  summary() {
    const { headline, outcome, points } = this.about.summary || {}, said = (id) => { const one = this.about.mended?.[id]; return one && !one.withdrawn ? one : null }
    return {
      headline, outcome: said("outcome")?.text ?? outcome ?? "", by: said("outcome")?.by,
      points: (points || []).map((point) => ({ ...point, told: said(point.id)?.text || point.text, gone: said(point.id)?.text === "", by_person: said(point.id)?.by })),
    }
  }

  mended({ point, text, author, at, withdrawn }) {
    this.about.mended ??= {}
    if (!(this.about.mended[point]?.at >= at)) this.about.mended[point] = { text, by: author, at, withdrawn: Boolean(withdrawn) }
  }

  written({ text, model, at }) {
    this.about.written_summary = { text, model, at }
  }

  metrics({ values, task, task_score, scorecard, summary }) {
    if (summary) this.about.summary = summary
    this.about.metrics = values
    if (scorecard?.length) { // filled in, perhaps anew: what people said of a point stays
      const said = new Map(this.scorecard.map(({ point, confirmed }) => [point, confirmed]))
      this.scorecard = scorecard.map((point) => ({ sentence: "", at_ms: 0, ...point, confirmed: said.get(point.point) ?? null }))
    }
    if (task) Object.assign(this.about, { task, task_score })
  }

  /** The sentence at a position, or the last one before it. */
  at(ms) {
    let found = null
    for (const sentence of this.ordered()) if (sentence.start_ms <= ms + 200) found = sentence
    return found
  }
}
