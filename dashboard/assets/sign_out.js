// Signing out is a POST from our own page: a link elsewhere cannot do it.
export default function (component) {
  const root = component.parentElement
  const button = document.createElement("button")
  button.className = "sign-out"
  button.textContent = "Sign out"
  button.onclick = async () => {
    await fetch("/sign-out", { method: "POST" })
    window.location.assign("/sign-in")
  }
  root.append(button)
  return () => button.remove()
}
