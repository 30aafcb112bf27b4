// The assistant on a shop's own page: <script src="https://HOST/assistant/widget.js" async></script>
// A button in the corner opens it in a frame, so that neither page can reach into the other.
(() => {
  const script = document.currentScript
  const home = new URL("../assistant", script.src)
  const { customer, until, signature } = script.dataset
  if (customer && until && signature) home.hash = new URLSearchParams({ customer, until, signature })
  const title = "$title", open = "Open the assistant", close = "Close the assistant"
  const narrow = window.matchMedia("(max-width: 480px)")
  const host = document.createElement("div")
  const shadow = host.attachShadow({ mode: "open" })
  const button = document.createElement("button")
  let frame = null

  const dress = (element, style) => { for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value) }
  const corner = { position: "fixed", right: "20px", "z-index": "2147483000", border: "0" }
  dress(button, { ...corner, bottom: "20px", height: "52px", padding: "0 22px", "border-radius": "26px", cursor: "pointer", background: "#2f5fde", color: "#fff", font: "600 16px system-ui, sans-serif", "box-shadow": "0 4px 18px rgba(20, 30, 60, .3)" })

  function show(shown) {
    if (shown && !frame) {
      frame = document.createElement("iframe")
      frame.src = home
      frame.title = title
      frame.allow = "microphone; autoplay"
      shadow.append(frame)
    }
    if (!frame) return
    const whole = { inset: "0", width: "100%", height: "100%", "border-radius": "0", bottom: "0" }
    const panel = { inset: "auto 20px 84px auto", width: "400px", height: "min(640px, calc(100vh - 104px))", "border-radius": "16px" }
    dress(frame, { ...corner, ...(narrow.matches ? { ...whole, height: "calc(100% - 84px)" } : panel), display: shown ? "block" : "none", "box-shadow": "0 8px 40px rgba(20, 30, 60, .28)", background: "#fff" })
    button.textContent = shown ? "Close" : title
    button.setAttribute("aria-expanded", String(shown))
    button.setAttribute("aria-label", shown ? close : open)
    if (shown) frame.focus()
  }

  button.type = "button"
  button.textContent = title
  button.setAttribute("aria-label", open)
  button.setAttribute("aria-expanded", "false")
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") === "false"))
  narrow.addEventListener("change", () => show(button.getAttribute("aria-expanded") === "true"))
  function leave() {
    if (button.getAttribute("aria-expanded") === "false") return
    show(false)
    button.focus()
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") leave() })
  // The key in the frame is the frame's; it tells us nothing but that.
  window.addEventListener("message", ({ source, data }) => { if (frame && source === frame.contentWindow && data === "escape") leave() })
  shadow.append(button)
  const add = () => document.body.append(host)
  document.body ? add() : document.addEventListener("DOMContentLoaded", add)
})()
