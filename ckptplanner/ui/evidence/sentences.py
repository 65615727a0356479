"""What a replay says, in plain words."""

from __future__ import annotations

from ckptplanner.engine.backtests import LEAST_GAPS_FOR_SHAPE, Backtest, Costs
from ckptplanner.ui.words import say
from ckptplanner.units import SECONDS, brief, percent, rough


def verdict(backtest: Backtest) -> str:
    """What Young's interval would have lost, what could have been had, and what the formulas said."""
    every, lost = brief(backtest.young_interval_s, SECONDS), percent(backtest.young_fraction)
    if backtest.is_young_raised:
        own = brief(backtest.formula_interval_s, SECONDS)
        first = say(
            "An interval of {time}, the least possible (Young's is {own}), would have lost {lost} on this log; the best "
            "constant interval in hindsight {best}.",
            time=every, own=own, lost=lost, best=percent(backtest.best_fraction),
        )  # fmt: skip
        return _with_formulas(first, backtest)
    if backtest.best_fraction < backtest.young_fraction:
        first = say(
            "Young's interval, {time}, would have lost {lost} on this log; the best constant interval in hindsight {best}.",
            time=every, lost=lost, best=percent(backtest.best_fraction),
        )  # fmt: skip
    else:
        first = say(
            "Young's interval, {time}, would have lost {lost} on this log; no constant interval would have lost less.",
            time=every, lost=lost,
        )  # fmt: skip
    return _with_formulas(first, backtest)


def _with_formulas(first: str, backtest: Backtest) -> str:
    """What the formulas said at that interval."""
    exact = percent(backtest.exact_fraction)
    if backtest.first_order_fraction is None:
        return f"{first} {say('The exact formula said {exact}; first order cannot tell.', exact=exact)}"
    order = percent(backtest.first_order_fraction)
    return f"{first} {say('The exact formula said {exact}, first order {order}.', exact=exact, order=order)}"


def priced(backtest: Backtest, costs: Costs) -> str:
    """What a save and a restart cost in this replay."""
    stop, restart = rough(backtest.blocking_s, SECONDS), rough(backtest.restart_s, SECONDS)
    if costs.published_next_save:
        save = say("A save stops training for {stop}, restorable once the next one begins", stop=stop)
    elif backtest.background_s > 0.0:
        late = rough(backtest.background_s, SECONDS)
        save = say("A save stops training for {stop}, restorable {late} later", stop=stop, late=late)
    else:
        save = say("A save stops training for {stop}, then it is restorable", stop=stop)
    if backtest.downtime_s > 0.0:
        wait = rough(backtest.downtime_s, SECONDS)
        said = say("{save}; a restart takes {restart}, after {wait} without a node.", save=save, restart=restart, wait=wait)
    else:
        said = say("{save}; a restart takes {restart}.", save=save, restart=restart)
    if len(backtest.log.gaps_s) < LEAST_GAPS_FOR_SHAPE:
        return f"{said} {say('So few interruptions show chance more than a law.')}"
    return said
