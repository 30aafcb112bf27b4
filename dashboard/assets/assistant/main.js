// The page: what is typed goes to the conversation, what comes of it into the log.
import { Connection } from "./connection.js"
import { Log } from "./log.js"
import { say } from "./dom.js"

const find = (id) => document.getElementById(id)
const { api, longest } = document.body.dataset
const message = find("message"), submit = find("submit"), status = find("status"), trouble = find("trouble")
const log = new Log(find("log"))
const LINES_PX = 144

if (window.parent !== window) document.documentElement.classList.add("embedded")
else message.focus()
window.addEventListener("focus", () => { if (document.activeElement === document.body) message.focus() })

let person = false, over = false

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
  if (person) return tell("You are talking to a person.", "ready")
  tell("System replied. Waiting for user input.", "ready")
}

const show = {
  begun() { // a new conversation: nothing of the one before
    log.clear()
    person = over = false
    submit.disabled = false
    tell("Connecting…")
  },
  line(event) { log.line(event) },
  turn(event) {
    log.turn(event)
    if (event.person) log.note("A person was asked to join.")
    if (!log.waiting) rest()
  },
  filler(event) { log.filler(event) },
  person(event) {
    person = event.here
    log.note(person ? "A person has joined the conversation." : "You are talking to the assistant again.")
    rest()
  },
  ended() {
    over = true
    submit.disabled = true
    log.waits(false)
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
  log.sending(connection.send(text), text, !person)
  if (!person) tell("Waiting for the reply…")
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
