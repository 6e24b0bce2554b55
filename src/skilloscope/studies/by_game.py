"""One player's strength in each game, next to the opponent's; and one game move by move.

In: analysed games, for estimates on the Elo axis, or decisions with a `game` column, for the competence c of the
papers' agent. Out: `ByGame`; its chart is the within-game chart of [DFH13 VII.B]. One game is little evidence: every
estimate starts from the prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from skilloscope.chess.moves import moves_uci, san, sans
from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import is_frame
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import as_decisions
from skilloscope.evidence import Evidence, EvidenceTable, Normal, Posterior, Prior, Uniform, agent_evidence
from skilloscope.evidence.axis import ELO, elo_posterior
from skilloscope.evidence.periods import running_competence
from skilloscope.evidence.table import SECOND_READINGS
from skilloscope.inputs.load import AnalysedDecisions, engine_of, resolve_player
from skilloscope.inputs.pipeline import AnalysedGames, GamesGiven, analysed_given, elo_evidence
from skilloscope.inputs.running_elo import FORM, RunningElo
from skilloscope.models.agent import Agent
from skilloscope.report.charts import COLOURS, GREY, Chart, Figure, Lines, Panels, Series
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, EloAndSd, Table, number, plural, skipped_line
from skilloscope.results.columns import PGN_SCORES
from skilloscope.studies.basis import AgentBasis, Basis, EloBasis, PriorUsed, elo_warnings, left_out
from skilloscope.studies.parts import AgentPart, Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ONE_SIDED = "game without usable decisions of both sides"
_EVERY = 60  # games of a player, beyond which one of them hardly moves what all say: it is then not left out
_NOTE = (
    "one game is little evidence: every estimate starts from the player's other games; the last row treats opponents "
    "as equally strong"
)
_MANY = 40  # games, beyond which symbols and lines are drawn smaller and fainter
_SCORES = {1.0: "1", 0.5: "½", 0.0: "0", None: "–"}
_RESULTS = (
    (1.0, "win", "s", COLOURS[2]),
    (0.5, "draw", "o", COLOURS[0]),
    (0.0, "loss", "X", COLOURS[1]),
    (None, "unknown result", "D", "#888888"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class EloSide(Part):
    """One side's Elo in one game or several."""

    FIELDS: ClassVar = ("*level", "extrapolated", "header_elo", "decisions")

    @property
    def level(self) -> EloAndSd:
        """The Elo with its interval."""
        return EloAndSd.of(self.posterior, self.mass)


@dataclass(frozen=True, eq=False)
class GamePoint:
    """One game: the strength of both sides in it, and the result."""

    game: str
    date: str | None
    opponent: str
    score: float | None
    """The player's score: 1, 0.5 or 0; None where the result is unknown."""
    own: Part
    other: Part
    marked: bool = False
    """Whether it was against the highlighted opponent."""


@dataclass(frozen=True)
class ChoiceEstimate:
    """The papers' agent after one choice: c, and the loss and place of the choice, None if it is not listed."""

    place: int | None
    """In the list of alternatives, 0 the best."""
    loss: float | None
    c: float
    sd: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.c:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, eq=False)
class FollowedMove:
    """One move of a game: its probability given the player's earlier moves, and the estimate after it."""

    player: str
    ply: int
    move: str | None
    """In chess the move in standard algebraic notation, else None."""
    probability: float | None
    """None where the agent cannot use the choice."""
    decisions: int
    """How many moves of this player have counted so far."""
    estimate: EloAndSd | ChoiceEstimate

    FIELDS: ClassVar = ("player", "ply", "move", "probability", "decisions", "*estimate")

    @property
    def band(self) -> tuple[float, float, float]:
        """The mean and the interval of the estimate."""
        one = self.estimate
        return (one.c, one.low, one.high) if isinstance(one, ChoiceEstimate) else (one.elo, one.elo_low, one.elo_high)

    @property
    def loss(self) -> float | None:
        """What the choice lost against the best one, as the agent reads it."""
        return self.estimate.loss if isinstance(self.estimate, ChoiceEstimate) else None


