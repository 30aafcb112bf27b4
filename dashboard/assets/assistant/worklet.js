// On the browser's audio thread: the microphone brought to 16 kHz, and a loudspeaker that can be emptied at once.
const RATE = 16_000
const FRAME = RATE / 25 // 40 ms
const HALF = 24, PHASES = 64 // of the low-pass filter: half its length, and its positions between two samples

/** A windowed sinc for every position between two samples, so that any rate of the browser's becomes 16 kHz. */
function filters(cutoff) {
  return Array.from({ length: PHASES + 1 }, (_, phase) => {
    const taps = new Float32Array(2 * HALF)
    let sum = 0
    for (let tap = 0; tap < taps.length; tap++) {
      const at = tap - HALF + 1 - phase / PHASES
      const window = 0.5 + 0.5 * Math.cos((Math.PI * at) / (HALF + 1))
      taps[tap] = (at === 0 ? cutoff : Math.sin(Math.PI * cutoff * at) / (Math.PI * at)) * window
      sum += taps[tap]
    }
    return taps.map((value) => value / sum)
  })
}

class Microphone extends AudioWorkletProcessor {
  constructor() {
    super()
    this.step = sampleRate / RATE
    this.filters = filters(Math.min(1, RATE / sampleRate) * 0.94)
    this.held = new Float32Array(2 * HALF)
    this.at = HALF // of the next sample, in those that are held
    this.frame = new Int16Array(FRAME)
    this.filled = 0
  }

  process([[input]]) {
    if (!input) return true
    const samples = new Float32Array(this.held.length + input.length)
    samples.set(this.held)
    samples.set(input, this.held.length)
    for (; this.at + HALF < samples.length; this.at += this.step) {
      const whole = Math.floor(this.at)
      const taps = this.filters[Math.round((this.at - whole) * PHASES)]
      let value = 0
      for (let tap = 0; tap < taps.length; tap++) value += taps[tap] * samples[whole + tap - HALF + 1]
      this.frame[this.filled++] = Math.max(-32768, Math.min(32767, Math.round(value * 32767)))
      if (this.filled === FRAME) {
        this.port.postMessage(this.frame.buffer, [this.frame.buffer])
        this.frame = new Int16Array(FRAME)
        this.filled = 0
      }
    }
    const gone = Math.max(0, Math.floor(this.at) - HALF)
    this.held = samples.slice(gone)
    this.at -= gone
    return true
  }
}

class Speaker extends AudioWorkletProcessor {
  constructor() {
    super()
    this.step = RATE / sampleRate
    this.queue = [] // samples, and names of marks between them
    this.at = 0 // in the first of the queue
    this.last = 0
    this.port.onmessage = ({ data }) => {
      if (data === "clear") this.clear()
      else this.queue.push(typeof data === "string" ? data : new Int16Array(data))
    }
  }

  clear() {
    for (const one of this.queue) if (typeof one === "string") this.port.postMessage(one)
    this.queue = []
    this.at = 0
    this.port.postMessage(null)
  }

  process(_, [[output]]) {
    const playing = this.queue.length > 0
    for (let out = 0; out < output.length; out++) {
      while (this.queue.length && (typeof this.queue[0] === "string" || this.at >= this.queue[0].length)) {
        const done = this.queue.shift()
        if (typeof done === "string") this.port.postMessage(done)
        else this.at -= done.length
      }
      if (!this.queue.length) {
        this.at = 0
        output[out] = this.last = this.last * 0.9 // no click where it ends
        continue
      }
      const samples = this.queue[0], whole = Math.floor(this.at)
      const next = samples[whole + 1] ?? this.following() ?? samples[whole]
      output[out] = this.last = (samples[whole] + (next - samples[whole]) * (this.at - whole)) / 32768
      this.at += this.step
    }
    if (playing && !this.queue.length) this.port.postMessage(null) // silence
    return true
  }

  following() {
    return this.queue.find((one, index) => index && typeof one !== "string")?.[0]
  }
}

registerProcessor("microphone", Microphone)
registerProcessor("speaker", Speaker)
