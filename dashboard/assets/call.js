// The Call page: one conversation with everything known about it, while it happens and afterwards.
import { act, clock, el, everyFrame, feelFrom, loading, nameOf, placeOf, say } from "./dom.js"
import { alerts, figures, fits, moods, notes, scorecard, summary, wanted } from "./aside.js"
import { CallState } from "./call_state.js"
import { conversation } from "./conversation.js"
import { listen } from "./feed.js"
import { listenIn } from "./listen_in.js"
import { player } from "./player.js"
import { takeover, waits } from "./takeover.js"

const LOOK_MS = [1500, 3000, 6000, 12000, 30000, 60000] // when it is looked whether the recording has been written
const STATES = { ringing: "Ringing", live: "Live", ended: "Ended", analysed: "Over", failed: "Failed" }

export default function (component) {
  let current = component, call = null, sound = null, away = false, looks = 0, looking = 0
  const data = component.data
  feelFrom(data.felt)
  const from = cameFrom(data.pages)
  const manages = data.role === "manager" || data.role === "administrator"

  const title = el("h1", {}), state = el("span", { class: "chip state", hidden: "" }), about = el("span", { class: "soft small" }), time = el("span", { class: "time" })
  const status = el("span", { class: "status away", hidden: "" }, el("i"), el("span", { text: "reconnecting …" }))
  const swap = el("button", { class: "plain", text: "⇄ Swap sides", title: "Caller and agent are the wrong way round", hidden: "" })
  const trip = el("details", { class: "download", hidden: "" }, el("summary", { class: "plain", text: "⤓ Download" }))
  const files = [["Transcript", "export?form=txt"], ["vCon", "export?form=vcon&audio=true"], ["Recording", "recording"]]
    .map(([name, path]) => el("button", { class: "plain", type: "button", text: name, onclick: () => { trip.open = false; doing(() => download(path)) } }))
  const erase = data.role === "administrator" ? el("button", { class: "plain erase", type: "button", text: "Erase …" }) : null
  trip.append(el("div", { class: "menu" }, ...files, erase))
  if (erase) erase.onclick = () => {
    trip.open = false
    if (window.confirm("Erase this call for good? Its words, its recording and its copies in the archive go. There is no way back.")) {
      doing(async () => { await fetched("erase", "POST"); feed?.close(); main.hidden = state.hidden = trip.hidden = true; nothing.hidden = false })
    }
  }
  async function fetched(path, method = "GET") {
    const answer = await fetch(`/api/v1/calls/${encodeURIComponent(data.call)}/${path}`, { method, headers: { Authorization: `Bearer ${current.data.token}` } })
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail || `that did not work (${answer.status})`)
    return answer
  }
  async function download(path) {
    const answer = await fetched(path), type = answer.headers.get("Content-Type") || ""
    const named = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") || "")?.[1]
    const link = el("a", { href: URL.createObjectURL(await answer.blob()), download: named || `recording.${type.includes("ogg") ? "opus" : "flac"}` })
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60000)
  }
  const back = el("button", { class: "plain", text: `← ${from || "Live"}`, hidden: data.role === "agent" && !from ? "" : undefined })
  back.onclick = () => {
    if (from) window.location.assign(document.referrer)
    else current.setTriggerValue("back", `?${(sessionStorage.getItem("tenor.live.filters") || "").slice(1)}`)
  }
  const missing = el("p", { class: "trouble", role: "status", hidden: "" })
  const failure = el("p", { class: "trouble", role: "alert", hidden: "" }), hint = el("p", { class: "trouble", role: "alert", hidden: "" })
  const sounds = el("div", {}), ear = data.listen ? listenIn({ call: data.call, token: () => current.data.token, offset: () => call?.offset || 0 }) : null
  const nothing = el("div", { class: "nothing", hidden: "" }, el("h3", { text: "There is no such call" }), el("p", { text: "It may have been erased, or it is not yours to see." }))

  const said = conversation({
    onPlay: (ms) => sound?.from(ms),
    onCorrect: (sentence, kind, value, seconds) => doing(() => act(current.data.token, "correct", { sentence, kind, value, seconds: seconds ?? null }).then(on.label)),
    onPin: (sentence) => noted.pinTo(sentence), canPin: manages, intents: data.intents, sentiments: data.sentiments,
  })
  const find = (sentence) => said.find(sentence)
  const seek = (ms) => { const sentence = call?.at(ms); if (sentence) find(sentence.sentence); if (call?.recorded) sound?.from(ms) }
  const mood = moods({ onSeek: seek }), numbers = figures(), task = wanted(data.tasks), alarm = alerts({ onFind: (alert) => (alert.sentence ? find(alert.sentence) : seek(alert.at_ms)) })
  const sum = summary({
    codes: data.codes, onFind: find,
    onMend: (said) => act(current.data.token, "mend", { call: data.call, ...said }).then(on.mended),
    onWrapUp: (code) => act(current.data.token, "wrap-up", { call: data.call, code }).then(on.wrap_up),
  })
  const suited = manages || data.role === "analyst" ? fits({ onAsk: () => act(current.data.token, "fits", { call: data.call }) }) : null
  const points = scorecard({
    canConfirm: manages, onFind: find,
    onConfirm: async (points) => {
      const answer = await act(current.data.token, "score", { call: data.call, points })
      call.scorecard = answer.scorecard
      aside()
    },
  })
  const noted = notes({
    canWrite: manages, canAcknowledge: data.role === "agent", onFind: find,
    onWrite: (text, sentence) => act(current.data.token, "note", { call: data.call, text, sentence }),
    onAcknowledge: (note) => doing(() => act(current.data.token, "acknowledge", { call: data.call, note })),
  })
  const person = takeover({ name: data.name, role: data.role, token: () => current.data.token })
  const main = el("div", { class: "columns", hidden: "" }, el("div", { class: "talk-side" }, person.banner, ear ? ear.root : "", sounds, said.root, person.composer),
    el("aside", {}, noted.root, suited ? suited.root : "", sum.root, mood.root, task.root, alarm.root, points.root, numbers.root))
  const wait = loading("talk", 6)
  const root = el("div", { class: "call" }, el("header", {}, back, title, state, time, about, el("span", { class: "gap" }), status, swap, trip), missing, failure, hint, wait, main, nothing)
  component.parentElement.append(root)

  async function doing(work) {
    hint.hidden = true
    try { await work() } catch (error) { hint.hidden = false; hint.textContent = error.message }
  }
  swap.onclick = () => doing(() => act(current.data.token, "swap", { call: data.call }).then(on.swap))

  function head() {
    const [agent, customer] = [call.about.agent, call.about.customer].map((one) => call.names.get(one) || one)
    say(title, agent && customer ? `${agent} with ${customer}` : agent || customer || nameOf(call.about) || data.call)
    say(state, call.live ? "● Live" : STATES[call.about.state] || call.about.state)
    state.classList.toggle("on", call.live)
    const here = call.here()
    say(about, [placeOf(call.about), call.live && here.count ? `${here.within(0.5)} s behind speech` : ""].filter(Boolean).join(" · "))
    failure.hidden = call.about.state !== "failed"
    say(failure, `This call failed: ${call.about.reason || "no reason was given"}`)
    status.hidden = !away
    ear?.shown(call.about.state === "live" && call.about.medium === "voice")
    trip.hidden = data.role === "agent"
    files[2].hidden = !call.recorded
    swap.hidden = data.role === "agent" || call.about.roles.length < 2 || Boolean(call.about.attributes?.assistant)
    tick()
  }
  function tick() {
    person.tick()
    if (!call || call.about.medium !== "voice") return
    say(time, clock(call.live ? (Date.now() / 1000 + call.offset - call.about.started_at) * 1000 : call.about.duration_ms))
  }
  const aside = everyFrame(() => {
    if (!call) return
    head()
    person.draw(call)
    mood.draw(call)
    sum.draw(call)
    numbers.draw(call)
    task.draw(call)
    alarm.draw(call)
    points.draw(call)
    suited?.draw(call, waits(call.about.handover))
    noted.draw(call)
  })
  function recording() {
    if (sound) return
    if (!call.recorded) { lookForRecording(); return }
    sound = player({
      address: data.audio,
      onTime(at) { mood.play(at); said.playing(at === null ? null : call.at(at)?.sentence ?? null) },
    })
    sound.length(call.about.duration_ms)
    sounds.replaceChildren(sound.root)
  }

  const on = {
    status(now) { caughtUp = false; away = now !== "live"; status.hidden = !away },
    stale() { current.setTriggerValue("stale", Date.now()) },
    now() { caughtUp = true },
    trouble({ reason }) { missing.hidden = false; missing.textContent = reason; wait.hidden = true },
    snapshot(snapshot) {
      caughtUp = false
      missing.hidden = true
      if (snapshot.call) { show(new CallState(snapshot)); return }
      call = null
      wait.hidden = main.hidden = state.hidden = true
      nothing.hidden = false
    },
    sentence(sentence) {
      if (!call?.hear(sentence)) return
      if (caughtUp && call.live && sentence.times?.captured) sentence.late_s = Date.now() / 1000 + call.offset - sentence.times.captured
      said.put(sentence)
      said.interim()
      aside()
    },
    transcript(one) { if (call?.live) { call.transcript(one); said.interim() } },
    state(event) {
      if (!call && event.info) { // not in the database yet, or nobody can ask it
        show(CallState.begun(event))
        if (missing.hidden) setTimeout(again, LOOK_MS[0])
        return
      }
      if (!call) { again(); return }
      const was = call.live
      call.state(event)
      if (was !== call.live) { looks = 0; said.interim() }
      recording()
      aside()
    },
    metrics(event) { call?.metrics(event); aside() },
    written(event) { call?.written(event); aside() },
    alert(alert) { call?.alerts.set(alert.alert, alert); aside() },
    note(note) { if (call) { call.note(note); said.refill(note.sentence); aside() } },
    mended(event) { call?.mended(event); aside() },
    wrap_up({ code }) { if (call) { call.about.wrap_up = code; aside() } },
    ack(event) { call?.acknowledge(event); aside() },
    label(label) { if (call) { call.label(label); said.refill(label.sentence); aside() } },
    turn(turn) { if (call) { call.exchange(turn); for (const one of turn.cause) said.refill(one); aside() } },
    handover(event) {
      if (call) { call.handOver(event); aside() } else setTimeout(again, LOOK_MS[0]) // the database does not have it yet
    },
    swap(turned) { if (call?.turn(turned)) { said.refillAll(); aside() } },
  }

  function show(next) {
    const before = call
    call = next
    if (before) call.keep(before)
    wait.hidden = nothing.hidden = true
    main.hidden = state.hidden = false
    head()
    recording()
    said.show(call)
    aside()
    if (data.sentence && !before) setTimeout(() => find(data.sentence), 150)
  }
  /** A recording is written some time after its call is over, and nobody tells: looked for less and less often. */
  function lookForRecording() {
    const { state, medium, record, ended_at, state_at } = call.about
    const age = Date.now() / 1000 + call.offset - (ended_at || state_at || 0)
    if (looking || state !== "analysed" || medium !== "voice" || record === false || looks >= LOOK_MS.length || age > 300) return
    looking = setTimeout(() => { looking = 0; again() }, LOOK_MS[looks++])
  }

  let feed = null, caughtUp = false
  function again() {
    feed?.close()
    feed = listen({ token: current.data.token, call: data.call, on })
  }
  again()
  const seconds = setInterval(tick, 1000)
  return {
    update(next) {
      current = next
      feed.renew(next.data.token)
    },
    leave() { feed.close(); clearInterval(seconds); clearTimeout(looking); sound?.leave(); ear?.leave(); root.remove() },
  }
}

/** What the page is called whose link led here; undefined when none did: Live goes from page to page without one. */
function cameFrom(pages) {
  const byLink = performance.getEntriesByType("navigation")[0]?.name === window.location.href
  const before = byLink && document.referrer ? new URL(document.referrer) : null
  return before?.origin === window.location.origin ? pages[before.pathname.slice(1)] : undefined
}
