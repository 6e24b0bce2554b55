"""How probable a player's choices are at a given strength, and how unusual among the choices made at that strength.

In: one decider's decisions and a competence c of the agent, or analysed games and an Elo. Out: ChoiceSequence, which
`skilloscope papers likelihood` shows: log Π p(choice | strength) next to what players of that strength score on the
same problems: mean and variance exactly, the distribution by simulation. [DFHR09 VI] names the first: "the prior
probability that a player of Elo e will make a sequence of moves".

For one set of problems the agent's log p = −c·Σ bᵢ + constant, with bᵢ the scaled loss of the choice: a high percentile
says that less was lost than such an agent mostly loses, a low one that more was. It is evidence, never a verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from skilloscope.chess.human.played import PlayedMoves, played_moves
from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, OptionError, Tally, check_dispersion
from skilloscope.decision import Decisions
from skilloscope.evidence.scales import Scale
from skilloscope.inputs.load import AnalysedDecisions, engine_of
from skilloscope.inputs.pipeline import AnalysedGames, moves_of, playable_games
from skilloscope.models.agent import Agent, ChoiceSets, log_likelihood, scaled_losses
from skilloscope.models.joint import elo_basis, log_alternatives, log_sums
from skilloscope.report.page import Section
from skilloscope.report.study import Study, json_value
from skilloscope.report.table import Column, Table, caveats_table, engine_line, probability_text, skipped_line
from skilloscope.studies.basis import EloBasis

GAME_DISPERSION = {"human": 1.28, "joint": 1.38}
"""The variance of z over games of people at their own rating, by method; tools/sequence_dispersion.py measures it."""
_AT_ONCE = 2_000_000  # draws held in memory at one time


@dataclass(frozen=True)
class Strength:
    """Whose choices are simulated: an agent of competence c, or people of an Elo; and how."""

    c: float | None = None  # the agent's competence; None where people of an Elo take its place
    elo: float | None = None
    dispersion: float = 1.0
    draws: int = 10_000
    seed: int = 1

    def __post_init__(self) -> None:
        for strength in (self.c, self.elo):
            if strength is not None and not (np.isfinite(strength) and strength >= 0):
                raise OptionError(f"a competence or an Elo is a number from 0 on, got {strength}")
        check_dispersion(self.dispersion)
        if self.draws < 100:
            raise OptionError(f"{self.draws} draws are too few for a percentile", hint="give 100 or more")

    def __str__(self) -> str:
        if self.c is None:
            return f"people of Elo {self.elo:.0f}"
        return f"an agent of c = {self.c:.3f}" + (f" (Elo {self.elo:.0f})" if self.elo is not None else "")


@dataclass(frozen=True)
class SequencePart:
    """One sequence (a game, or all games together) next to simulated sequences on the same problems."""

    label: str
    decisions: int
    log_probability: float
    expected: float  # the mean log-probability at that strength
    sd: float
    z: float  # how many standard deviations the log-probability lies above its mean
    percentile: float  # the share of the simulated sequences that are less probable, ties counted half; from 0 to 1
    percentile_se: float
    normal: float  # the same by the normal approximation with the exact mean and variance
    dispersed: float  # the normal one with the variance multiplied by the dispersion between games

    @property
    def percentile_text(self) -> str:
        """The percentile with its error; a share that the draws cannot tell from 0 or 1 only as a bound."""
        if not 0.0005 <= self.percentile < 0.9995:
            return "< 0.1 %" if self.percentile < 0.5 else "> 99.9 %"
        return f"{100 * self.percentile:.1f} ± {100 * self.percentile_se:.1f} %"


@dataclass(frozen=True, eq=False)
class ChoiceSequence(Study):
    """A decider's whole sequence and each game of it, at one strength."""

    decider: str
    model: Mapping[str, Any]
    strength: Strength
    total: SequencePart
    games: Sequence[SequencePart]
    judge: Mapping[str, object] = field(default_factory=dict)  # the engine, and where its answers came from
    head: str = ""

    FIELDS: ClassVar = (
        "decider", "model", "*strength", "total", "games", "extreme_chance", "caution", "skipped", "*judge",
    )  # fmt: skip
    ROWS: ClassVar = "games"
    caveats = (
        "A percentile says how unusual the choices are for one model of one strength. People of that strength are not "
        "that model: they differ from it and from each other; the dispersed percentile allows for how much games do.",
        "Someone is always at the top. Among many sequences that were looked at some are far out by chance, and the "
        "most extreme game of a player is not a representative sample of that player.",
        "It is evidence about choices, never a verdict on a person.",
    )

    @property
    def extreme_chance(self) -> float | None:
        """The chance that among so many games the most extreme |z| (dispersed) is at least as large as here."""
        if not self.games:
            return None
        tails = [2 * min(part.dispersed, 1 - part.dispersed) for part in self.games]
        return float(-np.expm1(len(tails) * np.log1p(-min(tails)))) if min(tails) < 1 else 1.0

    @property
    def caution(self) -> list[str]:
        """What must be said next to the figures."""
        return [*self.caveats, *self.warnings]

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Likelihood of the choices of {self.decider}"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the games and the whole sequence, and the caveats."""
        columns: list[Column[SequencePart]] = [
            Column("", lambda part: part.label, label=True),
            Column("decisions", lambda part: f"{part.decisions:,}"),
            Column("log probability", lambda part: f"{part.log_probability:.2f}"),
            Column("expected", lambda part: f"{part.expected:.2f} ± {part.sd:.2f}"),
            Column("z", lambda part: f"{part.z:+.2f}"),
            Column("percentile", lambda part: part.percentile_text),
            Column("normal", lambda part: probability_text(part.normal)),
            Column("dispersed", lambda part: probability_text(part.dispersed)),
        ]
        title = f"how probable the choices of {self.decider} are for {self.strength}"
        rows = [*self.games, self.total]
        return [Table.of(title, rows, columns, notes=self._notes()), caveats_table(self.caveats)]

    def _notes(self) -> list[str]:
        asked = self.strength
        notes = [
            skipped_line(self.total.decisions, self.skipped),
            f"percentile: of {asked.draws:,} simulated sequences (seed {asked.seed}), the share that is less "
            f"probable; dispersed: with a variance {asked.dispersion:.2f} times the model's",
        ]
        if asked.c is None:
            scale, effort = self.model["scale"], self.model["effort"]["name"]
            low, high = scale["valid"]
            named = f"axis {scale['name']!r}, effort {effort!r}, method {self.model['method']!r}"
            notes.append(f"{named}; {scale['axis']}, fitted from {low:.0f} to {high:.0f}")
        if self.extreme_chance is not None and len(self.games) > 1:
            chance = probability_text(self.extreme_chance)
            notes.append(f"the most extreme of {len(self.games):,} games is so by chance in {chance} of such records")
        return notes

    def sections(self) -> Sequence[Section]:
        """Return the table; a page has the caveats at its end."""
        return [Section.from_table(self.tables()[0])]


