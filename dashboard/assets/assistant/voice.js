// The conversation aloud: a microphone and a loudspeaker over one socket to the gateway, open while either is on.
const ALIVE_MS = 10_000
const RETRY_MS = [500, 2000, 5000]
const ANSWER_MS = 8_000 // a gateway that has not answered by then is away
const BACKLOG = 64_000 // bytes that wait for a slow network: two seconds; more is left out
const REFUSED = 3000, FULL = 1013, BROKEN = 1008

const DENIED = "The microphone is blocked. Allow it for this page in your browser, then try again."
const NO_MICROPHONE = "No microphone was found. Plug one in, or type your message."
const UNABLE = "This browser cannot use a microphone here. Type your message, or open the page over HTTPS in a current browser."
const AWAY = "The voice service cannot be reached. You can go on typing."

/** What this browser has of what a voice needs. */
export const canListen = () => Boolean(navigator.mediaDevices?.getUserMedia && window.AudioWorkletNode && window.isSecureContext)
export const canSpeak = () => Boolean(window.AudioWorkletNode && window.isSecureContext)

export class Voice {
  /** `told` hears {type: "switched" | "transcript" | "speaking" | "trouble", ...}. */
  constructor(connection, worklet, told) {
    this.connection = connection
    this.worklet = worklet
    this.told = told
    this.microphone = this.speech = false
    this.socket = null
    this.ready = false
    this.tries = 0
    this.round = 0 // rises whenever a socket is given up: what belongs to an old one is ignored
    this.speaking = false
  }

  async listen(on) {
    if (on === this.microphone) return
    if (on) {
      if (!canListen()) return this.trouble(UNABLE)
      try {
        await this.openMicrophone()
      } catch (error) {
        this.closeMicrophone()
        this.switched()
        return this.trouble(error.name === "NotAllowedError" ? DENIED : error.name === "NotFoundError" ? NO_MICROPHONE : UNABLE)
      }
    } else {
      this.closeMicrophone()
    }
    this.microphone = on
    this.switched({ type: "microphone", on })
  }

  async speak(on) {
    if (on === this.speech) return
    if (on) {
      if (!canSpeak()) {
        this.switched()
        return this.trouble(UNABLE)
      }
      await this.openAudio()
    } else {
      this.silence()
    }
    this.speech = on
    this.switched({ type: "speech", on })
  }

  /** Everything off; `end` says that the conversation is over, too. */
  leave(end = false) {
    if (end && this.ready) this.socket.send(JSON.stringify({ type: "end" }))
    const was = this.microphone || this.speech
    this.microphone = this.speech = false
    this.closeMicrophone()
    this.hangUp()
    if (was) this.switched()
  }

  // -- the socket

  tell() {
    const { microphone, speech, ready } = this
    this.told({ type: "switched", microphone, speech, busy: (microphone || speech) && !ready })
  }

  switched(message) {
    this.tell()
    if (!this.microphone && !this.speech) this.hangUp()
    else if (!this.socket) this.dial()
    else if (this.ready && message) this.socket.send(JSON.stringify(message))
  }