@dataclass(frozen=True, eq=False)
class FollowedGame:
    """One game move by move: each player's estimate after every move that was a choice."""

    game: str
    moves: Sequence[FollowedMove]
    mass: float
    prior: PriorUsed | str
    about: Mapping[str, object] = field(default_factory=dict)
    """What JSON has besides: the agent's model, and what was left out."""

    FIELDS: ClassVar = ("game", "*about", "mass", "prior", "moves")

    @property
    def level(self) -> str:
        """What is estimated, with the mass of its interval."""
        return f"{'c' if self.about else 'Elo'} ({100 * self.mass:g} % interval)"

    def table(self) -> Table:
        """Return a row for each move."""
        columns = [
            Column("move", _numbered, label=True),
            Column[FollowedMove]("player", lambda move: move.player, label=True),
            *([Column[FollowedMove]("loss", lambda move: number(move.loss, 2))] if self.about else []),
            Column("probability", lambda move: number(move.probability, 3)),
            Column(self.level, lambda move: str(move.estimate)),
            Column("decisions" if self.about else "moves", lambda move: str(move.decisions)),
        ]
        note = "probability: of the move, given the player's earlier moves; the estimate is that after the move"
        return Table.of(f"{self.game}, move by move", self.moves, columns, notes=[note])

    def figure(self) -> Figure:
        """Return the estimates after every move; below them the losses, as the agent reads them."""
        chess = any(move.move for move in self.moves)
        lines, losses = [], []
        for place, player in enumerate(dict.fromkeys(move.player for move in self.moves)):
            own = [move for move in self.moves if move.player == player]
            at = np.array([1 + move.ply / (2 if chess else 1) for move in own])
            mean, low, high = np.array([move.band for move in own]).T
            lines.append(Series(player, at, mean, low, high, place, step=True))
            loss = np.array([move.loss for move in own], dtype=float)
            losses.append(Series("", at, loss, colour=place, look="."))
            unlisted = at[np.isnan(loss)]
            losses.append(Series("", unlisted, np.zeros(len(unlisted)), colour=place, look="x"))
        unit = "move" if chess else "decision"
        chart: Chart = Lines(lines, unit, self.level, height=4.0, whole_x=True)
        if self.about:
            lost = Lines(losses, unit, "loss", y_limits=(0.0, None), whole_x=True)
            chart = Panels([chart, lost], ratios=(3, 1), share_x=True)
        caption = f"Posterior after every {unit}" + ("; below, the losses (× unlisted)." if self.about else ".")
        return Figure(f"{self.game}, move by move", chart, caption)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ByGame(Study):
    """The games of one player, each with the strength of both sides, and all of them together."""

    player: str
    mark: str | None
    """The highlighted opponent."""
    games: Sequence[GamePoint]
    overall: Part
    """The player in all these games."""
    opponents: Part
    """All opponents together, as if they were equally strong."""
    basis: Basis
    followed: FollowedGame | None = None

    FIELDS: ClassVar = ("player", "mark", "*basis", "overall", "opponents", "games", "skipped", "followed")
    ROWS: ClassVar = "games"

    def __repr__(self) -> str:
        return f"<ByGame: {plural(len(self.games), 'game')} of {self.player}>"

    @property
    def title(self) -> str:
        """The title of the page."""
        return f"{self.player}: {plural(len(self.games), 'game')}"

    @property
    def head(self) -> str:
        """Where the engine's answers came from."""
        return self.basis.head

    @property
    def caveats(self) -> Sequence[str]:
        """What the study cannot tell."""
        return (
            "Why a game was played as it was. A low point may be due to illness, time trouble, a hard position, a "
            "settled result or chance; nothing here distinguishes them.",
            "Which of two games was played better, where their standard deviations overlap: a game has about thirty "
            "decisions.",
            "Anything about a person. The chart may raise a question; it answers none.",
        )

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return a row for each game, the last for all of them; and the moves of the game that was asked for."""
        together = GamePoint("all games", "", "", None, self.overall, self.opponents)
        unit, digits = f"{self.basis.unit}s", self.basis.digits
        level = f"{self.basis.name} ({100 * self.basis.mass:g} % interval)"
        columns: list[Column[GamePoint]] = [
            Column("game", lambda point: point.game, label=True),
            Column("date", lambda point: "–" if point.date is None else point.date, label=True),
            Column("opponent", lambda point: point.opponent + (" ●" if point.marked else ""), label=True),
            Column("score", lambda point: "" if point is together else _SCORES[point.score]),
            Column(f"{self.player}: {level}", lambda point: point.own.text(digits)),
            Column(unit, lambda point: f"{point.own.decisions:,}"),
            Column(f"opponent: {level}", lambda point: point.other.text(digits)),
            Column(unit, lambda point: f"{point.other.decisions:,}"),
        ]
        rows = [*self.games, together]
        sides = [side for point in rows for side in (point.own, point.other)]
        used = self.overall.decisions + self.opponents.decisions
        edges, outside = [side.posterior.edge for side in sides], any(side.extrapolated for side in sides)
        notes = [skipped_line(used, self.skipped, what=unit), *self.basis.notes(edges, extrapolated=outside), _NOTE]
        marked = f" (● against {self.mark})" if self.mark else ""
        title = f"{self.basis.heading}; {self.player}, game by game{marked}"
        return [Table.of(title, rows, columns, notes=notes), *([self.followed.table()] if self.followed else [])]

    def figures(self) -> Sequence[Figure]:
        """Return the chart of all games, and the game that was asked for."""
        caption = (
            f"Posterior mean of {self.basis.name} of both sides in each game; thin lines are one standard deviation. "
            "One game is little evidence, so its point is shrunk towards what the player's other games say."
            + (f" Filled (●): against {self.mark}." if self.mark else "")
        )
        return [Figure("Each game", _Games(self), caption), *([self.followed.figure()] if self.followed else [])]

    def sections(self) -> Sequence[Section]:
        """Return each figure with its table below it."""
        both = zip(self.figures(), self.tables(), strict=True)
        return [one for figure, table in both for one in (Section.from_figure(figure), Section.from_table(table))]


def by_game(
    what: Decisions | GamesGiven,
    player: str,
    *,
    game: str | None = None,
    highlight: str | None = None,
    mass: float = 0.95,
    model: Agent | None = None,
    **options: Any,
) -> ByGame:
    """Estimate one player's strength in each game, next to the opponent's.

    Parameters
    ----------
    what
        Games, PGN files, or decisions with a `game` column (a pandas or polars frame of them too).
    player
        The player, or a part of the name that nobody else has.
    game
        The id of a game to show move by move too, e.g. `games.pgn#12`.
    highlight
        An opponent whose games are marked.
    mass
        The probability of the credible intervals.
    model
        The agent, for decisions.
    **options
        For games: `effort` (`instant` needs no engine), `method` (`joint`, `human`), `prior` (`population`, `flat`,
        `header`), `axis`, `aliases`, and for the engine `engine`, `store`, `imports`, `workers`, `minutes`.

    Returns
    -------
    ByGame
        On the Elo axis for games, as `skilloscope by-game` shows it; the agent's competence c for decisions.

    >>> import skilloscope as sk
    >>> study = sk.by_game(sk.demo_games(), "c = 1.4", effort="instant")
    >>> len(study.games), study.games[0].opponent, round(study.overall.posterior.mean)
    (9, 'simulated, c = 1.0', 1343)
    """
    if isinstance(what, Decisions) or is_frame(what):
        if options:
            raise InputError(f"decisions have no {' and no '.join(sorted(options))}", hint="give the games themselves")
        return competence_by_game(as_decisions(what), player, model, mark=highlight, game=game, mass=mass)
    found, (name,) = analysed_given(what, [player], mass=mass, both_sides=True, **options)
    return elo_by_game(found, name, mark=highlight, game=game)


def elo_by_game(found: AnalysedGames, player: str, *, mark: str | None = None, game: str | None = None) -> ByGame:
    """Return a player's games on the Elo axis; a game in which one side has no move that counts is left out."""
    evidence = elo_evidence(found, ("player", "game"))
    tally, priors = left_out(found, evidence), game_priors(found, evidence.main.groups())
    of_game: dict[str, dict[str, EvidenceTable]] = {}
    for (name, label), group in evidence.main.groups().items():
        of_game.setdefault(label, {})[name] = group
    points, together = [], list[tuple[EvidenceTable, EvidenceTable]]()
    for header in found.games.headers.to_pylist():
        sides = of_game.get(header["game"], {})
        others = [name for name in sides if name != player]
        if player not in sides or len(others) != 1:
            tally.count(ONE_SIDED)
            continue
        groups = sides[player], sides[others[0]]
        together.append(groups)
        white = PGN_SCORES.get(header["result"] or "")
        score = white if white is None or header["white"] == player else 1.0 - white
        own, other = (
            _elo_side(found, group, priors[name, header["game"]])
            for name, group in zip((player, *others), groups, strict=True)
        )
        points.append(GamePoint(header["game"], header["date"], others[0], score, own, other))
    warnings = elo_warnings(found, evidence)
    points, mark = _marked(points, player, mark, tally)
    overall, opponents = (_elo_side(found, EvidenceTable.concat(side)) for side in zip(*together, strict=True))
    return ByGame(
        player=player,
        mark=mark,
        games=points,
        overall=overall,
        opponents=opponents,
        basis=EloBasis.of(found, warnings=warnings),
        followed=follow_elo(found, game) if game else None,
        tally=tally,
        warnings=warnings,
    )


