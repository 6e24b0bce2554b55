// A board on which the visitor moves for one side, by hand or by a word in the field below it.
import { Chessground } from "/static/vendor/chessground.min.js";

export const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const whole = share => `${Math.round(100 * share)} %`;
export const often = share => share >= .3 ? `${Math.round(100 * share)} % of players` : share >= .005 ? `1 in ${Math.round(1 / share)} players` : "hardly any player";

export async function ask(path, values, method = "POST") {
  const reply = await fetch(`${path}?${new URLSearchParams(values)}`, { method, headers: { "X-Skilloscope": "1" } });
  const found = await reply.json();
  if (!reply.ok) throw new Error([found.error, found.hint].filter(Boolean).join(": ") || `status ${reply.status}`);
  return found;
}

export class MoveBoard {
  constructor(moved) {
    const place = document.getElementById("board"), form = document.getElementById("move-form");
    place.replaceChildren();
    this.moved = moved; this.legal = {}; this.words = form.querySelector("input"); this.note = form.querySelector("output");
    this.ground = Chessground(place, { coordinates: true, animation: { duration: 150 }, drawable: { enabled: false, visible: true }, movable: { free: false, showDests: true, events: { after: (from, to) => this.play(from + to) } } });
    form.addEventListener("submit", event => { event.preventDefault(); this.say(this.words.value.trim()); });
  }

  // `legal` maps moves as UCI writes them to what people write; empty where nobody is to move.
  show({ fen, last = "", legal = {}, side }) {
    const turn = fen.split(" ")[1] === "b" ? "black" : "white", dests = new Map();
    for (const uci of Object.keys(legal)) dests.set(uci.slice(0, 2), [...(dests.get(uci.slice(0, 2)) || []), uci.slice(2, 4)]);
    this.legal = legal; this.fen = fen;
    this.words.disabled = !dests.size; this.note.textContent = "";
    this.ground.set({ fen, orientation: side || turn, turnColor: turn, lastMove: last ? [last.slice(0, 2), last.slice(2, 4)] : undefined, movable: { color: dests.size ? turn : undefined, dests }, drawable: { autoShapes: [] } });
  }

  say(text) {
    const plain = word => word.replace(/[+#x=]/g, "").replace(/0/g, "O").toLowerCase();
    const found = Object.entries(this.legal).filter(([uci, san]) => san === text || uci === text);
    const near = found.length ? found : Object.entries(this.legal).filter(([uci, san]) => plain(san) === plain(text) || uci === text.toLowerCase());
    if (near.length === 1) { this.words.value = ""; this.moved(near[0][0], near[0][1]); }
    else this.note.textContent = text ? `“${text}” is ${near.length ? "more than one move" : "no legal move"} here.` : "";
  }

  play(uci) {
    const found = this.legal[uci] ? uci : `${uci}q`; // a pawn becomes a queen; other pieces by the field: e8=N
    if (this.legal[found]) this.moved(found, this.legal[found]);
  }

  arrows(shapes) { this.ground.setAutoShapes(shapes.map(({ move, colour }) => ({ orig: move.slice(0, 2), dest: move.slice(2, 4), brush: colour }))); }
}