  async dial() {
    const round = ++this.round
    this.socket = { send() {}, close() {} } // until there is one
    let access
    try {
      access = await this.connection.voice()
    } catch (error) {
      if (round !== this.round) return
      return error.status && error.status !== 503 ? this.giveUp(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`) : this.again()
    }
    if (round !== this.round) return
    const { url, ticket, session } = access
    let socket
    try {
      socket = this.socket = new WebSocket(url)
    } catch {
      return this.giveUp(AWAY)
    }
    socket.binaryType = "arraybuffer"
    const waiting = setTimeout(() => { if (round === this.round && !this.ready) this.again() }, ANSWER_MS)
    socket.onopen = () => socket.send(JSON.stringify({ type: "start", session, ticket, microphone: this.microphone, speech: this.speech }))
    socket.onmessage = ({ data }) => { if (round === this.round) this.take(data) }
    socket.onclose = ({ code, reason }) => {
      clearTimeout(waiting)
      if (round !== this.round) return
      this.ready = false
      this.silence()
      if (code === 1000) this.leave()
      else if (code === FULL || code === BROKEN) this.giveUp(`${AWAY} (${reason})`)
      else if (code === REFUSED && this.tries) this.giveUp(AWAY)
      else this.again()
    }
  }

  take(data) {
    if (typeof data !== "string") {
      this.speakers?.port.postMessage(data, [data])
      return this.say(true)
    }
    const message = JSON.parse(data)
    if (message.type === "state") {
      this.tries = 0
      if (!this.ready) {
        this.ready = true
        this.tell()
        this.alive ??= setInterval(() => { if (this.ready) this.socket.send('{"type":"alive"}') }, ALIVE_MS)
        // What was switched while the socket was on its way.
        if (message.microphone !== this.microphone) this.socket.send(JSON.stringify({ type: "microphone", on: this.microphone }))
        if (message.speech !== this.speech) this.socket.send(JSON.stringify({ type: "speech", on: this.speech }))
      }
    } else if (message.type === "clear") {
      this.silence()
    } else if (message.type === "mark") {
      if (this.speakers) this.speakers.port.postMessage(message.name)
      else this.marked(message.name)
    } else if (message.type === "transcript") {
      this.told(message)
    }
  }

  again() {
    this.hangUp()
    if (this.tries >= RETRY_MS.length) return this.giveUp(AWAY)
    const pause = RETRY_MS[this.tries++], round = this.round
    setTimeout(() => { if (round === this.round && (this.microphone || this.speech)) this.dial() }, pause)
  }

  giveUp(reason) {
    this.tries = 0
    this.leave()
    this.trouble(reason)
  }

  hangUp() {
    this.round += 1
    this.ready = false
    clearInterval(this.alive)
    this.alive = null
    this.socket?.close(1000)
    this.socket = null
    this.silence()
  }

  // -- sound

  async openAudio() {
    this.audio ??= new AudioContext({ latencyHint: "interactive" })
    // A page may not make a sound before its visitor did something; on a phone also after a while in the background.
    if (this.audio.state !== "running") await Promise.race([this.audio.resume(), new Promise((done) => setTimeout(done, 1000))])
    this.module ??= this.audio.audioWorklet.addModule(this.worklet)
    await this.module
    if (this.speakers) return
    this.speakers = new AudioWorkletNode(this.audio, "speaker", { numberOfInputs: 0, outputChannelCount: [1] })
    this.speakers.port.onmessage = ({ data }) => (data === null ? this.say(false) : this.marked(data))
    this.speakers.connect(this.audio.destination)
  }

  async openMicrophone() {
    const wanted = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true }
    const opening = this.openAudio()
    this.stream = await navigator.mediaDevices.getUserMedia({ audio: wanted })
    await opening
    this.stream.getAudioTracks()[0].onended = () => { // unplugged, or taken back in the browser's own menu
      this.listen(false)
      this.trouble(NO_MICROPHONE)
    }
    this.source = this.audio.createMediaStreamSource(this.stream)
    this.listener = new AudioWorkletNode(this.audio, "microphone", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" })
    this.listener.port.onmessage = ({ data }) => {
      if (this.ready && this.microphone && this.socket.bufferedAmount < BACKLOG) this.socket.send(data)
    }
    this.source.connect(this.listener)
  }

  closeMicrophone() {
    this.source?.disconnect()
    if (this.listener) this.listener.port.onmessage = null
    for (const track of this.stream?.getTracks() ?? []) {
      track.onended = null
      track.stop()
    }
    this.stream = this.source = this.listener = null
  }

  silence() {
    this.speakers?.port.postMessage("clear")
    this.say(false)
  }

  marked(name) {
    if (this.ready) this.socket.send(JSON.stringify({ type: "mark", name }))
  }

  say(speaking) {
    if (speaking === this.speaking) return
    this.speaking = speaking
    this.told({ type: "speaking", on: speaking })
  }

  trouble(text) {
    this.told({ type: "trouble", text })
  }
}