def competence_by_game(
    decisions: Decisions | AnalysedDecisions,
    player: str,
    model: Agent | None = None,
    *,
    mark: str | None = None,
    game: str | None = None,
    prior: Prior | None = None,
    mass: float = 0.95,
) -> ByGame:
    """Return a player's games by the papers' agent: own c̄ next to the opponent's. [DFH13 VII.B]

    A game in which one side has no usable decision is left out and counted. Games come in their given order.
    """
    analysed = decisions if isinstance(decisions, AnalysedDecisions) else None
    every = decisions.decisions if isinstance(decisions, AnalysedDecisions) else decisions
    player, prior = resolve_player(player, every.names()), prior or Uniform(0.0, 4.0)
    games = np.array([str(label) for label in every.column("game").to_pylist()])
    own_games = games[every.decider == every.deciders.index(player)]
    batch = every.select(np.isin(games, own_games)).at_depths()
    table = agent_evidence(batch, model, by=["game", "decider"], span=(prior.low, prior.high))
    together = [Evidence.zero(table.grid), Evidence.zero(table.grid)]
    points, tally = [], table.tally + Tally()
    for label, part in batch.group_by("game").items():
        others = [name for name in part.names() if name != player]
        sides = table[label, player], sum((table[label, name] for name in others), Evidence.zero(table.grid))
        if not all(side.decisions for side in sides):
            tally.count(ONE_SIDED)
            continue
        together = [total + side for total, side in zip(together, sides, strict=True)]
        own, other = (_agent_side(side, prior, mass) for side in sides)
        chosen = part.select(part.decider == part.deciders.index(player))
        date, opponent, result = (_first(chosen, name) for name in ("date", "opponent", "result"))
        score = None if result is None else float(result)
        points.append(GamePoint(str(label), date and str(date), opponent or " and ".join(others), score, own, other))
    points, mark = _marked(points, player, mark, tally)
    return ByGame(
        player=player,
        mark=mark,
        games=points,
        overall=_agent_side(together[0], prior, mass),
        opponents=_agent_side(together[1], prior, mass),
        basis=AgentBasis(table.about, mass, prior=str(prior), engine=engine_of(every), analysed=analysed),
        followed=follow_decisions(every, game, model, prior=prior, mass=mass) if game else None,
        tally=tally,
    )


