// The Live page: every call of now as a tile, worst first.
import { HANDOVER, clock, el, everyFrame, feelFrom, loading, moodClass, moodText, nameOf, placeOf, ruleName, say, shape, sideOf, turned, words } from "./dom.js"
import { described } from "./call_state.js"
import { curve, now as moodNow } from "./curve.js"
import { delays } from "./delays.js"
import { listen } from "./feed.js"
import { reasonOf, sinceOf, waits } from "./takeover.js"

const WINDOW_MS = 180000 // how far a tile's line looks back
const POINTS = 60
const SORT_MS = 2500
const GONE_MS = 8000 // how long a call that ended stays
const PLACE = "tenor.live.scroll", FILTERS = "tenor.live.filters"
const FITS = 64 // letters on the two lines of a tile, about
const CALM_MS = 3000, SUDDEN = 0.2 // a call finds its place when its mood has rested so long, or has leapt so far
const SAME_CLOCK_S = 1
const SLACK_MS = 100
const SEVERITY = { info: 0.1, warning: 0.5, critical: 1.5 }

export default function (component) {
  const calls = new Map()
  const changed = new Set()
  const fresh = [], late = delays()
  feelFrom(component.data.felt)
  let current = component, known = false, offset = 0, caughtUp = false, names = new Map()

  const count = el("span", { class: "soft" }), status = el("span", { class: "status" }, el("i"), el("span", { text: "connecting" }))
  const site = el("select", { "aria-label": "Site" }), queue = el("select", { "aria-label": "Queue" })
  const only = el("button", { class: "plain toggle", text: "With alerts", "aria-pressed": "false" })
  const grid = el("div", { class: "grid", role: "list" })
  const empty = el("div", { class: "nothing", hidden: "" })
  const missing = el("p", { class: "trouble", role: "status", hidden: "" }), wait = loading("grid", 6)
  const root = el("div", { class: "live" },
    el("header", {}, el("h1", { text: "Live calls" }), count, status, el("span", { class: "gap" }), site, queue, only), missing, wait, grid, empty)
  component.parentElement.append(root)

  // Coming back from a call, the page may be here before its address is.
  let asked = new URLSearchParams({ ...component.data.filters, ...Object.fromEntries(new URLSearchParams(window.location.search)) })
  const returned = asked.has("call") // by the browser's own button, which leaves the call's address here
  if (returned) asked = new URLSearchParams(sessionStorage.getItem(FILTERS) || "")
  const filter = { site: asked.get("site") || "", queue: asked.get("queue") || "", alerts: asked.get("alerts") === "1" }
  site.onchange = () => { filter.site = site.value; filtered() }
  queue.onchange = () => { filter.queue = queue.value; filtered() }
  only.onclick = () => { filter.alerts = !filter.alerts; filtered() }

  function filtered() {
    const address = new URL(window.location.href)
    address.searchParams.delete("call")
    for (const [name, value] of [["site", filter.site], ["queue", filter.queue], ["alerts", filter.alerts ? "1" : ""]]) {
      if (value) address.searchParams.set(name, value)
      else address.searchParams.delete(name)
    }
    window.history.replaceState(window.history.state, "", address)
    choices()
    for (const call of calls.values()) call.tile.root.hidden = !shown(call)
    arrange(true)
    summary()
  }

  const shown = (call) => (!filter.site || call.site === filter.site) && (!filter.queue || call.queue === filter.queue)
    && (!filter.alerts || call.alerts.size > 0)

  function choices() {
    for (const [select, name, all] of [[site, "site", "All sites"], [queue, "queue", "All queues"]]) {
      const values = [...new Set([...calls.values()].map((call) => call[name]).concat(filter[name]).filter(Boolean))].sort()
      if (select.dataset.values !== values.join("\n") || !select.options.length) {
        select.dataset.values = values.join("\n")
        select.replaceChildren(el("option", { value: "", text: all }), ...values.map((value) => el("option", { value, text: value })))
      }
      select.value = filter[name]
      select.hidden = values.length === 0
    }
    only.setAttribute("aria-pressed", String(filter.alerts))
  }

  function summary() {
    const visible = [...calls.values()].filter((call) => shown(call) && !call.over)
    const alarming = visible.filter((call) => worst(call) === "critical" || escalated(call))
    const amount = `${visible.length} ${visible.length === 1 ? "call" : "calls"} now`
    wait.hidden = known || calls.size > 0
    if (known) say(count, alarming.length ? `${amount}, ${alarming.length} ${alarming.length === 1 ? "needs" : "need"} you` : amount)
    const nothing = known && [...calls.values()].filter(shown).length === 0
    empty.hidden = !nothing
    if (nothing) {
      const filters = filter.site || filter.queue || filter.alerts
      empty.replaceChildren(
        el("h3", { text: filters && calls.size ? "No call matches" : "No calls right now" }),
        el("p", { text: filters && calls.size ? "Calls are on, but none with this site, queue or alert."
          : "They appear here the moment they begin. To see some:" }),
        ...(filters && calls.size ? [] : [el("code", { text: "tenor demo" })]))
    }
  }

  function open(id, about = {}) {
    let call = calls.get(id)
    if (!call) {
      call = { id, moods: {}, heard: {}, revisions: new Map(), alerts: new Map(), interims: new Map(), last: null, roles: [], handover: {}, site: "",
        queue: "", agent: "", started_at: offset + Date.now() / 1000, task: "", over: 0 }
      call.tile = tile(id)
      calls.set(id, call)
      grid.append(call.tile.root)
      sight.observe(call.tile.root)
    }
    Object.assign(call, about)
    changed.add(call)
    return call
  }

  function tile(id) {
    const line = curve("Mood of both sides over the last minutes")
    const parts = {
      line, name: el("b", { class: "name" }), place: el("span", { class: "place soft small" }), time: el("span", { class: "time" }),
      badge: el("span", { class: "badge", hidden: "" }), caller: el("span", { class: "mood" }), agent: el("span", { class: "mood" }),
      customer: el("span", { class: "customer small", hidden: "" }), task: el("span", { class: "chip task", hidden: "" }), who: el("span", { class: "who" }), text: el("span", {}),
      interim: el("span", { class: "interim" }), person: el("p", { class: "person", hidden: "" }),
    }
    const last = el("p", { class: "last" }, parts.who, parts.text, parts.interim)
    parts.root = el("a", { class: "tile", role: "listitem", href: `/call?call=${encodeURIComponent(id)}`, target: "_self", "data-call": id },
      el("div", { class: "top" }, parts.name, parts.badge, parts.time), el("div", { class: "under" }, parts.place, parts.task),
      parts.customer, parts.person, el("div", { class: "plot" }, line.root), el("div", { class: "moods" }, parts.caller, parts.agent), last)
    parts.root.onclick = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return
      event.preventDefault()
      keepPlace()
      current.setTriggerValue("open", id)
    }
    return parts
  }

  /** Only tiles in sight are drawn, the others when they come into it. */
  const paint = everyFrame(() => {
    for (const call of changed) {
      if (!calls.has(call.id)) changed.delete(call)
      else if (call.inSight || !call.drawn) { draw(call); changed.delete(call) }
    }
    measured()
  })
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const call = calls.get(target.dataset.call)
      if (call) call.inSight = isIntersecting
    }
    paint()
  }, { rootMargin: "300px" })

  /** How long ago the words on the page were spoken. */
  function measured() {
    const now = offset + Date.now() / 1000
    for (const { times } of fresh) if (times?.captured) late.add(now - times.captured)
    fresh.length = 0
    if (!late.count) return
    status.title = `From the end of speech to this page: half within ${late.within(0.5)} s, 95 % within ${late.within(0.95)} s (${late.count} sentences)`
    if (status.classList.contains("live")) say(status.lastChild, `live, ${late.within(0.5)} s behind speech`)
  }

  function draw(call) {
    const { tile: parts } = call
    say(parts.name, names.get(call.agent) || call.agent || nameOf(call) || call.id)
    say(parts.customer, call.customer ? `with ${names.get(call.customer) || call.customer}` : "")
    parts.customer.hidden = !call.customer
    say(parts.place, placeOf(call))
    say(parts.task, call.task && call.task !== "unknown" ? words(call.task) : "")
    parts.task.hidden = !parts.task.textContent
    const mood = moodNow(call.moods.caller || [])
    for (const side of ["caller", "agent"]) {
      const value = moodNow(call.moods[side] || [])
      parts[side].className = `mood ${value === null ? "neutral" : moodClass(value)}`
      say(parts[side], value === null ? `${words(side)} –` : `${words(side)} ${shape(moodClass(value))} ${moodText(value)}`)
    }
    const to = position(call)
    parts.line.draw(call.moods, [Math.max(first(call), to - WINDOW_MS), to], [...call.alerts.values()].map((alert) => alert.at_ms))
    const alert = newest(call)
    const severity = worst(call)
    parts.badge.hidden = !alert
    if (alert) {
      parts.badge.className = `badge ${severity}`
      parts.badge.title = alert.text
      say(parts.badge, `⚑ ${ruleName(alert.rule)}${call.alerts.size > 1 ? ` +${call.alerts.size - 1}` : ""}`)
    }
    const summary = [...call.alerts.values()].filter(({ rule }) => rule === HANDOVER).pop()?.text
    parts.person.hidden = !call.handover?.state
    parts.person.title = summary || ""
    const interim = [...call.interims.values()].pop()
    const side = interim ? interim.side : call.last?.side
    say(parts.who, side ? `${words(side)}: ` : "")
    say(parts.text, interim ? "" : call.last?.text || "")
    parts.text.className = call.last && !interim ? call.last.sentiment : ""
    say(parts.interim, interim ? end(interim.text) : call.last ? "" : call.over ? "" : "listening …")
    parts.root.className = `tile ${waits(call.handover) ? "waits " : ""}${mood === null ? "neutral" : moodClass(mood)}${call.over ? " over" : ""}${severity === "critical" ? " alarming" : ""}`
    parts.root.hidden = !shown(call)
    call.drawn = true
    ticking(call)
  }

  /** Of long words that are still being said, those that fit a tile and were said last. */
  const end = (text) => {
    const letters = [...text]
    if (letters.length <= FITS) return text
    const last = letters.slice(-FITS).join("")
    return `… ${last.slice(last.indexOf(" ") + 1)}`
  }
  const position = (call) => {
    if (call.medium && call.medium !== "voice") return Math.max(1, ...Object.values(call.moods).flat().map(([at]) => at))
    const ran = (offset + Date.now() / 1000 - call.started_at) * 1000
    const heard = Math.max(1, ...Object.values(call.moods).map((points) => points[points.length - 1]?.[0] || 0))
    return call.over ? heard : Math.max(heard, Math.min(ran, heard + 15000))
  }
  const first = (call) => Math.min(...Object.values(call.moods).map((points) => points[0]?.[0] ?? 0), position(call) - 1)
  const newest = (call) => [...call.alerts.values()].sort((a, b) => b.at - a.at)[0]
  const worst = (call) => [...call.alerts.values()].map((alert) => alert.severity).sort((a, b) => SEVERITY[b] - SEVERITY[a])[0]

  function ticking(call) {
    const ran = (call.over ? call.over / 1000 : Date.now() / 1000) + offset - call.started_at
    say(call.tile.time, call.over ? (call.state === "failed" ? "failed" : "ended") : clock(ran * 1000))
    const { handover } = call
    if (waits(handover)) {
      const summary = call.tile.person.title
      say(call.tile.person, `${handover.state === "missed" ? "Nobody came" : "Waits for a person"} ${sinceOf(handover, offset)} · ${reasonOf(handover)}${summary ? `. ${summary}` : ""}`)
    } else if (handover?.state) say(call.tile.person, `${names.get(handover.agent) || handover.agent || "A person"} has the conversation`)
    if (call.state === "failed") call.tile.time.title = call.reason || ""
  }

  /** Whether somebody should step in; a call that a person has taken needs no other. */
  const escalated = (call) => [...call.alerts.values()].some((alert) => alert.escalation && !(alert.rule === HANDOVER && call.handover?.state === "taken"))

  function badness(call) {
    if (call.over) return 100
    const mood = moodNow(call.moods.caller || []) ?? 0
    const severity = worst(call)
    return mood - (severity ? SEVERITY[severity] : 0) - (escalated(call) ? 1 : 0) - (waits(call.handover) ? 1 : 0)
  }

  /** As bad as it counts in the order: what moves a little and goes on moving waits, what rests is where it belongs. */
  function weight(call) {
    const bad = badness(call), now = performance.now()
    if (bad !== call.bad) { call.bad = bad; call.since = now }
    if (call.weight === undefined || Math.abs(bad - call.weight) >= SUDDEN || now - call.since >= CALM_MS) call.weight = bad
    return call.weight
  }

  /** Worst first; never under somebody's hand, and gliding, so that the eye can follow. */
  function arrange(at_once = false) {
    if (!at_once && (grid.matches(":hover") || grid.contains(component.parentElement.activeElement ?? null))) return
    for (const call of calls.values()) weight(call)
    const wanted = [...calls.values()].sort((a, b) => a.weight - b.weight || a.started_at - b.started_at || (a.id < b.id ? -1 : 1))
    const present = [...grid.children]
    if (wanted.every((call, index) => call.tile.root === present[index])) return
    const before = new Map(present.map((element) => [element, element.getBoundingClientRect()]))
    wanted.forEach((call, index) => {
      if (grid.children[index] !== call.tile.root) grid.insertBefore(call.tile.root, grid.children[index] || null)
    })
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return
    for (const [element, was] of before) {
      const is = element.getBoundingClientRect(), x = was.left - is.left, y = was.top - is.top
      if ((x || y) && is.width && is.top < innerHeight && is.bottom > 0) {
        element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration: 350, easing: "ease" })
      }
    }
  }

  /** Its audio had only stopped for a while. */
  function resume(call) {
    clearTimeout(call.leaving)
    call.over = 0
  }

  function close(call) {
    calls.delete(call.id)
    sight.unobserve(call.tile.root)
    call.tile.root.remove()
    summary()
  }

  function understood(call, sentence) {
    const revision = call.revisions.get(sentence.sentence) ?? -1
    if (sentence.revision < revision) return
    call.revisions.set(sentence.sentence, sentence.revision)
    if (call.revisions.size > 4 * POINTS) call.revisions.delete(call.revisions.keys().next().value)
    const side = sideOf(sentence.role, call.sides)
    const points = (call.moods[side] ??= [])
    const same = points.findIndex(([start]) => start === sentence.start_ms)
    if (same >= 0) points[same] = [sentence.start_ms, sentence.mood]
    else {
      points.push([sentence.start_ms, sentence.mood])
      points.sort((a, b) => a[0] - b[0])
      if (points.length > POINTS) points.shift()
    }
    if (!call.last || sentence.start_ms >= call.last.start_ms) {
      const corrections = call.last?.sentence === sentence.sentence ? call.last.corrections : {}
      call.last = { ...sentence, side, corrections }
      for (const { kind, value } of Object.values(corrections)) call.last[kind === "role" ? "side" : kind] = value
    }
    call.heard[side] = Math.max(call.heard[side] || 0, sentence.end_ms)
    call.interims.delete(side)
  }

  const on = {
    status(state) {
      caughtUp = false
      status.className = `status ${state}`
      say(status.lastChild, state === "live" ? "live" : "reconnecting …")
    },
    stale() { current.setTriggerValue("stale", Date.now()) },
    now() { caughtUp = true; known = true; summary() },
    trouble({ reason }) { missing.hidden = false; missing.textContent = reason },
    snapshot({ at, calls: list, names: told = {} }) {
      names = new Map(Object.entries(told))
      caughtUp = false
      missing.hidden = true
      offset = at - Date.now() / 1000
      if (Math.abs(offset) < SAME_CLOCK_S) offset = 0 // that much is the way here, not the clock
      const kept = new Set(list.map((about) => about.id))
      for (const call of [...calls.values()]) if (!kept.has(call.id) && !call.over) close(call)
      for (const { id, last, corrections, raised, moods, alerts: _, sentences: __, ...about } of list) {
        const before = calls.get(id), others = Boolean(before?.swapped) !== about.swapped
        const call = open(id, about)
        for (const side of Object.keys({ ...moods, ...call.moods })) {
          const kept = moods[side] || [], newest = kept.length ? kept[kept.length - 1][0] : -1
          call.moods[side] = others ? kept : kept.concat((call.moods[side] || []).filter(([at]) => at > newest)) // the database may be behind
        }
        if (call.over) resume(call)
        for (const alert of raised) call.alerts.set(alert.id, alert)
        if (last && !(call.last && call.last.start_ms > last.start_ms)) call.last = { ...last, sentence: last.id, side: last.role, corrections }
      }
      known = true
      for (const call of calls.values()) draw(call)
      choices()
      summary()
      arrange(true)
      takePlace()
    },
    names(told) { for (const [id, name] of Object.entries(told)) names.set(id, name) },
    state({ call: id, state, at, reason, info }) {
      if (state === "ringing" || state === "live") {
        const before = calls.get(id)
        if (before?.over && at <= before.state_at) return // told over again
        const call = open(id, { ...described(info, before), state, state_at: at })
        if (call.over) resume(call)
      } else if (calls.has(id)) {
        const call = open(id, { state, reason, state_at: at })
        if (!call.over) { call.over = Date.now(); call.interims.clear(); call.leaving = setTimeout(() => close(call), GONE_MS) }
      }
      choices()
      summary()
      paint()
    },
    transcript(said) {
      const call = calls.get(said.call)
      if (!call || call.over) return
      const side = sideOf(said.role, call.sides)
      call.interims.delete(side)
      // Topics are read side by side: what comes of an utterance may come after the sentence it became.
      const written = said.final && (call.revisions.has(said.utterance) || call.last?.sentence === said.utterance)
      const told = written || said.start_ms + SLACK_MS < (call.heard[side] || 0)
      if (said.text && !told) call.interims.set(side, { side, text: said.text })
      changed.add(call)
      paint()
    },
    sentence(sentence) {
      const call = calls.get(sentence.call)
      if (!call) return
      understood(call, sentence)
      if (caughtUp) fresh.push(sentence)
      changed.add(call)
      paint()
    },
    metrics({ call: id, task }) {
      const call = calls.get(id)
      if (call && task && task !== call.task) { call.task = task; changed.add(call); paint() }
    },
    alert(alert) {
      const call = calls.get(alert.call)
      if (!call) return
      call.alerts.set(alert.alert, alert)
      changed.add(call)
      call.tile.root.hidden = !shown(call)
      summary()
      paint()
    },
    handover({ call: id, ...handover }) {
      const call = calls.get(id)
      if (!call) return
      call.handover = handover
      if (handover.agent) call.agent = handover.agent
      changed.add(call)
      summary()
      paint()
    },
    label({ call: id, sentence, effective, as_left: { role, ...left } }) {
      const call = calls.get(id), last = call?.last
      if (last?.sentence !== sentence) return
      Object.assign(last, left, { side: role, corrections: effective })
      changed.add(call)
      paint()
    },
    swap({ call: id, swapped, sides }) {
      const call = calls.get(id)
      if (!call || Boolean(call.swapped) === swapped) return
      for (const kept of ["moods", "heard"]) call[kept] = turned(call[kept], call.sides, sides)
      if (call.last && !call.last.corrections.role) [call.last.side] = Object.keys(turned({ [call.last.side]: 0 }, call.sides, sides))
      Object.assign(call, { swapped, sides })
      call.interims.clear() // the next ones come in a moment, on their side
      changed.add(call)
      paint()
    },
  }

  const scroller = () => document.querySelector('[data-testid="stMain"]') || document.scrollingElement
  function keepPlace() {
    sessionStorage.setItem(PLACE, String(scroller().scrollTop))
    const wanted = new URLSearchParams(Object.entries({ ...filter, alerts: filter.alerts ? "1" : "" }).filter(([, value]) => value))
    sessionStorage.setItem(FILTERS, `?${wanted}`)
  }
  function takePlace() {
    const place = Number(sessionStorage.getItem(PLACE) || 0)
    sessionStorage.removeItem(PLACE)
    if (place) requestAnimationFrame(() => { scroller().scrollTop = place })
  }

  if (returned) filtered()
  else choices()
  const feed = listen({ token: component.data.token, call: "", on })
  const sorting = setInterval(arrange, SORT_MS)
  const seconds = setInterval(() => {
    for (const call of calls.values()) if (!call.over && call.inSight) ticking(call)
    summary()
  }, 1000)
  return {
    update(next) { current = next; feed.renew(next.data.token) },
    leave() { feed.close(); sight.disconnect(); clearInterval(sorting); clearInterval(seconds); root.remove() },
  }
}
