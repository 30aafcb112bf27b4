// The page: what is typed goes to the conversation, what comes of it into the log.
import { Connection } from "./connection.js"
import { Log } from "./log.js"
import { Voice, canListen, canSpeak } from "./voice.js"
import { say } from "./dom.js"

const find = (id) => document.getElementById(id)
const { api, longest, voice: hasVoice } = document.body.dataset
const message = find("message"), submit = find("submit"), status = find("status"), trouble = find("trouble")
const log = new Log(find("log"))
const LINES_PX = 144
const MOST_SILENT = 2 // times that nothing was said when the assistant waited; then the microphone goes off
const GOODBYE_MS = 15_000 // the last words may still be on their way
const microphone = find("microphone"), speech = find("speech")

if (window.parent !== window) {
  document.documentElement.classList.add("embedded")
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") window.parent.postMessage("escape", "*") })
} else message.focus()
window.addEventListener("focus", () => { if (document.activeElement === document.body) message.focus() })

let person = false, awaited = false, over = false, silent = 0
const aloud = { microphone: false, speech: false, speaking: false }

function tell(text, kind = "") {
  say(status, text)
  status.className = kind
}

function complain(text) {
  say(trouble, text)
  trouble.hidden = !text
}

function rest() {
  if (over) return tell("This conversation is over. Begin a new one to go on.")
  if (aloud.speaking) return tell(aloud.microphone ? "Speaking. You can interrupt." : "Speaking…", "ready")
  if (person) return tell("You are talking to a person.", "ready")
  if (awaited) return tell("Waiting for a person to join…")
  if (aloud.microphone) return tell("Listening. Speak, or type your message.", "listening")
  tell("System replied. Waiting for user input.", "ready")
}

const show = {
  begun() { // a new conversation: nothing of the one before
    log.clear()
    person = awaited = over = false
    submit.disabled = false
    silent = 0
    tell("Connecting…")
  },
  line(event) {
    log.line(event)
    if (event.role === "caller") silent = 0
  },
  turn(event) {
    log.turn(event)
    if (aloud.microphone && event.silence) switchOffWhenSilent()
    if (event.person) log.note("A person was asked to join.")
    if (event.person || event.replies.length) awaited = event.person
    if (!log.waiting) rest()
  },
  filler(event) { log.filler(event) },
  person(event) {
    person = event.here
    awaited = false
    log.waits(false)
    log.note(person ? "A person has joined the conversation." : "The person has left. You are talking to the assistant again.")
    rest()
  },
  ended() {
    over = true
    submit.disabled = true
    log.waits(false)
    microphone.disabled = true
    voice.listen(false)
    setTimeout(() => { if (over) voice.leave() }, aloud.speech ? GOODBYE_MS : 0)
    rest()
  },
  now() { log.waiting ? tell("Waiting for the reply…") : rest() },
  accepted(event) { log.accepted(event.id, event.line) },
  error(event) {
    complain(sentence(event.error))
    if (event.id) log.failed(event.id)
    rest()
  },
  away(text) { tell(text, "away") },
}

const connection = new Connection(api, (event) => show[event.type]?.(event), show.away, signedCustomer())

const voice = new Voice(connection, new URL("./worklet.js", import.meta.url), (event) => {
  if (event.type === "transcript") {
    log.hears(event)
    return
  }
  if (event.type === "trouble") return complain(event.text)
  if (event.type === "switched") {
    Object.assign(aloud, { microphone: event.microphone, speech: event.speech })
    for (const button of [microphone, speech]) button.setAttribute("aria-busy", String(event.busy)) // on its way to the gateway
  }
  if (event.type === "speaking") aloud.speaking = event.on
  if (!aloud.microphone) log.interim("")
  speech.checked = aloud.speech
  microphone.setAttribute("aria-pressed", String(aloud.microphone))
  if (!log.waiting) rest()
})

if (hasVoice) {
  speech.closest(".switch").hidden = !canSpeak()
  microphone.hidden = false
  microphone.classList.toggle("unable", !canListen())
}
microphone.addEventListener("click", () => {
  complain("")
  voice.listen(!voice.microphone)
})
speech.addEventListener("change", () => {
  complain("")
  voice.speak(speech.checked)
})
window.addEventListener("pagehide", () => voice.leave())

function switchOffWhenSilent() {
  silent += 1
  if (silent < MOST_SILENT) return
  silent = 0
  voice.listen(false)
  log.note("The microphone was switched off, because nothing was said for a while.")
}

find("composer").addEventListener("submit", (event) => {
  event.preventDefault()
  const text = message.value.trim()
  message.focus()
  if (!text || over) return
  if (text.length > Number(longest)) {
    complain(`Your message has ${text.length.toLocaleString("en")} characters; ${Number(longest).toLocaleString("en")} are allowed.`)
    return
  }
  complain("")
  message.value = ""
  grow()
  const answered = !person && !awaited
  log.sending(connection.send(text), text, answered)
  if (answered) tell("Waiting for the reply…")
})

message.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
  event.preventDefault()
  find("composer").requestSubmit()
})

function grow() {
  message.style.height = "auto"
  message.style.height = `${Math.min(message.scrollHeight + 2, LINES_PX)}px`
}
message.addEventListener("input", grow)

find("anew").addEventListener("click", () => {
  complain("")
  voice.leave(true)
  microphone.disabled = false
  connection.anew()
  message.focus()
})

/** Who the shopper is, as the shop's page told the widget: behind the #, where no server's log sees it. */
function signedCustomer() {
  const given = new URLSearchParams(location.hash.slice(1))
  const id = given.get("customer"), until = Number(given.get("until")), signature = given.get("signature")
  return id && until && signature ? { id, until, signature } : null
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".")

connection.start()
