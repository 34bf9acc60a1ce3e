"""The page of `check`: verdicts first, then pictures, then the exact numbers and how to verify them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from xml.etree.ElementTree import Element

from relu_cert.claims import STATEMENTS, Result, Verdict
from relu_cert.claims.optimal_set import staircase
from relu_cert.data.dataset import Dataset
from relu_cert.data.windows import Windows
from relu_cert.evidence import ByAxes, Cover, Leaders, Outputs
from relu_cert.exact import rational, sqrt_lower, sqrt_upper
from relu_cert.figures import at_least, at_most, count, decimal, downwards, entries, one_number, short
from relu_cert.free import free_parts, free_text
from relu_cert.problem.loss import LOGISTIC, SOFTMAX
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import BallSet, Exactly, Facts, UnknownSet
from relu_cert.report.check import CheckReport
from relu_cert.report.filters import Confusion, described, directions, free_in_lines, in_words_of
from relu_cert.report.headline import because
from relu_cert.report.html.functions import function_figure, neurons_figure, scatter_figure
from relu_cert.report.html.neurons import (
    dual_figure,
    fan_figure,
    filters_figure,
    heaviest_first,
    neuron_name,
    neurons_chart,
    responses_figure,
    say_filters,
    strips,
)
from relu_cert.report.html.optimal_set import shadow, shadow_figure, shape
from relu_cert.report.html.page import (
    Head,
    Section,
    beside,
    e,
    figures,
    fold,
    formula_section,
    of_certificate,
    of_source,
    page,
    re_derived,
    table,
    unbroken,
    verify_section,
    view,
)
from relu_cert.report.html.proof import independence_figure, sensitivity_section, sphere_figure
from relu_cert.report.html.set_figures import ranges_figure, set_figures, wire_figures
from relu_cert.report.optimal_set import optimal_set_view
from relu_cert.report.shown import Sentence, first_true, proved, refuted
from relu_cert.report.terminal import told_once
from relu_cert.words import of_groups

SYMBOLS = {Verdict.PROVED: "✓", Verdict.REFUTED: "✗", Verdict.UNDECIDED: "?"}
OF_GROUPS = {name: of_groups(text) for name, text in STATEMENTS.items()}
MOST_EXACT = 60  # neurons, rows and the like that are listed in full
MOST_DIGITS = 400


def check_page(report: CheckReport) -> str:
    """The report of one run of check, as one HTML page."""
    sections = [
        verdict_section(report.results, _statements(report)),
        _network(report),
        _proof(report),
        _optimal_set(report),
        _path(report),
        sensitivity_section(report.facts) if _said(report, "sensitivity") else None,
        *([formula_section(report.formulas.equations())] if report.exact and report.formulas is not None else []),
        _numbers(report),
        _verify(report),
    ]
    return page(report.name, _head(report), say_filters(sections) if report.source.conv else sections)


def _statements(report: CheckReport) -> dict[str, str]:
    """What the claims say, in words that fit the problem."""
    if report.facts.problem.kind == "cgl":
        return OF_GROUPS
    return {name: in_words_of(report.source, text) for name, text in STATEMENTS.items()}


def verdict_section(results: Sequence[Result], statements: Mapping[str, str] = STATEMENTS) -> Section:
    """The verdicts, one row for each claim: verdict, what the claim says, and why."""
    body = []
    for r, why in zip(results, told_once(results), strict=True):
        badge = e("span", f"{SYMBOLS[r.verdict]} {r.verdict}", cls=f"verdict {str(r.verdict).lower()}")
        named = [e("strong", r.claim), e("span", unbroken(statements.get(r.claim, "")), cls="statement")]
        by = e("span", f"by {r.evidence}", cls="evidence") if r.evidence else None
        body.append(e("tr", e("td", badge), e("td", named), e("td", unbroken(why), by)))
    head = e("thead", e("tr", [e("th", name, scope="col") for name in ("Verdict", "Claim", "Why")]))
    return Section("verdicts", "Verdicts", (e("table", head, e("tbody", body), cls="verdicts"),))


def _head(report: CheckReport) -> Head:
    facts, problem = report.facts, report.facts.problem
    if problem.kind != "cgl":
        kind = f"{'gated ' * (problem.kind == 'gated')}{report.source.activation}"
        size = f"{count(problem.points, 'point')} with {count(report.features, 'feature')}"
        size += ", the last one the bias" if report.source.bias else ""
        convolutional = "convolutional " if report.source.conv else ""
        given = (report.data and described(report.data)) or size
        text = f"A two-layer {convolutional}{kind} network for {given}"
        text += f" and {problem.targets} outputs" * (problem.targets > 1)
    else:
        text = f"A constrained group lasso with {problem.n} rows and {count(len(problem.blocks), 'group')}"
    value, top = facts.value, facts.lambda_max
    root = sqrt_upper(top.squared)
    exact = f"= {short(root, 14)}" if root * root == top.squared else f"≈ {decimal(root, 6)}"
    if top.least is not None:
        exact = f"≥ {downwards(sqrt_lower(top.least), 6)}"
    known = "exactly" if value.lower == value.upper else "proved"
    wide = "active groups" if problem.kind == "cgl" else in_words_of(report.source, "neurons of this network")
    shown = [
        ("optimal value p*", one_number(value.lower, value.upper, 10), known),
        ("relative gap", at_most(value.relative_gap) if value.relative_gap else "0", "an upper bound"),
        ("width", str(len(facts.primal.neurons)), wide),
        ("λ", short(facts.lam, 14), f"λmax {exact}"),
        *_pattern_card(report),
    ]
    lead = f"{text}{_variant(facts)}; what is known about it is proved."
    return Head(report.headline, lead, shown, _minimised(problem, "data points" if report.source.pool else "rows"))


def _minimised(problem: Problem, points: str) -> str:
    """The objective of a network in a line."""
    if problem.kind == "cgl":
        return ""
    losses = {LOGISTIC: "Σ log(1 + exp(−y f(z)))", SOFTMAX: "Σ log Σ_c exp(f_c(z)) − f_class(z)"}
    loss = losses.get(problem.loss, "½ Σ (f(z) − y)²")
    penalty = "λ Σ |w|" if problem.kind == "gated" else "λ/2 times the sum of the squared weights of both layers"
    elastic = " + δ/2 Σ |w|²" if problem.delta else " + λ/2 b², b the output bias" if problem.roots else ""
    among = "with these patterns" if problem.some else "of any width"
    return f"Minimised over networks f {among}: {loss} over the {points} + {penalty}{elastic}; no division by n."


def _pattern_card(report: CheckReport) -> list[tuple[str, str, str]]:
    """How many patterns there are, and, over some of them only, how far that is from the global optimum."""
    problem = report.facts.problem
    listed = problem.listed
    if listed is not None:
        return [("activation patterns", f"{len(listed):,}", f"{listed.open_cells:,} open cells")]
    if problem.patterned is None:
        return []
    found = [("activation patterns", f"{len(problem.patterned.patterns):,}", "of all that there are")]
    if (away := report.distance) is not None:
        least = f"; at least {at_least(away.lower)}" if away.lower > 0 else ""
        above = at_most(max(away.upper, Fraction(0)))
        found.append(("above the global optimum", above, f"at most, over all patterns{least}"))
    return found


def _variant(facts: Facts) -> str:
    """What was minimised, and over what."""
    problem = facts.problem
    names = {LOGISTIC: ", with the logistic loss", SOFTMAX: ", with the softmax cross-entropy"}
    loss = names.get(problem.loss, "")
    if problem.free:
        loss += ", with a decayed output bias" if problem.roots else f", {free_text(problem.free)} free of penalty"
    penalty = f", with an elastic penalty, δ = {short(problem.delta)}" if problem.delta else ""
    found = "trained to its global optimum" if facts.value.reached else "the best one found"
    only = f" over {count(len(problem.some), 'activation pattern')} only" if problem.some else ""
    return f"{loss}{penalty}, {found}{only}"


def _network(report: CheckReport) -> Section:
    facts = report.facts
    if report.outputs is not None:
        return _outputs(report, report.outputs)
    seen = view(facts, report.data)
    windows = report.source.windows
    shown = [neurons_chart(facts, report.names)] if windows is None else filter_figures(report, windows)
    if seen is not None:
        whole = [function_figure(seen), scatter_figure(seen)]
        shown = [*whole, *shown, neurons_figure(seen), fan_figure(seen)]
    body = [figures(*shown)]
    if facts.problem.free:
        body.insert(0, free_sentence(*free_parts(facts.problem, facts.primal.free)))
    elif not facts.primal.neurons:
        body.insert(0, e("p", f"The zero network{f', {because(facts)}' if facts.zero else ' is the best one found'}."))
    elif facts.problem.kind != "cgl" and seen is None and not report.source.pool:
        text = "Numbers this large or this small are not drawn, nor are patterns without a gate."
        body.append(e("p", text, cls="note"))
    return Section("network", "The solution" if facts.problem.kind == "cgl" else "The network", body)


def filter_figures(report: CheckReport, windows: Windows) -> list[Element | None]:
    """The filters, and what they say of two images."""
    facts = report.facts
    return [filters_figure(facts, windows), responses_figure(facts, windows, report.data)]


def _outputs(report: CheckReport, data: Dataset) -> Section:
    """A network with several outputs: its filters as pictures, its neurons and its terms without penalty."""
    facts, windows = report.facts, report.source.windows
    rows = []
    for neuron in heaviest_first(facts)[:MOST_EXACT]:
        u, v = directions(neuron)
        rows.append([decimal(neuron.norm, 8), entries(u, 5), entries(v, 5)])
    names = f"Features: {', '.join(data.names)}. Outputs: {', '.join(data.outputs)}."
    heads = ["|w||v|", f"direction of w, a {'filter' if windows else 'neuron'}", "direction of v, the outputs"]
    body: list[Element | None] = [e("p", names), *(e("p", line.strip()) for line in free_in_lines(data, facts))]
    if windows is not None:
        body.append(figures(*filter_figures(report, windows)))
    body.append(table(heads, rows) if rows else e("p", "No neuron."))
    body += classes_table(data, report.confusion, "the network found")
    return Section("network", "The network", body)


def classes_table(data: Dataset, counts: Confusion | None, whose: str) -> list[Element]:
    """Class by class; nothing where the outputs are no classes."""
    if counts is None:
        return []
    told = e("p", f"Rows are the true classes, columns those with the largest output of {whose}.")
    return [told, table(["", *data.outputs], [[n, *map(str, r)] for n, r in zip(data.outputs, counts, strict=True)])]


def free_sentence(b2: Fraction, skip: Sequence[Fraction]) -> Element:
    """The terms of a network that pictures of its neurons do not show."""
    linear = f", skip connection {entries(skip, 6)}" if skip else ""
    return e("p", f"Beside its neurons the network has the output bias {decimal(b2, 8)}{linear}.")


def _proof(report: CheckReport) -> Section:
    seen = view(report.facts, report.data)
    of_set = _said(report, *OF_THE_SET)
    found = optimal_set_view(report.facts) if of_set and seen is not None else None
    tied = () if found is None else found.neurons
    dual = [] if seen is None else [dual_figure(seen, tied), sphere_figure(seen, tied)]
    independent = independence_figure(report.facts) if of_set else None
    return Section("proof", "The proof", (_bound(report.facts), figures(*dual, independent)))


OF_THE_SET = ("p-unique", "convex-unique", "optimal-set", "minimal", "connected", "min-norm", "e-equals-a")


def _said(report: CheckReport, *claims: str) -> bool:
    """Whether one of these claims is PROVED or REFUTED: a page shows nothing of what was not asked for."""
    return any(one.claim in claims and one.verdict is not Verdict.UNDECIDED for one in report.results)


def _bound(facts: Facts) -> Element | None:
    """In a sentence what proves the lower bound, where no pattern is listed."""
    match facts.dual.multipliers:
        case Cover() | Outputs() as cover:
            how = f"a tree of {count(cover.leaves, 'cone')} that cover all directions, one short proof for each"
        case Leaders():
            how = "a relaxation that is checked in integers; it leaves a gap, which is part of the one above"
        case ByAxes(axes, across):
            many = count(len(axes) + len(across), "direction")
            how = f"a relaxation for each of {many} of the outputs; it leaves a gap"
        case _:
            return None
    text = "No network of any width has an objective below the lower bound, because a dual point θ keeps the output of "
    price = "|θ·(Zu)₊|" if facts.problem.targets == 1 else "|Θ'(Zu)₊|"
    return e("p", f"{text}every possible neuron u within its price, {price} ≤ λ|u|. What proves that is {how}.")


def _optimal_set(report: CheckReport) -> Section | None:
    facts = report.facts
    text = first_true(report.results, _set_sentences(facts))
    if not text:
        return None
    drawn: list[Element | None] = []
    if (seen := shape(facts)) is not None:
        flat = shadow(seen)
        pair = set_figures(seen) or (() if flat is None else wire_figures(seen))
        graph = None if flat is None else shadow_figure(flat)
        drawn = [beside(*pair), figures(graph, ranges_figure(seen, strips(facts, report.names)))]
    title = "All solutions" if facts.problem.kind == "cgl" else "All optimal networks"
    return Section("optimal-set", title, (e("p", text + _listed_sentence(facts)), *drawn, _staircase(report)))


def _listed_sentence(facts: Facts) -> str:
    """What the list of vertices adds, where there is more than one."""
    found = facts.polytope
    if found is None or found.dimension == 0:
        return ""
    widths = f"width {found.m_star}" if found.m_star == found.M_star else f"widths {found.m_star} to {found.M_star}"
    what = "solutions" if facts.problem.kind == "cgl" else "networks"
    many = f"The {len(found.vertices):,} minimal {what}, of {widths},"
    return f" {many} are the vertices of a polytope of dimension {found.dimension}."


def _staircase(report: CheckReport) -> Element | None:
    """Width by width, how many parts the set of optimal networks has: what the claim `connected` proves."""
    found, joined = report.facts.polytope, Sentence("", proved("connected"))
    if found is None or found.dimension == 0 or not joined.true(report.results):
        return None
    steps = staircase(found)
    rows = [(str(step.width), f"{step.isolated:,}", f"{step.others:,}") for step in steps[:-1]]
    rows.append((f"{steps[-1].width} and more", "0", "1: all are connected"))
    heads = ("width", "isolated networks, in all orders", "other connected parts")
    return fold("Which of them can be joined, width by width", table(heads, rows, "compact"))


def _path(report: CheckReport) -> Section | None:
    from relu_cert.report.html.path import path_section

    facts = report.facts
    if facts.path is None or not any(one.claim.endswith("continuous") for one in report.results):
        return None
    return path_section(facts.problem, facts.path.cover, facts.lambda_max, report.names)


def _set_sentences(facts: Facts) -> Iterator[Sentence]:
    """What was proved about the optimal set."""
    found = facts.optimal_set
    direct = facts.problem.kind == "cgl"
    claim = "convex-unique" if direct else "p-unique"
    one = "One solution" if direct else "One network, up to the order of its neurons and to splitting them"
    noun = "group" if direct else "neuron"
    if facts.problem.delta:
        yield Sentence("One solution: with δ > 0 the objective is strongly convex.", proved("convex-unique"))
    if isinstance(found, Exactly):
        tied, many = count(len(found.solutions[0]), noun), "solutions" if direct else "networks"
        widths = " and ".join(str(sum(1 for x in alpha if x)) for alpha in found.solutions)
        yield Sentence(f"{one}: of {tied} tied at λ, only its own can be active, in one way.", proved(claim))
        several = f"More than one: {tied} tie at λ, and two different {many} of widths {widths} are known exactly."
        yield Sentence(several, refuted(claim))
    elif isinstance(found, UnknownSet):
        yield Sentence(f"Not settled: {found.reason}.", ((claim, Verdict.UNDECIDED),), bool(found.reason))
    elif found.repeated:
        yield from _repeated(found)
    else:
        active = f"{count(len(found.active), noun)} can be active"
        yield Sentence(f"{one}: {active}, and the weight of each is determined.", proved(claim), not found.dimension)
        level = f"{count(found.level, 'active neuron')} without a zero at the data can be two of other biases"
        yield Sentence(f"More than one: {level}.", refuted(claim), bool(found.level))
        equations = f", under {count(len(found.equations), 'further equation')}" if found.equations else ""
        trade = f"in {count(len(found.groups), 'set')} whose members trade weight with one another"
        text = f"A polytope of dimension {found.dimension}: {active}, {trade}{equations}."
        yield Sentence(text, refuted(claim), found.dimension > 0)


def _repeated(found: BallSet) -> Iterator[Sentence]:
    """Over some patterns a neuron may lie in several blocks, and the convex solution then moves while it does not."""
    carried = "1 of them only moves" if found.repeated == 1 else f"{found.repeated} of them only move"
    text = f"The solutions of the convex program have {count(found.dimension, 'dimension')}; {carried} a neuron between"
    text += " the blocks that carry it."
    yield Sentence(f"{text} The optimal network is one.", proved("p-unique"))
    several = f"{text} The optimal networks have {count(found.network_dimension, 'dimension')}."
    yield Sentence(several, refuted("p-unique"))


def _numbers(report: CheckReport) -> Section:
    facts = report.facts
    value = facts.value
    rows = [
        ("λ", rational(facts.lam)),
        *([("λmax²", rational(facts.lambda_max.squared))] if facts.lambda_max.exact else []),
        ("lower bound on p*", rational(value.lower)),
        ("upper bound on p*", rational(value.upper)),
        ("radius² of the fit", rational(facts.fit.radius_squared)),
    ]
    if isinstance(facts.optimal_set, BallSet):
        rows.append(("σ, independence", rational(facts.optimal_set.sigma)))
        rows += [(f"mass {s + 1}", rational(m)) for s, m in enumerate(facts.optimal_set.masses[:MOST_EXACT])]
    folds = [fold("Values", table((), [(name, _digits(text)) for name, text in rows], "exact"))]
    if facts.primal.neurons:
        listed = heaviest_first(facts)[:MOST_EXACT]
        also = " and v" * (facts.problem.targets > 1)
        header = ("block", "w, exactly") if facts.problem.kind == "cgl" else ("", f"neuron w{also}, exactly")
        exact = ((neuron_name(facts, i, one), _vector((*one.w, *one.v))) for i, one in enumerate(listed))
        entries = table(header, [*exact], "exact")
        folds.append(fold(f"Neurons{_of(len(listed), len(facts.primal.neurons))}", entries))
    points = facts.problem.points * facts.problem.targets
    n = min(points, MOST_EXACT)
    fit = zip(facts.problem.y[:n], facts.fit.center[:n], facts.dual.theta[:n], strict=True)
    body = [(str(k + 1), *(_digits(rational(x)) for x in row)) for k, row in enumerate(fit)]
    listed_rows = table(("row" if facts.problem.targets == 1 else "entry", "y", "fit", "θ"), body, "exact")
    folds.append(fold(f"Targets, fit and dual point{_of(n, points)}", listed_rows))
    note = e("p", "Everything on this page follows from these rationals; the certificate holds them all.")
    return Section("numbers", "Exact numbers", (note, *folds))


def _verify(report: CheckReport) -> Section:
    named = {"certificate": report, "certificate, all patterns": report.over_all}
    written = {what: one for what, one in named.items() if isinstance(one, CheckReport)}
    files = [of_source(report.source), *(of_certificate(what, one) for what, one in written.items())]
    return verify_section(re_derived("every verdict"), [one.recheck for one in written.values()], files)


def _vector(entries: Sequence[Fraction]) -> Element:
    shown = [e("span", _digits(rational(x)), cls="entry") for x in entries[:MOST_EXACT]]
    more = f" … and {len(entries) - MOST_EXACT} more" if len(entries) > MOST_EXACT else None
    return e("span", shown, more)


def _digits(text: str) -> str:
    """A number in full, or its beginning where it is too long for a page."""
    cut = f"{text[:MOST_DIGITS]}… ({len(text)} characters; in full in the certificate)"
    return text if len(text) <= MOST_DIGITS else cut


def _of(shown: int, total: int) -> str:
    return "" if shown == total else f" (the first {shown} of {total})"
