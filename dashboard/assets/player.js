// The recording of a call: plays from where it is told to, and tells where it is.
import { clock, el, say } from "./dom.js"

export function player({ address, onTime }) {
  const audio = el("audio", { preload: "none", src: address })
  const button = el("button", { class: "plain play", "aria-label": "Play", text: "▶" })
  const slider = el("input", { type: "range", min: "0", max: "1000", value: "0", "aria-label": "Position in the recording" })
  const time = el("span", { class: "time small" })
  const speed = el("select", { "aria-label": "Speed" }, ...["1", "1.25", "1.5", "2"].map((value) => el("option", { value, text: `${value}×` })))
  const trouble = el("span", { class: "small soft", hidden: "" })
  const root = el("div", { class: "player" }, audio, button, slider, time, speed, trouble)
  let length = 0, going = 0

  const total = () => (Number.isFinite(audio.duration) && audio.duration > 0 ? audio.duration * 1000 : length)
  function shown() {
    const at = audio.currentTime * 1000
    say(time, `${clock(at)} / ${clock(total())}`)
    if (document.activeElement !== slider) slider.value = String(total() ? (at / total()) * 1000 : 0)
    onTime(audio.paused && !at ? null : at)
  }
  function follow() {
    cancelAnimationFrame(going)
    shown()
    if (!audio.paused) going = requestAnimationFrame(() => setTimeout(follow, 80))
  }
  button.onclick = () => (audio.paused ? audio.play().catch(failed) : audio.pause())
  slider.oninput = () => { audio.currentTime = (Number(slider.value) / 1000) * (total() / 1000); shown() }
  speed.onchange = () => { audio.playbackRate = Number(speed.value) }
  audio.onplay = () => { trouble.hidden = true; button.textContent = "❚❚"; button.setAttribute("aria-label", "Pause"); follow() }
  audio.onpause = () => { button.textContent = "▶"; button.setAttribute("aria-label", "Play"); shown() }
  audio.ondurationchange = shown
  // A play that a pause cuts short is no failure.
  const failed = (error) => { if (error?.name === "AbortError") return; trouble.hidden = false; trouble.textContent = "The recording cannot be played." }
  audio.onerror = failed
  shown()
  return {
    root, audio,
    length(ms) { length = ms; shown() },
    from(ms) {
      const go = () => { audio.currentTime = Math.max(0, ms / 1000 - 0.15); audio.play().catch(failed) }
      if (audio.readyState >= 1) go()
      else { audio.addEventListener("loadedmetadata", go, { once: true }); audio.load() }
    },
    leave() { audio.pause(); audio.removeAttribute("src"); audio.load() },
  }
}
