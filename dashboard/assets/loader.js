// Mounts a live part: its module comes from our own server, where browsers keep it until it changes.
export default function (component) {
  let leave = null, left = false
  import(new URL(component.data.assets + "/PART.js", window.location.origin).href).then((module) => {
    if (!left) leave = module.default(component)
  })
  return () => { left = true; if (leave) leave() }
}
