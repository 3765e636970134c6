"""What ε, δ and sensitivity mean, in pictures of public numbers: two neighbours, accuracy, composition."""

from __future__ import annotations

import math

from tacit.errors import InvalidParameter
from tacit.privacy import PureDP
from tacit.report.markup import Html, element
from tacit.report.numbers import number
from tacit.server.pages.charts import chart

__all__ = ["learn_parts", "pictures", "settings_of"]

_COUNT = 100.0
_TIMES = (1, 2, 5, 10, 20, 50, 100)


def settings_of(epsilon: str, zeros: str, sensitivity: str) -> tuple[float, float, float]:
    """What was typed, within what can be drawn; δ is ten to the power of minus ``zeros``."""
    try:
        found = float(epsilon), 10.0 ** -min(max(float(zeros), 1.0), 12.0), float(sensitivity)
    except ValueError:
        raise InvalidParameter("ε, δ, sensitivity", given=[epsilon, zeros, sensitivity], allowed="numbers") from None
    limits = ((0.01, 20), (1e-12, 0.1), (0.1, 100))
    if not all(low <= one <= high for one, (low, high) in zip(found, limits, strict=True)):
        allowed = "ε from 0.01 to 20, δ from 1e-12 to 0.1, sensitivity from 0.1 to 100"
        raise InvalidParameter("ε, δ, sensitivity", given=list(found), allowed=allowed)
    return found


def learn_parts(epsilon: float, delta: float, sensitivity: float) -> list[Html]:
    """The page."""
    sliders = [
        ("epsilon", "ε: how much one person can change what is seen", epsilon, 0.05, 5, 0.05),
        ("zeros", "δ: how often that may fail, one in 10, 100, 1000, …", -math.log10(delta), 1, 12, 1),
        ("sensitivity", "Sensitivity: how far one person moves the number", sensitivity, 0.5, 20, 0.5),
    ]
    fields = [
        element(
            "div",
            element("label", label, for_=name),
            element("input", type="range", id=name, name=name, value=f"{value:g}", min=low, max=high, step=step),
        )
        for name, label, value, low, high, step in sliders
    ]
    form = element(
        "form",
        *fields,
        element("button", "Show"),
        method="get",
        action="/learn",
        data_live="#pictures",
        data_from="/learn/pictures",
    )
    return [
        element(
            "p",
            "A private answer is drawn from a distribution. Whether one person is in the data moves it a little: "
            "ε says how much at most.",
        ),
        element("div", form, class_="card"),
        element("div", *pictures(epsilon, delta, sensitivity), id="pictures", aria_live="polite"),
    ]


def pictures(epsilon: float, delta: float, sensitivity: float) -> list[Html]:
    """Everything at these settings."""
    scale = sensitivity / epsilon
    reach = 4 * scale + sensitivity
    xs = [_COUNT - reach + 2 * reach * step / 160 for step in range(161)]
    lines = [
        (kind, [(x, math.exp(-abs(x - centre) / scale) / (2 * scale)) for x in xs])
        for kind, centre in (("curve", _COUNT), ("other", _COUNT + sensitivity))
    ]
    prices = [0.05 * 2**step for step in range(8)]
    error = math.log(20) * scale
    alone = [(float(times), times * epsilon) for times in _TIMES]
    together = [(float(times), float((times * PureDP(f"{epsilon:.6g}")).epsilon(delta))) for times in _TIMES]
    last = together[-1][1]
    now = f"ε {epsilon:g}, δ {delta:.3g}, sensitivity {sensitivity:g}"
    return [
        element("p", element("b", now)),
        element("h2", "Two neighbours"),
        chart("Answers without and with one person", lines, across="answer", up="how likely"),
        element(
            "p",
            f"The line: answers about 100 people. Dashed: with one person more. Where they differ most, one is "
            f"e^ε = {number(float(f'{math.exp(epsilon):.3g}'))} times as likely as the other.",
        ),
        element("h2", "Accuracy against privacy"),
        chart(
            "Error against ε",
            [("curve", [(one, math.log(20) * sensitivity / one) for one in prices])],
            across="ε",
            up="error",
            logarithmic=True,
            here=(epsilon, error),
        ),
        element(
            "p",
            f"At ε {number(float(f'{epsilon:.3g}'))} the noise stays within ± {number(float(f'{error:.3g}'))} nineteen "
            "times of twenty. Half the ε is twice the error.",
        ),
        element("h2", "Composition"),
        chart("ε of many answers", [("other", alone), ("curve", together)], across="answers", up="ε in all"),
        element(
            "p",
            f"Dashed: the sum of ε. The line: what is true at δ {delta:g}: a hundred answers are ε "
            f"{number(float(f'{last:.3g}'))} together, not {number(float(f'{100 * epsilon:.3g}'))}.",
        ),
    ]
