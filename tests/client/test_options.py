"""The form of a room's options."""

from samedeal.protocol.fields import OptionsPatch, RaceOptions, Spectating
from samedeal_client.model.ink import text_of
from samedeal_client.model.keys import Keys, Section
from samedeal_client.model.options import OptionsForm


def shown(form: OptionsForm, label: str) -> str:
    """The line of an option."""
    rows = form.rows(Keys().on(Section.OPTIONS), 80, 24, "")
    return next(text for row in rows if label in (text := text_of(row)))


def test_every_option_of_a_room_can_be_changed() -> None:
    form = OptionsForm(RaceOptions(), "OPTIONS")
    names = set()
    for _ in range(20):
        form.change(1)
        names |= set(form.changes)
        form.move(1)
    assert names == set(OptionsPatch.model_fields)
    OptionsPatch.model_validate(form.changes)


def test_a_ranked_room_is_shown_as_it_will_be_watched() -> None:
    form = OptionsForm(RaceOptions(), "OPTIONS")
    for is_ranked, spectating, bots in ((False, "boards", "yes"), (True, "shape", "no")):
        assert spectating in shown(form, "others may watch")
        assert bots in shown(form, "bots may join")
        form.move(8 - form.at)
        form.change(1)
        assert form.changes == ({} if is_ranked else {"ranked": True})
    form.change(1)
    form.move(5 - form.at)
    form.change(-1)
    assert form.changes == {"ranked": True, "spectating": Spectating.BOARDS}


def test_what_is_changed_back_is_not_sent() -> None:
    form = OptionsForm(RaceOptions(), "OPTIONS")
    form.change(1)
    assert form.changes == {"seats": 3}
    form.change(-1)
    assert form.changes == {}


def test_a_value_of_the_command_line_goes_on_from_where_it_is() -> None:
    form = OptionsForm(RaceOptions(time_limit_s=100), "OPTIONS")
    form.move(1)
    form.change(1)
    assert form.changes == {"time_limit_s": 120}


def test_all_options_fit_the_smallest_window() -> None:
    form = OptionsForm(RaceOptions(), "OPTIONS")
    text = "\n".join(
        text_of(row) for row in form.rows(Keys().on(Section.OPTIONS), 60, 20, "why not")
    )
    assert "best of" in text
    assert "why not" in text
