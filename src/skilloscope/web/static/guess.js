// Guess what people of a strength play: a position of a game, the visitor's move, and how many play each move.
import { ask, MoveBoard, often } from "/static/moveboard.js";

const page = document.getElementById("guess"), verdict = document.getElementById("verdict"), list = document.getElementById("people");
const elo = document.getElementById("elo"), shown = document.getElementById("elo-shown"), score = document.getElementById("score");
let puzzle = null, people = null, points = [], seed = Math.floor(Math.random() * 2 ** 30);
const board = new MoveBoard(guessed);

async function next() {
  seed += 1; list.replaceChildren(); document.getElementById("another").textContent = "Skip";
  try {
    puzzle = await ask("/api/guess", { seed }, "GET");
    people = await ask("/api/moves", { fen: puzzle.before, move: puzzle.last, elo: elo.value }, "GET");
  } catch (error) { verdict.textContent = error.message; return; }
  board.show({ fen: puzzle.fen, last: puzzle.last, legal: Object.fromEntries(people.moves.map(move => [move.move, move.san])) });
  verdict.textContent = `${puzzle.fen.split(" ")[1] === "b" ? "Black" : "White"} to move. What do most players rated ${elo.value} play?`;
  board.words.focus({ preventScroll: true });
}

function guessed(uci, san) {
  const rows = people.moves.map(move => ({ ...move, share: move.probability[0] })).sort((a, b) => b.share - a.share);
  const own = rows.find(row => row.move === uci), found = Math.round(100 * own.share / rows[0].share);
  points.push(found);
  verdict.textContent = `${found} of 100 points: ${san} is played by ${often(own.share)} rated ${elo.value}${own === rows[0] ? ", more than any other move" : `, ${rows[0].san} by ${often(rows[0].share)}`}.`;
  score.textContent = `${Math.round(points.reduce((a, b) => a + b) / points.length)} points on average in ${points.length} ${points.length === 1 ? "position" : "positions"}`;
  board.show({ fen: puzzle.fen, last: puzzle.last });
  board.arrows([{ move: rows[0].move, colour: "blue" }, ...(own === rows[0] ? [] : [{ move: uci, colour: "red" }])]);
  list.replaceChildren(...rows.slice(0, 5).concat(rows.indexOf(own) > 4 ? [own] : []).map(row => {
    const item = document.createElement("li");
    item.textContent = `${row.san} ${row.share < .001 ? "< 0.1" : (100 * row.share).toFixed(1)} %`;
    if (row === own) { item.className = "played"; item.textContent += " (you)"; }
    if (row.move === puzzle.played) item.textContent += `, played in ${puzzle.white} – ${puzzle.black}`;
    return item;
  }));
  const button = document.getElementById("another"); button.textContent = "Next position"; button.focus();
}

elo.addEventListener("input", () => { shown.textContent = elo.value; });
elo.addEventListener("change", () => { points = []; score.textContent = ""; next(); });
document.getElementById("another").addEventListener("click", next);
await next();
page.dataset.ready = "true";
