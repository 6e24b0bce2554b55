// A game against an opponent of any Elo: every reply comes from the server, which also knows the legal moves.
import { ask, MoveBoard } from "/static/moveboard.js";

const page = document.getElementById("play"), verdict = document.getElementById("verdict"), list = document.getElementById("played");
const elo = document.getElementById("elo"), shown = document.getElementById("elo-shown"), side = document.getElementById("side");
const start = page.dataset.fen;
let moves = [], sans = [], turn = 0;
const board = new MoveBoard((uci, san) => { moves.push(uci); sans.push(san); go(`You played ${san}. ${elo.value} is thinking…`); });

async function go(words) {
  const mine = ++turn;
  verdict.textContent = words;
  board.ground.set({ movable: { dests: new Map() } }); board.words.disabled = true;
  try {
    const found = await ask("/api/reply", { elo: elo.value, side: side.value, fen: start, moves: moves.join(" "), pool: page.dataset.pool });
    if (mine !== turn) return;
    const replied = found.moves.length > moves.length;
    moves = found.moves; sans = found.sans;
    board.show({ fen: found.fen, last: moves.at(-1), legal: found.legal, side: side.value });
    const won = { "1-0": "white", "0-1": "black" }[found.result];
    if (found.ended) verdict.textContent = `${won ? (won === side.value ? "You win" : "You lose") : "Draw"}: ${found.ended}.`;
    else verdict.textContent = `${replied ? `${elo.value} plays ${sans.at(-1)}. ` : ""}Your move.`;
    write();
    if (!found.ended) board.words.focus({ preventScroll: true });
  } catch (error) {
    if (mine === turn) { verdict.textContent = `${error.message}. Take back the move, or try again.`; write(); }
  }
}

function write() {
  const first = start.split(" "), black = first[1] === "b", number = +first[5] || 1;
  list.replaceChildren(...sans.map((san, at) => {
    const item = document.createElement("li"), ply = at + (black ? 1 : 0);
    item.textContent = (ply % 2 === 0 ? `${number + ply / 2}. ` : at === 0 ? `${number}… ` : "") + san;
    return item;
  }));
  document.getElementById("back").disabled = !moves.length;
}

function again() { moves = []; sans = []; board.words.value = ""; go("A new game."); }
elo.addEventListener("input", () => { shown.textContent = elo.value; });
side.addEventListener("change", again);
document.getElementById("again").addEventListener("click", again);
document.getElementById("back").addEventListener("click", () => {
  const mine = (start.split(" ")[1] === "b" ? "black" : "white") === side.value ? 0 : 1; // plies of mine: even or odd
  do moves.pop(); while (moves.length > mine && moves.length % 2 !== mine);
  sans.length = moves.length; go("Taken back.");
});
await go("");
page.dataset.ready = "true";
