// Signing out is a POST from our own page: a link elsewhere cannot do it.
import { el } from "./dom.js"

export default function (component) {
  const button = el("button", { class: "plain", text: "Sign out" })
  button.onclick = async () => {
    await fetch("/sign-out", { method: "POST" })
    window.location.assign("/sign-in")
  }
  component.parentElement.append(button)
  return { leave: () => button.remove() }
}
