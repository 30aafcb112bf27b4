// Mounts a live component once and hands it new data after that: Streamlit calls this on every run of the page.
export default function (component) {
  const mounts = (window.tenorMounts ??= new WeakMap())
  const root = component.parentElement
  let mount = mounts.get(root)
  if (!mount) {
    mount = { turn: 0, view: null, component }
    mounts.set(root, mount)
    import(new URL(component.data.assets + "/COMPONENT.js", window.location.origin).href).then((module) => {
      if (mounts.get(root) === mount) mount.view = module.default(mount.component)
    })
  } else {
    mount.component = component
    mount.view?.update?.(component)
  }
  const turn = ++mount.turn
  return () => {
    if (mount.turn !== turn) return
    mounts.delete(root)
    mount.view?.leave?.()
  }
}
