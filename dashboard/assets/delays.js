// How late the page is: from the end of speech until the words are on it.
const MEASURED = 200 // sentences it is told of

export function delays() {
  const held = []
  return {
    add(seconds) { if (held.push(seconds) > MEASURED) held.shift() },
    get count() { return held.length },
    /** What `share` of the sentences took at most, as text. */
    within(share) { return [...held].sort((a, b) => a - b)[Math.ceil(share * held.length) - 1].toFixed(2) },
  }
}