def follow_elo(found: AnalysedGames, game: str) -> FollowedGame:
    """Return both players' Elo after every move of one game, by its id."""
    names = found.games.headers["game"].to_pylist()
    if game not in names:
        raise InputError(f"no game {game!r}", hint=f"the games: {'; '.join(names[:10])}")
    asked, row = found.asked, np.array([names.index(game)])
    one = found.of_games(row)
    groups = elo_evidence(one, ("player", "ply")).main.groups()
    written = sans(one.games.headers["start_fen"][0].as_py(), moves_uci(one.games.moves).to_pylist())
    sides: dict[str, RunningElo] = {}
    moves: list[FollowedMove] = []
    priors = game_priors(found, elo_evidence(found, ("player", "game")).main.groups())
    for (name, ply), group in sorted(groups.items(), key=lambda item: item[0][1]):
        prior = priors[name, game]
        side = sides.setdefault(name, RunningElo(asked.axis, asked.effects, prior, asked.elo.person))
        before = side.posterior or elo_posterior(np.zeros_like(ELO), prior)
        own = {source: rows[0] for source, rows in group.by_person()[name].items()}
        said = np.asarray(sum(curve for source, curve in own.items() if source not in SECOND_READINGS))
        for source, curve in own.items():
            side.add(source, curve)
        count = 1 + sum(move.player == name for move in moves)
        estimate = EloAndSd.of(side.posterior or before, asked.mass)
        moves.append(FollowedMove(name, ply, written[ply], _expected(before, said), count, estimate))
    return FollowedGame(game, moves, asked.mass, PriorUsed.of(asked))


