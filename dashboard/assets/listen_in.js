// Listening in: the sound of a call that is going on, over a WebSocket, played as it comes.
import { el, say } from "./dom.js"

const HEAD_BYTES = 20 // channel, rate, position, when it was spoken; then 16-bit samples
const BUFFER_S = 0.3 // between what came and what is heard, so that a late chunk leaves no gap
const MOST_S = 1.2 // of sound that waits: beyond it, what is old is skipped
const GAP_S = 0.03 // a chunk this close to the one before follows it without a seam
const CLOSED = { 4401: "Your session has ended: reload the page.", 1012: "The connection was lost: listen again.", 4410: "The call is over." }

/** `token()` and `offset()`: the page's token, and how far the server's clock is ahead of ours. */
export function listenIn({ call, token, offset }) {
  const button = el("button", { class: "plain listen", text: "Listen in" })
  const level = el("i", {}), meter = el("span", { class: "meter", "aria-hidden": "true", hidden: "" }, level)
  const about = el("span", { class: "small soft", role: "status", text: "You hear the raw sound: nothing is redacted. The audit trail notes it." })
  const root = el("div", { class: "player listening", hidden: "" }, button, meter, about)
  let socket = null, sound = null, drawing = 0

  function start() {
    sound = speaker()
    const mine = socket = new WebSocket(`${window.location.protocol === "https:" ? "wss" : "ws"}://${window.location.host}/listen/${encodeURIComponent(call)}`)
    mine.binaryType = "arraybuffer"
    mine.onopen = () => mine.send(JSON.stringify({ token: token() }))
    mine.onmessage = ({ data }) => {
      const behind = sound.play(data)
      if (behind !== null) { root.dataset.behind = (behind + offset()).toFixed(2); say(about, `${(behind + offset()).toFixed(1)} s behind · raw sound, nothing is redacted`) }
    }
    mine.onclose = ({ code, reason }) => { if (socket === mine) { stop(); say(about, CLOSED[code] || (reason ? `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.` : "It has ended.")) } }
    say(button, "Stop listening")
    say(about, "Connecting …")
    meter.hidden = false
    draw()
  }
  function stop() {
    const was = socket
    socket = null
    was?.close()
    sound?.close()
    sound = null
    cancelAnimationFrame(drawing)
    meter.hidden = true
    delete root.dataset.behind
    say(button, "Listen in")
    say(about, "")
  }
  function draw() {
    if (!sound) return
    const loud = sound.loudness()
    root.dataset.level = loud.toFixed(3)
    level.style.width = `${Math.min(100, Math.round(loud * 250))}%`
    drawing = requestAnimationFrame(draw)
  }
  button.onclick = () => (socket ? stop() : start())
  return { root, shown(may) { root.hidden = !may && !socket && !about.textContent; button.hidden = !may && !socket }, leave: stop }
}

/** Plays chunks of both sides at the places where they were spoken. */
function speaker() {
  let audio = null, meter = null, samples = null, origin = null
  const sides = new Map() // by channel: where it goes, and when its last chunk ends

  function begin(rate) {
    try { audio = new AudioContext({ sampleRate: rate, latencyHint: "interactive" }) } catch { audio = new AudioContext() }
    audio.resume()
    meter = audio.createAnalyser()
    meter.fftSize = 512
    samples = new Float32Array(meter.fftSize)
    meter.connect(audio.destination)
  }
  function side(channel) {
    if (!sides.has(channel)) {
      const pan = audio.createStereoPanner()
      pan.pan.value = channel === 0 ? -0.4 : 0.4
      pan.connect(meter)
      sides.set(channel, { to: pan, ends: 0 })
    }
    return sides.get(channel)
  }
  return {
    /** How far behind the words this chunk is heard, by our clock; null when nobody knows when it was spoken. */
    play(data) {
      const head = new DataView(data, 0, HEAD_BYTES), channel = head.getUint8(0), rate = head.getUint32(4, true)
      const at_s = head.getUint32(8, true) / 1000, spoken = head.getFloat64(12, true), pcm = new Int16Array(data, HEAD_BYTES)
      if (!pcm.length) return null
      if (!audio) begin(rate)
      const now = audio.currentTime
      let when = (origin ?? (origin = now + BUFFER_S - at_s)) + at_s
      // Late: everything from here on is played later. Far ahead: what is old is skipped, and all that follows is sooner.
      if (when < now || when > now + MOST_S) { origin = now + BUFFER_S - at_s; when = now + BUFFER_S }
      const to = side(channel)
      if (Math.abs(when - to.ends) < GAP_S) when = Math.max(now, to.ends)
      const buffer = audio.createBuffer(1, pcm.length, rate), floats = buffer.getChannelData(0)
      for (let place = 0; place < pcm.length; place++) floats[place] = pcm[place] / 32768
      const source = audio.createBufferSource()
      source.buffer = buffer
      source.connect(to.to)
      source.start(when)
      to.ends = when + buffer.duration
      return spoken ? Date.now() / 1000 + (to.ends - now) + (audio.outputLatency || audio.baseLatency || 0) - spoken : null
    },
    loudness() {
      if (!meter) return 0
      meter.getFloatTimeDomainData(samples)
      return Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length)
    },
    close() { audio?.close() },
  }
}
