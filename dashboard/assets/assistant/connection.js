// The conversation's way to the server and back: a WebSocket, or requests that wait where none gets through.
// What was sent and not accepted is sent again under the same id, so that it counts once.
const KEPT = "assistant"
const SOCKET_TRIES = 2
const LONGEST_PAUSE_MS = 15_000
const NOT_VALID = [4401, 4410] // the token, or the conversation

export class Connection {
  constructor(api, heard, away, customer) {
    this.api = api
    this.heard = heard
    this.away = away
    this.customer = customer
    this.session = null
    this.after = ""
    this.unsent = new Map() // id -> text, in order
    this.socket = null
    this.failures = 0 // of sockets that never spoke
    this.tries = 0
    this.round = 0 // rises with every new conversation: what belongs to an old one is ignored
  }

  start() {
    const kept = recall()
    if (kept && kept.until * 1000 > Date.now() && kept.customer === (this.customer?.id ?? "")) this.session = kept
    this.connect()
  }

  /** The id under which it is on its way. */
  send(text) {
    const id = newId()
    this.unsent.set(id, text)
    if (this.open) this.socket.send(JSON.stringify({ text, id }))
    else if (this.polling) this.post(id, text)
    return id
  }

  /** Where the gateway is, and a ticket for it. */
  async voice() {
    if (!this.session) throw new Error("the conversation has not begun")
    const session = this.session.session
    return { ...(await this.ask("POST", `/sessions/${session}/voice`, {})), session }
  }

  anew() {
    const left = this.session
    this.leave()
    if (left) this.ask("DELETE", `/sessions/${left.session}`, undefined, left).catch(() => {})
    this.connect()
  }

  leave() {
    this.round += 1
    this.session = null
    this.after = ""
    this.unsent.clear()
    this.polling = this.open = false
    forget()
    this.socket?.close()
    this.socket = null
  }

  async connect() {
    const round = this.round
    try {
      if (!this.session) await this.begin(round)
    } catch (error) {
      if (round === this.round) this.later(error)
      return
    }
    if (round !== this.round) return
    if (this.failures >= SOCKET_TRIES || !window.WebSocket) this.poll(round)
    else this.dial(round)
  }

  async begin(round) {
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? ""
    const begun = await this.ask("POST", "/sessions", { timezone, customer: this.customer })
    if (round !== this.round) return
    this.session = { ...begun, customer: this.customer?.id ?? "" }
    keep(this.session)
    this.heard({ type: "begun" })
  }

  dial(round) {
    const { session, token } = this.session
    const address = new URL(`${this.api}/sessions/${session}`, location.href)
    address.protocol = address.protocol.replace("http", "ws")
    const socket = (this.socket = new WebSocket(address))
    let spoke = false
    socket.onopen = () => socket.send(JSON.stringify({ token, after: this.after }))
    socket.onmessage = ({ data }) => {
      if (round !== this.round) return
      const event = JSON.parse(data)
      if (!spoke && event.type === "now") {
        spoke = this.open = true
        this.tries = this.failures = 0
        for (const [id, text] of this.unsent) socket.send(JSON.stringify({ text, id }))
      }
      this.take(event)
    }
    socket.onclose = ({ code }) => {
      if (round !== this.round) return
      this.open = false
      if (NOT_VALID.includes(code)) {
        this.leave()
        this.connect()
        return
      }
      if (!spoke) this.failures += 1
      this.later()
    }
  }

  async poll(round) {
    this.polling = true
    for (const [id, text] of this.unsent) this.post(id, text)
    try {
      let wait = 0
      while (round === this.round) {
        const query = new URLSearchParams({ after: this.after, wait })
        const { turns, after } = await this.ask("GET", `/sessions/${this.session.session}/turns?${query}`)
        if (round !== this.round) return
        for (const event of turns) this.take(event)
        if (turns.length || !wait) this.take({ type: "now", after })
        this.tries = 0
        wait = 20
      }
    } catch (error) {
      if (round !== this.round) return
      this.polling = false
      if (error.status === 401 || error.status === 400) this.leave()
      this.later(error)
    }
  }

  async post(id, text) {
    const round = this.round
    try {
      const { line } = await this.ask("POST", `/sessions/${this.session.session}/messages`, { text, id })
      if (round === this.round) this.take({ type: "accepted", id, line })
    } catch (error) {
      if (round === this.round && error.status) this.take({ type: "error", id, error: error.message })
    }
  }

  take(event) {
    if (event.after !== undefined) this.after = event.after
    if (event.type === "accepted" || event.type === "error") this.unsent.delete(event.id)
    this.heard(event)
  }

  later(error) {
    const pause = error?.wait ? error.wait * 1000 : Math.min(LONGEST_PAUSE_MS, 500 * 2 ** this.tries)
    this.tries += 1
    this.away(error?.status ? `Not available: ${error.message}. Trying again…` : "Connection lost. Trying again…")
    const round = this.round
    setTimeout(() => { if (round === this.round) this.connect() }, pause)
  }

  async ask(method, path, content, session = this.session) {
    const headers = session ? { Authorization: `Bearer ${session.token}` } : {}
    if (content) headers["Content-Type"] = "application/json"
    const answer = await fetch(this.api + path, { method, headers, body: content && JSON.stringify(content) })
    const said = answer.status === 204 ? {} : await answer.json().catch(() => ({}))
    if (answer.ok) return said
    const error = new Error(said.detail || `the server answered ${answer.status}`)
    error.status = answer.status
    error.wait = Number(answer.headers.get("Retry-After")) || 0
    throw error
  }
}

const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("")

// Of this tab alone, so that the next person at a shared computer does not read along. A browser may refuse to keep it.
function recall() {
  try { return JSON.parse(sessionStorage.getItem(KEPT)) } catch { return null }
}
function keep(session) {
  try { sessionStorage.setItem(KEPT, JSON.stringify(session)) } catch { /* a reload begins anew */ }
}
function forget() {
  try { sessionStorage.removeItem(KEPT) } catch { /* nothing was kept */ }
}