def follow_decisions(
    decisions: Decisions,
    game: str | None = None,
    model: Agent | None = None,
    *,
    prior: Prior | None = None,
    mass: float = 0.95,
) -> FollowedGame:
    """Return every decider's c after each decision of one game: of the only one, or of the one with this id."""
    if game is not None:
        parts = {str(label): part for label, part in decisions.group_by("game").items()}
        if game not in parts:
            raise InputError(f"no game {game!r} with decisions", hint=f"the games: {'; '.join(list(parts)[:10])}")
        decisions = parts[game]
    running = running_competence(decisions, model, prior=prior, mass=mass)
    batch = running.batch
    fens, uci = _column(batch, "fen"), _column(batch, "move")
    written = [san(fen, move) if fen and move else None for fen, move in zip(fens, uci, strict=True)]
    loss = batch.chosen_loss()
    moves = []
    for row, code in enumerate(batch.chosen.tolist()):
        posterior = (float(column[row]) for column in (running.c, running.sd, running.low, running.high))
        estimate = ChoiceEstimate(code if code >= 0 else None, _known(loss[row]), *posterior)
        player, count = batch.deciders[batch.decider[row]], int(running.decisions[row])
        ply, probability = int(running.ply[row]), _known(running.probability[row])
        moves.append(FollowedMove(player, ply, written[row], probability, count, estimate))
    name = next((str(label) for label in _column(batch, "game") if label is not None), "")
    about = {"model": running.about, "skipped": running.tally}
    return FollowedGame(name, moves, mass, running.prior, about)


@dataclass(frozen=True, eq=False)
class _Games(Chart):
    """The player's strength in each game against the opponent's: symbols by result, a marked opponent filled."""

    study: ByGame
    size: ClassVar = (7.5, 6.0)

    def draw(self, axes: Axes) -> None:
        """Draw a point for each game."""
        study, what = self.study, self.study.basis.name
        for score, name, marker, colour in _RESULTS:
            for marked in (False, True):
                points = [point for point in study.games if point.score == score and point.marked == marked]
                if points:
                    self._draw_points(axes, points, name + " ●" * marked, marker, colour)
        axes.axvline(study.overall.posterior.mean, linestyle="--", color=GREY, linewidth=1.1, zorder=1)
        axes.axhline(study.opponents.posterior.mean, linestyle=":", color=GREY, linewidth=1.1, zorder=1)
        axes.set_xlabel(f"{what} of {study.player} in the game (dashed: all games together)")
        axes.set_ylabel(f"{what} of the opponent (dotted: all together)")
        axes.set_xlim(*self._limits([point.own.posterior for point in study.games]))
        axes.set_ylim(*self._limits([point.other.posterior for point in study.games]))
        axes.legend(loc="lower center", fontsize=9, bbox_to_anchor=(0.5, 1.0), ncols=5, handletextpad=0.2)

    def _draw_points(self, axes: Axes, points: Sequence[GamePoint], name: str, marker: str, colour: str) -> None:
        sides = [point.own for point in points], [point.other for point in points]
        x, y = ([one.posterior.mean for one in side] for side in sides)
        wide, high = ([one.posterior.sd for one in side] for side in sides)
        size, alpha = (5.5, 0.13) if len(self.study.games) > _MANY else (8, 0.28)
        face = colour if points[0].marked or self.study.mark is None else "white"
        axes.errorbar(x, y, high, wide, fmt="none", ecolor=colour, elinewidth=0.7, alpha=alpha, zorder=2)
        axes.plot(x, y, marker, color=colour, markerfacecolor=face, markersize=size, markeredgewidth=1.4, label=name)

    def _limits(self, posteriors: Sequence[Posterior]) -> tuple[float, float]:
        """Return limits that hold every point and its sd; a competence is never negative."""
        low, high = min(one.mean - one.sd for one in posteriors), max(one.mean + one.sd for one in posteriors)
        room = 0.04 * (high - low)
        return low - room if self.study.basis.name == "Elo" else max(0.0, low - room), high + room


