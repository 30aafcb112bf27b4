// What is known of one call, from the snapshot and from everything after it. Hearing something twice changes nothing.
import { roleOf } from "./dom.js"

const SLACK_MS = 100
const NOW = new Set(["ringing", "live"])

export class CallState {
  constructor(snapshot) {
    this.about = snapshot.call
    this.offset = snapshot.at - Date.now() / 1000
    this.sentences = new Map(snapshot.sentences.map((sentence) => [sentence.sentence, sentence]))
    this.alerts = new Map(snapshot.alerts.map((alert) => [alert.alert, alert]))
    this.notes = new Map(snapshot.notes.map((note) => [note.note, note]))
    this.labels = new Map()
    this.interims = new Map()
    this.heard = new Map()
    for (const sentence of snapshot.sentences) this.reach(sentence)
    for (const label of snapshot.labels) this.label(label)
  }

  get live() { return NOW.has(this.about.state) }
  get recorded() { return this.about.recorded }

  ordered() { return [...this.sentences.values()].sort((a, b) => a.start_ms - b.start_ms || a.channel - b.channel) }

  /** {side: [[position, mood]]}, with people's word on who spoke. */
  moods() {
    const sides = {}
    for (const sentence of this.ordered()) {
      const side = this.labelsOf(sentence.sentence).role?.value ?? roleOf(sentence.role, this.about.swapped)
      ;(sides[side] ??= []).push([sentence.start_ms, sentence.mood])
    }
    return sides
  }

  /** {kind: label}: the newest of each kind. */
  labelsOf(sentence) { return this.labels.get(sentence) || {} }

  notesOf(sentence) { return [...this.notes.values()].filter((note) => note.sentence === sentence) }

  label(label) {
    const held = this.labels.get(label.sentence) || {}
    if (!held[label.kind] || held[label.kind].at <= label.at) held[label.kind] = label
    this.labels.set(label.sentence, held)
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
    const told = said.start_ms + SLACK_MS < (this.heard.get(said.channel) || 0)
    if (said.text && !told) this.interims.set(said.channel, said)
  }

  note(note) { if (!this.notes.has(note.note)) this.notes.set(note.note, { ...note }) }

  acknowledge({ note, by, at }) {
    const known = this.notes.get(note)
    if (known && !known.acknowledged_at) { known.acknowledged_by = by; known.acknowledged_at = at }
  }

  state({ state, reason, info }) {
    const order = ["ringing", "live", "ended", "analysed", "failed"]
    if (order.indexOf(state) < order.indexOf(this.about.state)) return
    Object.assign(this.about, info || {}, { state, reason: reason || this.about.reason })
    if (!this.live) this.interims.clear()
  }

  metrics({ values, task, task_score }) {
    this.about.metrics = values
    if (task) Object.assign(this.about, { task, task_score })
  }

  /** The sentence at a position, or the last one before it. */
  at(ms) {
    let found = null
    for (const sentence of this.ordered()) if (sentence.start_ms <= ms + 200) found = sentence
    return found
  }
}