@dataclass(frozen=True, eq=False)
class ChoiceLogs:
    """Log-probabilities of all alternatives of choices, end to end, of those that were made, and each one's game."""

    logs: Array
    offsets: Ints
    actual: Array
    groups: Ints  # the game of each choice, by its place among the labels
    labels: Sequence[Any] = ("all",)

    def parts(self, asked: Strength) -> tuple[SequencePart, list[SequencePart]]:
        """Return the whole sequence and each game of it next to the choices of players with these probabilities."""
        mean, variance = sequence_moments(self.logs, self.offsets)
        columns = [self.by_game(column) for column in (np.ones_like(mean), self.actual, mean, variance)]
        simulated = self.simulated(asked.draws, np.random.default_rng(asked.seed))
        named = [(row, str(label)) for row, label in enumerate(self.labels) if label]
        parts = [_part(name, [c[row] for c in columns], simulated[:, row], asked.dispersion) for row, name in named]
        return _part("all", [column.sum() for column in columns], simulated.sum(axis=1), asked.dispersion), parts

    def by_game(self, column: Array) -> Array:
        """Return the sums of each game."""
        return np.asarray(np.bincount(self.groups, weights=column, minlength=len(self.labels)), dtype=np.float64)

    def simulated(self, draws: int, rng: np.random.Generator) -> Array:
        """Return the log-probabilities of so many simulated sequences: rows draws, columns games."""
        sets, sizes = len(self.groups), np.diff(self.offsets)
        # Each set's cumulative probabilities lie between its number and the next: one search finds every draw.
        total = np.cumsum(np.exp(self.logs))
        cumulative = total - np.repeat(np.concatenate([[0.0], total[self.offsets[1:-1] - 1]]), sizes)
        edges = np.minimum(cumulative, 1.0) + np.repeat(np.arange(sets), sizes)
        order = np.argsort(self.groups, kind="stable")
        starts = np.searchsorted(self.groups[order], np.arange(len(self.labels)))
        found = np.empty((draws, len(self.labels)))
        step = max(1, _AT_ONCE // sets)
        for start in range(0, draws, step):
            n = min(step, draws - start)
            at = np.searchsorted(edges, rng.random((n, sets)) + np.arange(sets), side="right")
            drawn = self.logs[np.minimum(at, self.offsets[1:] - 1)]
            found[start : start + n] = np.add.reduceat(drawn[:, order], starts, axis=1)
        return found


def sequence_moments(logs: Array, offsets: Ints) -> tuple[Array, Array]:
    """μᵢ = Σ_a p·log p and σᵢ² = Σ_a p·(log p − μᵢ)² for each decision: the sums over i are the sequence's.

    >>> mean, variance = sequence_moments(np.log([0.5, 0.5, 0.8, 0.2]), np.array([0, 2, 4]))
    >>> mean.round(4), variance.round(4)
    (array([-0.6931, -0.5004]), array([0.    , 0.3075]))
    """
    p = np.exp(logs)
    mean = np.add.reduceat(p * logs, offsets[:-1])
    apart = logs - np.repeat(mean, np.diff(offsets))
    return np.asarray(mean), np.asarray(np.add.reduceat(p * apart**2, offsets[:-1]))


def outcome_log_probabilities(sets: ChoiceSets, c: float, *, k: float = 0.1) -> tuple[Array, Ints]:
    """log p(a|c) of all alternatives, a rule's extra one last, and where each set begins. [DFH13 (2) in logs]"""
    weighted = sets.extra_weight > 0
    counts = np.diff(sets.offsets) + weighted
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    extra = (offsets[1:] - 1)[weighted]
    logs = np.empty(offsets[-1])
    logs[np.delete(np.arange(len(logs)), extra)] = -c * scaled_losses(sets.losses, k=k)
    logs[extra] = np.log(sets.extra_weight[weighted]) - c * scaled_losses(sets.extra_loss[weighted], k=k)
    return _normalised(logs, offsets), offsets


def sequence_probability(decisions: Decisions, strength: Strength, model: Agent | None = None) -> ChoiceSequence:
    """Return log Π p(aᵢ|c) of one decider's choices, and its place among the agent's own sequences. [DFHR09 VI]

    >>> batch = Decisions.from_lists(["Ann"] * 3, [[0.0, -0.1], [0.0, -0.9], [0.0, -0.5]], [0, 0, 1])
    >>> total = sequence_probability(batch, Strength(1.0, draws=1000)).total
    >>> round(float(np.exp(total.log_probability)), 4), round(total.expected, 3), round(total.percentile, 1)
    (0.0866, -1.351, 0.2)
    """
    names = decisions.names()
    if len(names) != 1:
        raise InputError(f"{len(names)} deciders, and a sequence is of one", hint="select one decider's decisions")
    if strength.c is None:
        raise OptionError("an agent has a competence c", hint="a scale gives the c of an Elo")
    batch, c = decisions.at_depths(), float(strength.c)
    model = (model or Agent()).prepared(batch)
    if model.rule == "sampled":
        raise OptionError(
            "the rule sampled draws its extra alternative by the choice: its sequences cannot be simulated",
            hint="use the rule listed, bucket or full",
        )
    sets = model.choice_sets(batch)
    if not len(sets):
        raise InputError(f"no usable decision of {names[0]!r}; skipped: {batch.tally + sets.tally}")
    labels: list[Any] = [None]
    groups = np.zeros(len(sets), dtype=np.int64)
    if "game" in batch.context.column_names:
        known, codes = batch.groups("game")
        used, groups = np.unique(codes[sets.row], return_inverse=True)
        labels = [known[code] for code in used]
    logs, offsets = outcome_log_probabilities(sets, c, k=model.k)
    actual = log_likelihood(sets, c, k=model.k)[:, 0]
    total, parts = ChoiceLogs(logs, offsets, actual, groups.astype(np.int64), labels).parts(strength)
    return ChoiceSequence(names[0], model.about(), strength, total, parts, tally=batch.tally + sets.tally)


def agent_likelihood(judged: AnalysedDecisions, strength: Strength, scale: Scale, model: Agent) -> ChoiceSequence:
    """Return the place of a player's moves among those of the agent of this c, or of this Elo by its scale."""
    decisions, elo = judged.decisions, strength.elo
    c = float(scale.parameter(elo or 0.0)) if strength.c is None else strength.c
    found = sequence_probability(decisions, replace(strength, c=c, dispersion=scale.dispersion), model)
    warnings = scale.warnings(found.model, decisions.about.get("settings", {}))
    if elo is not None and scale.extrapolates(elo):
        warnings.append(f"Elo {elo:.0f} is outside the range in which the scale was fitted")
    engine = engine_of(decisions)
    judge = {"engine": engine, "positions": judged.as_dict()}
    return replace(found, warnings=warnings, judge=judge, head=f"{judged}; {engine_line(engine)}")


def elo_likelihood(found: AnalysedGames, player: str, strength: Strength) -> ChoiceSequence:
    """Return the place of a player's moves among those of people of this Elo on the same positions."""
    asked, elo = found.asked, float(strength.elo or 0.0)
    if asked.method not in GAME_DISPERSION:
        raise OptionError(f"the method {asked.method!r} gives no probability of a move", hint="joint, human or agent")
    strength = replace(strength, dispersion=GAME_DISPERSION[asked.method])
    rows = np.flatnonzero(playable_games(found.games))
    games = found.games.select(rows)
    moves = played_moves(games, wanted=moves_of(games, frozenset([player])))
    weights = asked.effort.weights
    if found.judged is not None and found.judged.analyses is not None and weights is not None:
        moves = moves.with_engine(found.judged.analyses.of_games(rows), len(weights.depths))
    if not moves.free.any():
        raise InputError(f"no move of {player!r} that was a choice; skipped: {games.tally}")
    counts, free = np.diff(moves.choices.offsets), moves.free
    kept = move_logs(moves, found, elo)[np.repeat(free, counts)]
    offsets = np.concatenate([[0], np.cumsum(counts[free])]).astype(np.int64)
    used, groups = np.unique(moves.game[free], return_inverse=True)
    names = np.array(moves.games.headers["game"].to_pylist(), dtype=object)[used].tolist()
    actual = kept[offsets[:-1] + moves.chosen[free]]
    total, parts = ChoiceLogs(kept, offsets, actual, groups.astype(np.int64), names).parts(strength)
    tally, warnings = games.tally + Tally(), list(found.told)
    tally.count("forced", int((~moves.free).sum()))
    if asked.axis.extrapolates(elo):
        warnings.append(f"Elo {elo:.0f} is outside the range in which the axis was fitted")
    basis = EloBasis.of(found)
    return ChoiceSequence(
        decider=player,
        model={"method": basis.method, "effort": json_value(basis.effort), "scale": json_value(basis.scale)},
        strength=strength,
        total=total,
        games=parts,
        judge={"positions": found.judged.as_dict()} if found.judged else {},
        head=str(found.judged or ""),
        warnings=warnings,
        tally=tally,
    )


def move_logs(moves: PlayedMoves, found: AnalysedGames, elo: npt.ArrayLike) -> Array:
    """Return log p of every legal move of the positions at an Elo, one or one a position, as the axis has it."""
    at = np.broadcast_to(np.asarray(elo, dtype=float), len(moves))
    offsets, owner = moves.choices.offsets, np.repeat(np.arange(len(moves)), np.diff(moves.choices.offsets))
    logs = _normalised((moves.choices.coefficients.astype(float) * elo_basis(at)[owner]).sum(axis=1), offsets)
    weights = found.asked.effort.weights
    if moves.joint is not None and moves.judged is not None and weights is not None:
        own = moves.sources(found.asked.axis.opening_moves)[moves.judged] == 2
        judged = at[moves.judged][own]
        both = log_alternatives(moves.joint.select(own), weights, judged, elo_basis(judged))
        logs[np.isin(owner, moves.judged[own])] = both  # judged moves are in the order of the moves
    return logs


def _normalised(logs: Array, offsets: Ints) -> Array:
    """Return the logs less the log of the sum of their exponentials, set by set."""
    return np.asarray(logs - np.repeat(log_sums(logs, offsets), np.diff(offsets)))


def _part(label: str, sums: Sequence[float], simulated: Array, dispersion: float) -> SequencePart:
    """Return a part from its sums: decisions, log-probability, its mean and its variance."""
    decisions, actual, mean, variance = (float(value) for value in sums)
    sd, n = float(np.sqrt(variance)), len(simulated)
    # Sums of the same terms in another order differ by rounding: such draws are ties.
    apart = 1e-9 * max(1.0, abs(actual))
    percentile = float(np.mean(simulated < actual - apart) + 0.5 * np.mean(np.abs(simulated - actual) <= apart))
    # The error after Agresti and Coull is never 0, as no number of draws proves a share of 0.
    p = (n * percentile + 2) / (n + 4)
    z = (actual - mean) / sd if sd > 0 else 0.0
    error, normal, dispersed = np.sqrt(p * (1 - p) / (n + 4)), norm.cdf(z), norm.cdf(z / np.sqrt(dispersion))
    return SequencePart(
        label, round(decisions), actual, mean, sd, z=z, percentile=percentile, percentile_se=float(error),
        normal=float(normal), dispersed=float(dispersed),
    )  # fmt: skip
