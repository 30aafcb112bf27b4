// The live feed: server-sent events read with fetch, so that the token travels in a header and not in an address.
const AGAIN_MS = [500, 1000, 2000, 5000]
const SILENT_MS = 40000 // the server says something every 15 s
const HIDDEN_MS = 20000 // browsers allow six connections a site: a tab nobody looks at gives its own back

/** Calls on[event](data) for each event, on.status("live" | "away"), and on.stale() when the token is no good. */
export function listen({ token, call, on }) {
  let over = false, failures = 0, stop = null, hidden = null, current = token

  async function connect() {
    while (!over) {
      const control = new AbortController()
      stop = control
      let silent = setTimeout(() => control.abort(), SILENT_MS)
      try {
        const address = call ? `/feed?call=${encodeURIComponent(call)}` : "/feed"
        const answer = await fetch(address, {
          headers: { Authorization: `Bearer ${current}` }, signal: control.signal, cache: "no-store",
        })
        if (answer.status === 401) { stop = null; on.stale?.(); return }
        if (!answer.ok) throw new Error(String(answer.status))
        failures = 0
        on.status?.("live")
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
        let rest = ""
        for (;;) {
          const { value, done } = await reader.read()
          if (done) break
          clearTimeout(silent)
          silent = setTimeout(() => control.abort(), SILENT_MS)
          const blocks = (rest + value).split("\n\n")
          rest = blocks.pop()
          for (const block of blocks) hear(block)
        }
      } catch (error) {
        if (over || document.hidden) return
      } finally {
        clearTimeout(silent)
      }
      if (over || !stop) return
      on.status?.("away")
      await new Promise((wake) => setTimeout(wake, AGAIN_MS[Math.min(failures++, AGAIN_MS.length - 1)]))
    }
  }

  function hear(block) {
    let name = "", data = ""
    for (const line of block.split("\n")) {
      if (line.startsWith("event: ")) name = line.slice(7)
      else if (line.startsWith("data: ")) data = line.slice(6)
    }
    if (name === "stale") { on.stale?.(); return }
    if (name && on[name]) on[name](JSON.parse(data))
  }

  function look() {
    clearTimeout(hidden)
    if (document.hidden) {
      hidden = setTimeout(() => { stop?.abort(); stop = null }, HIDDEN_MS)
    } else if (!stop && !over) connect()
  }
  document.addEventListener("visibilitychange", look)
  connect()
  return {
    renew(fresh) { if (fresh !== current) { current = fresh; if (!stop && !over) connect() } },
    close() { over = true; clearTimeout(hidden); document.removeEventListener("visibilitychange", look); stop?.abort() },
  }
}
