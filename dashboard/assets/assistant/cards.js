// What was found, to look at: stores, prices, what is in stock, a reservation, a forecast.
import { el } from "./dom.js"
import { forecast } from "./forecast.js"

const join = (...parts) => parts.filter(Boolean).join(" · ")

function money(amount, currency = "USD") {
  try {
    return new Intl.NumberFormat("en-US", { style: "currency", currency }).format(amount)
  } catch { // a currency nobody knows
    return `${amount} ${currency}`
  }
}

/** 22:00 -> 10 PM */
function hour(time) {
  const [hours, minutes] = (time || "").split(":").map(Number)
  if (!Number.isInteger(hours) || !Number.isInteger(minutes)) return time
  return `${hours % 12 || 12}${minutes ? `:${String(minutes).padStart(2, "0")}` : ""} ${hours < 12 ? "AM" : "PM"}`
}

function rating(value) {
  if (typeof value !== "number") return null
  return el("span", { "aria-label": `rated ${value} of 5`, role: "img" }, el("span", { class: "stars", text: "★ " }), value.toFixed(1))
}

const telephone = (number) => el("a", { href: `tel:${number.replace(/[^\d+]/g, "")}`, text: number })

function opening({ open_now, opens, closes }) {
  const hours = opens && closes ? `${hour(opens)} – ${hour(closes)}` : ""
  if (open_now === undefined) return hours ? el("span", { class: "pill", text: hours }) : null
  return el("span", { class: `pill ${open_now ? "good" : "bad"}`, text: join(open_now ? "Open" : "Closed", hours) })
}

function place(store) {
  const where = [store.address, join(store.city && store.state ? `${store.city}, ${store.state}` : store.city)].filter(Boolean).join(", ")
  const away = typeof store.distance_mi === "number" ? `${store.distance_mi.toFixed(1)} mi` : ""
  const foot = el("p", {}, ...[opening(store), store.telephone && telephone(store.telephone)].filter(Boolean).flatMap((one) => [one, " "]))
  const left = el("div", {}, el("h2", { text: store.name }), el("p", { text: where }), foot)
  return el("article", { class: "card row" }, left, el("div", { class: "aside" }, rating(store.rating), el("br"), away))
}

function price(item) {
  const left = el("div", {}, el("h2", { text: item.name }), el("p", { text: join(item.brand, item.store, item.city) }))
  if (item.sizes?.length || item.colors?.length) left.append(el("p", { text: join(item.sizes?.join(", "), item.colors?.join(", ")) }))
  const right = el("div", { class: "aside" }, el("div", { class: "price", text: money(item.price, item.currency) }), rating(item.rating))
  if (item.total !== undefined) right.append(el("div", { text: `${money(item.total, item.currency)} in all` }))
  return el("article", { class: "card row" }, left, right)
}

function stocked(item) {
  const where = join(item.store, [item.address, item.city].filter(Boolean).join(", "))
  const left = el("div", {}, el("h2", { text: item.name }), el("p", { text: where }))
  const many = item.quantity > 0 ? `${item.quantity} in stock` : "Sold out"
  const right = el("div", { class: "aside" }, el("span", { class: `pill ${item.quantity > 0 ? "good" : "bad"}`, text: many }))
  if (item.price !== undefined) right.append(el("div", { class: "price", text: money(item.price, item.currency) }))
  return el("article", { class: "card row" }, left, right)
}

function reserved(order) {
  const until = order.until ? `kept until ${new Date(`${order.until}T12:00`).toLocaleDateString("en-US", { weekday: "long", month: "long", day: "numeric" })}` : ""
  const where = join(order.store, [order.address, order.city].filter(Boolean).join(", "))
  const left = el("div", {}, el("h2", { text: order.name }), el("p", { text: where }), el("p", { text: join(`${order.quantity ?? 1} reserved`, until) }))
  const right = el("div", { class: "aside" }, el("span", { class: "pill good", text: "Reserved" }))
  if (order.reference) right.append(el("div", { text: order.reference }))
  return el("article", { class: "card row" }, left, right)
}

const CARDS = { places: place, prices: price, stock: stocked, reserve: reserved }

/** Cards for a reply; nothing for a kind that this page does not know. */
export function cardOf(card) {
  if (card.kind === "weather") return el("div", { class: "cards" }, forecast(card))
  const make = CARDS[card.kind]
  return make ? el("div", { class: "cards" }, ...card.rows.map(make)) : null
}
