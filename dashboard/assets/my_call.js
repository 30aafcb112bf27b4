// My call: the call at hand, to be read at a glance. Turns to the newest call by itself.
import { HANDOVER, act, clock, el, everyFrame, feelFrom, loading, moodClass, moodText, placeOf, say, shape, words } from "./dom.js"
import { alerts, card, moods, notes, summary, wanted } from "./aside.js"
import { CallState } from "./call_state.js"
import { now as moodNow } from "./curve.js"
import { listen } from "./feed.js"
import { onTelephone, reasonOf, sinceOf, takeover, waits } from "./takeover.js"

const LINES = 6
const ASKED = 20 // sentences the next steps are chosen by
const ASK_MS = 700
const AT_ONCE_MS = 700, SOON_MS = 5000 // when a call is asked for again that was not in the database yet
const FEELINGS = { negative: "Unhappy", neutral: "Calm", positive: "Happy" }

export default function (component) {
  let current = component, call = null, id = "", started = 0, one = null, known = false, offset = 0
  const data = component.data
  feelFrom(data.felt)
  const status = el("span", { class: "status away", hidden: "" }, el("i"), el("span", { text: "reconnecting …" }))
  const who = el("h1", {}), about = el("span", { class: "soft" }), time = el("span", { class: "time" })
  const feeling = el("div", { class: "feeling neutral" }, el("span", { class: "sign" }), el("div", {}, el("b", {}), el("span", { class: "small soft" })))
  const steps = el("ol", { class: "steps" }), stepCard = card("Next steps", steps)
  const lines = el("div", { class: "lines" }), lineCard = card("Said last", lines)
  const trouble = el("p", { class: "trouble", role: "alert", hidden: "" })
  const mood = moods({ onSeek() {} }), task = wanted(data.tasks), alarm = alerts({ onFind() {} })
  const noted = notes({
    canWrite: false, canAcknowledge: true, onFind() {},
    onAcknowledge: (note) => act(current.data.token, "acknowledge", { call: id, note }).catch((error) => { trouble.hidden = false; trouble.textContent = error.message }),
  })
  const sum = summary({
    codes: data.codes, onFind() {},
    onMend: (said) => act(current.data.token, "mend", { call: id, ...said }).then((event) => { call?.mended(event); draw() }),
    onWrapUp: (code) => act(current.data.token, "wrap-up", { call: id, code }).then(() => { if (call) call.about.wrap_up = code; draw() }),
  })
  const person = takeover({ name: data.name, role: data.role, token: () => current.data.token })
  const waiting = new Map() // calls of the assistant that wait for any of us
  const queue = el("div", { class: "waiting-list", role: "list", "aria-label": "Waiting for a person" })
  const whole = el("a", { class: "plain-link small", text: "Whole conversation →", target: "_self" })
  whole.onclick = (event) => { if (!event.metaKey && !event.ctrlKey) { event.preventDefault(); current.setTriggerValue("open", id) } }
  const wait = loading("hand", 4), missing = el("p", { class: "trouble", role: "status", hidden: "" })
  const nothing = el("div", { class: "nothing", hidden: "" }, el("h3", { text: "No call right now" }), el("p", { text: "Your next call shows here by itself." }))
  const main = el("div", { class: "at-hand", hidden: "" },
    el("header", {}, el("div", { class: "title" }, who, el("div", { class: "under" }, time, about, status)), feeling), trouble, person.banner, noted.root,
    el("div", { class: "columns" }, el("div", { class: "column" }, sum.root, task.root, stepCard, alarm.root), el("div", { class: "column" }, mood.root, lineCard, person.composer, whole)))
  const root = el("div", { class: "my-call" }, missing, queue, wait, nothing, main)
  component.parentElement.append(root)

  const draw = everyFrame(() => {
    wait.hidden = Boolean(call) || (known && !id)
    nothing.hidden = Boolean(call) || !known || Boolean(id)
    main.hidden = !call
    if (!call) return
    const customer = call.names.get(call.about.customer) || call.about.customer
    const spoken = call.about.medium === "voice"
    const state = call.live ? (spoken ? "On the line" : "In conversation") : spoken ? "Last call" : "Last conversation"
    say(who, customer ? `${state}: ${customer}` : state)
    say(about, placeOf(call.about))
    const value = moodNow(call.moods().caller || []), kind = value === null ? "neutral" : moodClass(value)
    feeling.className = `feeling ${kind}`
    say(feeling.firstChild, shape(kind))
    say(feeling.lastChild.firstChild, value === null ? "Listening" : FEELINGS[kind])
    say(feeling.lastChild.lastChild, value === null ? "the caller has not spoken yet" : `caller's mood ${moodText(value)}`)
    person.draw(call)
    mood.draw(call)
    sum.draw(call)
    task.draw(call)
    alarm.draw(call)
    noted.draw(call)
    whole.href = `/call?call=${encodeURIComponent(id)}`
    const last = call.ordered().slice(-LINES)
    const interims = call.live ? [...call.interims.values()] : []
    lineCard.hidden = !last.length && !interims.length
    lines.replaceChildren(
      ...last.map((said) => call.shown(said)).map(({ side, text, sentiment }) => line(side, text, sentiment)),
      ...interims.map((said) => line(call.sideOf(said.role), said.text, "interim")))
    tick()
  })
  const line = (side, text, kind) => el("p", { class: kind, dir: "auto" }, el("span", { class: "small soft", text: `${words(side)} ${kind === "interim" ? "" : shape(kind)} ` }), text)

  /** Conversations that nobody has: the longest wait first. */
  function waitingLine(about) {
    const time = el("span", { class: "time" }), trouble = el("p", { class: "trouble", role: "alert", hidden: "" })
    const take = el("button", { class: "main", text: "Take the call" })
    take.onclick = async () => {
      take.disabled = true
      try { taken(await act(current.data.token, "take", { call: about.id }), about.id) }
      catch (error) { take.disabled = false; trouble.hidden = false; trouble.textContent = error.message }
    }
    const written = !onTelephone(about)
    const root = el("section", { class: "card handover waits", role: "listitem", "data-call": about.id },
      el("div", { class: "line" }, el("b", { text: about.handover.state === "missed" ? "Nobody came yet" : "Waits for a person" }), time,
        el("span", { class: "gap" }), written ? take : about.handover.state === "waiting" ? el("span", { class: "soft", text: `in the telephone queue ${about.handover.queue}` }) : null),
      el("p", { text: [reasonOf(about.handover), about.summary].filter(Boolean).join(". ") }), trouble)
    return { root, time }
  }
  function drawQueue() {
    const open = [...waiting.values()].filter(({ handover }) => waits(handover)).sort((a, b) => a.handover.since - b.handover.since)
    const key = JSON.stringify(open.map(({ id, handover, summary }) => [id, handover.state, summary]))
    if (queue.dataset.key !== key) {
      queue.dataset.key = key
      for (const about of open) about.line = waitingLine(about)
      queue.replaceChildren(...open.map(({ line: { root } }) => root))
    }
    queue.hidden = !open.length
    for (const about of open) say(about.line.time, sinceOf(about.handover, offset))
  }
  function taken(handover, id) {
    const about = waiting.get(id)
    waiting.delete(id)
    drawQueue()
    if (handover.agent === data.name) turn(id, about?.started_at ?? Date.now() / 1000, true)
  }

  function tick() {
    drawQueue()
    person.tick()
    if (!call) return
    say(time, call.live ? (call.about.medium === "voice" ? clock((Date.now() / 1000 + call.offset - call.about.started_at) * 1000) : "now") : "Call is over")
  }

  let asking = 0
  function ask() {
    if (asking) return
    asking = setTimeout(async () => {
      asking = 0
      if (!call) return
      const said = call.ordered().map((one) => ({ ...call.shown(one), mood: one.mood })), callers = said.filter((one) => one.side === "caller")
      const intent = callers.map((one) => one.intent).filter((name) => name && name !== "unknown").pop() || ""
      const answer = await fetch("/steps", {
        method: "POST", headers: { Authorization: `Bearer ${current.data.token}`, "Content-Type": "application/json" },
        body: JSON.stringify({
          task: call.about.task || "", intent, mood_caller: moodNow(call.moods().caller || []),
          sentences: said.slice(-ASKED).map(({ side, text, mood: felt }) => ({ role: side, text, mood: felt })),
          alerts: [...call.alerts.values()].sort((a, b) => a.at - b.at).map((alert) => alert.rule),
        }),
      }).catch(() => null)
      if (!answer?.ok) return
      const found = (await answer.json()).steps
      const key = JSON.stringify(found)
      if (steps.dataset.key === key) return
      steps.dataset.key = key
      stepCard.hidden = !found.length
      steps.replaceChildren(...found.map((step) => el("li", {}, el("b", { text: step.text }), el("span", { class: "small soft", text: step.reason }))))
    }, ASK_MS)
  }

  /** Turn to a call: its own feed brings everything about it. */
  function turn(next, at, wanted = false) {
    if (next === id || (at < started && !wanted)) return
    id = next
    started = at
    call = null
    follow()
  }
  function follow() {
    const here = id
    one?.close()
    one = listen({
      token: current.data.token, call: here,
      on: {
        status(now) { status.hidden = now === "live" },
        snapshot(snapshot) {
          if (snapshot.call) show(new CallState(snapshot))
          else setTimeout(() => { if (id === here) follow() }, call ? SOON_MS : AT_ONCE_MS) // the database will have it, with names
        },
        sentence(said) { if (call?.hear(said)) { draw(); ask() } },
        transcript(said) { if (call?.live) { call.transcript(said); draw() } },
        state(event) { if (!call && event.info) show(CallState.begun(event)); else { call?.state(event); draw() } },
        metrics(event) { call?.metrics(event); draw(); ask() },
        written(event) { call?.written(event); draw() },
        alert(alert) { call?.alerts.set(alert.alert, alert); draw(); ask() },
        note(note) { call?.note(note); draw() },
        ack(event) { call?.acknowledge(event); draw() },
        mended(event) { call?.mended(event); draw() },
        wrap_up({ code }) { if (call) { call.about.wrap_up = code; draw() } },
        label(label) { call?.label(label); draw() },
        turn(turn) { call?.exchange(turn); draw() },
        handover(event) { call?.handOver(event); draw() },
        swap(turned) { if (call?.turn(turned)) draw() },
      },
    })
  }
  function show(next) {
    const before = call
    call = next
    if (before) call.keep(before)
    draw()
    ask()
  }
  function heardOf(id, about) {
    waiting.set(id, { id, handover: {}, ...waiting.get(id), ...about })
    drawQueue()
  }
  const mine = listen({
    token: data.token, call: "",
    on: {
      stale() { current.setTriggerValue("stale", Date.now()) },
      trouble({ reason }) { missing.hidden = false; missing.textContent = reason },
      now() { known = true; draw() },
      snapshot({ at, calls }) {
        missing.hidden = true
        offset = at - Date.now() / 1000
        waiting.clear()
        for (const about of calls) if (waits(about.handover)) waiting.set(about.id, { ...about, summary: summaryOf(about.raised) })
        drawQueue()
        const newest = calls.filter((about) => about.agent === data.name).sort((a, b) => b.started_at - a.started_at)[0]
        if (newest) turn(newest.id, newest.started_at)
      },
      state({ call: next, state, info }) {
        if (state === "live" && info?.agent === data.name) turn(next, info.started_at)
        if (state === "live" && info?.attributes?.assistant) heardOf(next, { medium: info.medium, source: info.source, started_at: info.started_at })
        if (state !== "live" && state !== "ringing") { waiting.delete(next); drawQueue() }
      },
      turn({ call: next, handover }) { if (handover?.queue) heardOf(next, { summary: handover.summary }) },
      handover({ call: next, ...handover }) {
        if (handover.state === "taken") taken(handover, next)
        else if (waits(handover)) heardOf(next, { handover })
        else { waiting.delete(next); drawQueue() }
      },
    },
  })
  const seconds = setInterval(tick, 1000)
  return {
    update(next) { current = next; mine.renew(next.data.token); one?.renew(next.data.token) },
    leave() { id = ""; mine.close(); one?.close(); clearInterval(seconds); root.remove() },
  }
}

/** What the assistant told whoever takes the call. */
const summaryOf = (raised) => raised.filter(({ rule }) => rule === HANDOVER).pop()?.text || ""