def _marked(
    points: Sequence[GamePoint], player: str, mark: str | None, tally: Tally
) -> tuple[list[GamePoint], str | None]:
    """Return the points with those of the highlighted opponent marked, and this opponent's full name."""
    if not points:
        raise InputError(f"no game of {player!r} with usable moves of both sides; skipped: {tally}")
    opponents = list(dict.fromkeys(point.opponent for point in points))
    if mark is not None and mark not in opponents:
        near = [name for name in opponents if mark.casefold() in name.casefold()]
        if len(near) != 1:
            raise InputError(f"no opponent {mark!r} to highlight", hint=f"the opponents: {'; '.join(opponents)}")
        mark = near[0]
    return [replace(point, marked=point.opponent == mark) for point in points], mark


def game_priors(found: AnalysedGames, groups: Mapping[tuple[str, str], EvidenceTable]) -> dict[tuple[str, str], Prior]:
    """Return the prior of each player in each game: what the player's other games say, widened by FORM.

        E_g ~ N(mean, sd² + FORM²),   mean and sd of the posterior from all games of the player but g

    So a game is compared with the player, not with everybody. Where there is no other game, the player's own prior.
    """
    games: dict[str, dict[str, EvidenceTable]] = {}
    for (name, game), rows in groups.items():
        games.setdefault(name, {})[game] = rows
    priors: dict[tuple[str, str], Prior] = {}
    for name, own in games.items():
        usual = found.asked.posterior(EvidenceTable.concat([*own.values()])) if len(own) > _EVERY else None
        for game in own:
            others = [rows for other, rows in own.items() if other != game]
            known = usual or (found.asked.posterior(EvidenceTable.concat(others)) if others else None)
            alone = found.asked.prior_of(own[game])
            if known is not None:
                alone = Normal(known.mean, float(np.hypot(known.sd, FORM)), alone.low, alone.high)
            priors[name, game] = alone
    return priors


def _elo_side(found: AnalysedGames, group: EvidenceTable, prior: Prior | None = None) -> EloSide:
    """Return the Elo of some moves of one person, or of several as if they were equally strong."""
    posterior = found.asked.posterior(group) if prior is None else found.asked.elo.posterior(group, prior)
    return EloSide(
        decisions=group.moves,
        mass=found.asked.mass,
        posterior=posterior,
        header_elo=group.header_elo,
        extrapolated=found.asked.axis.extrapolates(posterior.mean),
    )


def _agent_side(side: Evidence, prior: Prior, mass: float) -> AgentPart:
    return AgentPart(decisions=side.decisions, mass=mass, posterior=side.posterior(prior))


def _expected(posterior: Posterior, curve: Array) -> float:
    """∫ p(a|E) p(E|before) dE: how probable the move was before it was made."""
    weight = posterior.density / posterior.density.sum()
    return float(weight @ np.exp(np.interp(posterior.at, ELO, curve)))


def _column(batch: Decisions, name: str) -> list[Any]:
    """Return a context column as a list; where there is none every entry is None."""
    return batch.context.column(name).to_pylist() if name in batch.context.column_names else [None] * len(batch)


def _first(batch: Decisions, name: str) -> Any:
    return next((value for value in _column(batch, name) if value is not None), None)


def _numbered(move: FollowedMove) -> str:
    return f"{move.ply // 2 + 1}{'.' if move.ply % 2 == 0 else '…'} {move.move or ''}".strip()


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
