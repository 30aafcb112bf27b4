// The picture of the assistant's flows: the states and ways of a turn are lit up, and the picture is moved to them.
import { el } from "./dom.js"

export default function (component) {
  const box = el("div", { class: "picture", tabindex: 0, role: "region", "aria-label": "Picture of the flows" })
  const whole = el("button", { class: "plain", text: "Whole picture", "aria-pressed": "false" })
  const tools = el("div", { class: "tools" }, whole)
  component.parentElement.append(tools, box)
  let drawn = "", focus = []

  whole.onclick = () => {
    const on = box.classList.toggle("whole")
    whole.setAttribute("aria-pressed", on)
    whole.textContent = on ? "Full size" : "Whole picture"
    moveToPath()
  }

  function update({ data }) {
    if (data.picture !== drawn) {
      const picture = new DOMParser().parseFromString(data.picture, "image/svg+xml").documentElement
      picture.querySelector("style")?.remove()
      box.replaceChildren(document.importNode(picture, true))
      drawn = data.picture
    }
    const passed = new Set(data.path)
    const ways = new Set(data.path.map((state, index) => `${index ? data.path[index - 1] : data.before} ${state}`))
    for (const state of box.querySelectorAll("g[data-state]")) {
      state.classList.toggle("passed", passed.has(state.dataset.state))
      state.classList.toggle("stands", state.dataset.state === data.state)
    }
    for (const way of box.querySelectorAll("g[data-from]")) {
      way.classList.toggle("passed", ways.has(`${way.dataset.from} ${way.dataset.to}`))
    }
    const others = data.path.filter((state) => state !== data.state)
    focus = others.length ? others : [data.state] // most turns end where all do: that is not what one wants to see
    moveToPath()
  }

  /** What is lit up to the middle of the box, the last of it if there is not room for all; the page itself stays. */
  function moveToPath() {
    const frame = box.getBoundingClientRect()
    const named = new Map([...box.querySelectorAll("g[data-state]")].map((state) => [state.dataset.state, state]))
    const lit = focus.filter((state) => named.has(state)).map((state) => named.get(state).querySelector(".state").getBoundingClientRect())
    if (!lit.length) return
    const centre = (low, high, room) => {
      const least = Math.min(...lit.map((one) => one[low])), most = Math.max(...lit.map((one) => one[high]))
      return most - least <= room ? (least + most) / 2 : (lit.at(-1)[low] + lit.at(-1)[high]) / 2
    }
    box.scrollLeft += centre("left", "right", frame.width) - frame.left - frame.width / 2
    box.scrollTop += centre("top", "bottom", frame.height) - frame.top - frame.height / 2
  }

  update(component)
  return { update, leave: () => { tools.remove(); box.remove() } }
}
