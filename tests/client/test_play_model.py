"""Keys and clicks on a board: which moves they make, and what they say."""

import itertools

import pytest

from samedeal.engine.games import GAMES
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.run import UNDO, UndoPolicy
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase, Phrase
from samedeal_client.model.board import Picture, draw
from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import text_of
from samedeal_client.model.keys import Action, Keys, Section
from samedeal_client.model.play import Do, PlayModel, Wish
from seat import Seat

HOMES = "F1=AC;F2=AD;F3=AH;F4=AS"


class Player:
    """A player at the keys, and the server behind."""

    def __init__(
        self,
        position: str | None = None,
        game_id: str = "lanes",
        *,
        undo: UndoPolicy = UndoPolicy.SAFE,
        ranked: bool = False,
    ) -> None:
        self.server = Seat(game_id, undo, position=position, ranked=ranked)
        self.keys = Keys().on(Section.RACE)
        self.play = PlayModel(self.server.model(), Keys())
        self.now = 0.0

    @property
    def picture(self) -> Picture:
        return draw(self.play.table, 48, 20, Faces(), self.play.marks())

    def press(self, *keys: str, pause_s: float = 1.0) -> list[str]:
        """Press keys; send what they make, and have it acknowledged. Return it as text."""
        done = []
        for key in keys:
            self.now += pause_s
            for wish in self.play.press(key, self.keys.action(key), self.picture, self.now):
                done.append(self.fulfil(wish))
        return done

    def fulfil(self, wish: Wish, *, answer: bool = True) -> str:
        if wish.action is None:
            return wish.do.value
        model = self.play.race
        request = model.undo() if wish.action is UNDO else model.play(wish.action)
        if answer:
            ack = self.server.ack(request)
            model.acknowledged(ack)
            self.play.acknowledged(wish.action, ack.reveals)
        return str(wish.action)


def test_two_pile_keys_make_a_move() -> None:
    player = Player(f"{HOMES};T1=9H;T2=8S;T3=KD")
    assert player.press("2", "1") == ["T2>T1"]


def test_the_first_key_says_where_the_card_may_go() -> None:
    player = Player(f"{HOMES};T1=9H;T2=8S;T3=KD;T4=2S;T5=QC;T6=JC")
    player.press("2")
    assert player.play.sentence == "8S of column 2 goes to 1"
    assert player.play.marks().targets == {"T1"}
    player.press("escape", "4")
    assert player.play.sentence == "2S of column 4 goes home (f)"


def test_the_waste_goes_to_a_column_and_home() -> None:
    assert Player(f"{HOMES};T3=9H;W=8S").press("w", "3") == ["W>T3"]
    assert Player(f"{HOMES};T3=9H;W=2S").press("f") == ["W>F4"]
    assert Player(f"{HOMES};T3=9H;W=2S").press("w", "w") == ["W>F4"]


def test_the_same_key_twice_sends_home() -> None:
    assert Player(f"{HOMES};T1=9H2D").press("1", "1") == ["T1>F2"]


def test_an_illegal_move_is_refused_in_a_sentence_and_costs_nothing() -> None:
    player = Player(f"{HOMES};T1=4D;T2=9H;T3=5S")
    assert player.press("1", "2") == []
    assert player.play.sentence == (
        "1>2 refused: 4D goes on a black 5; column 3 takes it (no cost)"
    )
    assert player.play.race.run.moves == 0


def test_the_longest_run_that_fits_is_carried() -> None:
    position = "T1=9D-KSQDJSTD;T2=KC;T3=JC"
    assert Player(position, "single-left").press("1", "2") == ["T1:3>T2"]
    assert Player(position, "single-left").press("1", "3") == ["T1>T3"]


def test_plus_and_minus_choose_how_many_cards_go() -> None:
    player = Player("T1=9D-KSQDJS;T2=2C;T3=QH", "single-left")
    player.press("1")
    assert player.play.marks().count == 3
    player.press("-", "-")
    assert player.play.marks().count == 1
    assert player.press("3") == ["T1>T3"]
    player = Player("T1=9D-KSQDJS;T2=2C;T3=QH", "single-left")
    assert player.press("1", "+", "3") == []
    assert "refused" in player.play.sentence


def test_acey_asks_where_a_card_fits_both_ways() -> None:
    position = "F1=AC2C3C;F5=KCQCJC;W=4H;T1=9D"
    assert Player(position, "acey-and-kingsley").press("f") == ["W>F1"]
    position = "F1=AC2C3C;F5=KCQCJCTC9C8C7C6C5C;W=4H;T1=9D"
    player = Player(position, "acey-and-kingsley")
    assert player.press("f") == []
    assert player.play.sentence == "it goes on both: [ up, ] down"
    assert player.press("]") == ["W>F5"]
    assert Player(position, "acey-and-kingsley").press("w", "[") == ["W>F1"]


def test_reserves_have_keys_of_their_own() -> None:
    position = "F1=AC;F5=KC;R1=9D2H;R2=4C;T1=9S"
    assert Player(position, "acey-and-kingsley").press("r", "f") == ["R1>F1"]
    assert Player(position, "acey-and-kingsley").press("t", "2") == ["R2>T2"]
    player = Player(f"{HOMES};T1=9H")
    assert player.press("r") == []
    assert player.play.sentence == "this game has no reserves"


def test_a_card_is_taken_back_from_home_by_column_or_by_suit() -> None:
    position = "F1=AC2C3C;F2=AD;F3=AH;F4=AS2S3S;T1=4D;T2=9C"
    player = Player(position)
    assert player.press("x", "1") == ["F1>T1"]
    assert Player(position).press("x", "s", "1") == ["F4>T1"]
    player = Player("T1=9H;F1=AC", "single-left")
    assert player.press("x") == []
    assert player.play.sentence == "foundation cards never leave in this game"


def test_the_sixth_key_of_a_french_row_names_a_column_and_elsewhere_carries_fewer() -> None:
    run = "T1=9H;T2=TC9D;T6=TS"
    french = Player(f"{HOMES};{run}")
    assert french.press("&", "-") == ["T1>T6"]
    assert french.press("é", "-") == []  # not fewer cards: the target
    assert "refused" in french.play.sentence
    assert Player(f"{HOMES};{run}").press("-") == []
    other = Player(f"{HOMES};{run}", "klondike")
    other.press("2")
    assert other.play.marks().count == 2
    other.press("-")
    assert other.play.marks().count == 1
    other.press("escape", "-")
    assert other.play.marks().picked == "T6"


def test_any_other_key_answers_a_question_with_no() -> None:
    player = Player()
    assert player.press("B", "m", "B", "m", "Q", "m", "y") == []
    assert player.press("Q", "y") == ["leave"]


def test_a_held_key_turns_the_stock_once() -> None:
    player = Player()
    assert player.press("space") == ["draw"]
    assert player.press(*["space"] * 20, pause_s=0.03) == []
    assert player.press("space") == ["draw"]


def test_the_stock_turns_once_per_answer() -> None:
    player = Player()
    (wish,) = player.play.press("space", player.keys.action("space"), player.picture, 1.0)
    player.fulfil(wish, answer=False)
    assert player.press("space", "space") == []
    assert "one turn at a time" in player.play.sentence


def test_what_a_turn_brought_is_told() -> None:
    player = Player(f"{HOMES};S=9C;T1=9H")
    player.press("space")
    assert player.play.sentence == "turned 9C"


def test_undo_follows_the_policy_of_the_room() -> None:
    position = f"{HOMES};S=9C;T1=9H;T2=8S;T3=KD"
    player = Player(position)
    assert player.press("2", "1", "u") == ["T2>T1", "undo"]
    assert player.press("space", "u") == ["draw"]
    assert player.play.sentence == "undo refused: the last move turned up a card, so it stands"
    assert player.press("U") == []
    assert "only where undo is free" in player.play.sentence
    player = Player(position, undo=UndoPolicy.FREE)
    assert player.press("2", "1", "u", "U", "U") == ["T2>T1", "undo", "T2>T1"]


def test_safe_cards_go_home_one_after_the_other() -> None:
    player = Player("F1=AC;F2=AD;F3=AH;F4=AS;T1=3C2C;T2=2D;T3=9H2H;T4=2S;S=5C")
    sent = player.press("F")
    while wishes := player.play.go_on():
        sent += [player.fulfil(wish) for wish in wishes]
    # The 3 of clubs waits for the red twos, which could be put on it, not for the black one.
    assert sent == ["T1>F1", "T2>F2", "T3>F3", "T1>F1", "T4>F4"]


def test_a_finished_game_is_offered_and_played_out() -> None:
    ranks = "A23456789TJQK"
    full = {suit: "".join(f"{rank}{suit}" for rank in ranks) for suit in "CDHS"}
    position = f"F1={full['C'][:-2]};F2={full['D']};F3={full['H']};F4={full['S'][:-2]};T1=KC;T2=KS"
    player = Player(position)
    player.play.acknowledged(UNDO, ())
    assert player.play.sentence == "nothing is hidden: F plays it out"
    sent = player.press("F")
    while wishes := player.play.go_on():
        sent += [player.fulfil(wish) for wish in wishes]
    assert len(sent) == 2
    assert player.play.sentence == "WON: every card is home"


def test_hints_are_the_legal_moves_and_not_in_a_ranked_race() -> None:
    position = f"{HOMES};T1=9H;T2=8S;T3=KD;T4=QD;T5=QH;T6=9C"
    player = Player(position)
    player.press("H")
    assert player.play.sentence == "legal: 2>1"
    player = Player(position, ranked=True)
    player.press("H")
    assert player.play.sentence == "no hints in a ranked race"


def test_what_can_come_back_is_named_by_the_key_that_takes_it() -> None:
    player = Player("F1=AC,2C;F2=AD;F3=AH;F4=AS;T1=3H;T2=8S;T3=KD;T4=QD;T5=QH;T6=9C")
    player.press("H")
    assert player.play.sentence == "legal: x>1"
    assert player.press("x", "1") == ["F1>T1"]


def test_the_answer_to_a_move_leaves_a_question_standing() -> None:
    player = Player()
    play = player.play
    for keys, asked in ((["escape", "Q"], "leave? "), (["escape", "B"], "B again within 3 s")):
        (wish,) = play.press("space", Action.DRAW, player.picture, player.now)
        assert wish.action == DRAW
        request = play.race.play(DRAW)
        player.press(*keys)
        assert play.sentence.startswith(asked)
        ack = player.server.ack(request)
        play.race.acknowledged(ack)
        play.acknowledged(DRAW, ack.reveals)
        assert play.sentence.startswith(asked)
        player.press("escape")
    player.press("space")
    assert play.sentence.startswith("turned ")


def test_banking_and_leaving_need_a_second_key_soon() -> None:
    player = Player()
    assert player.press("B") == []
    assert player.press("B") == [Do.BANK]
    assert player.press("B", "B", pause_s=4.0) == []
    assert player.press("Q", "y") == [Do.LEAVE]


def test_the_cursor_reaches_every_pile_and_plays() -> None:
    player = Player(f"{HOMES};T1=9H;T2=8S;T3=KD;W=5C;S=6C")
    player.press("tab", "right")
    assert player.play.marks().cursor == "T2"
    player.press("enter", "left")
    assert player.press("enter") == ["T2>T1"]


@pytest.mark.parametrize("game_id", list(GAMES))
def test_the_cursor_reaches_every_pile_of_every_game(game_id: str) -> None:
    player = Player(None, game_id)
    player.press("space", "tab")
    seen, ahead = {"T1"}, ["T1"]
    while ahead:
        here = ahead.pop()
        for key in ("left", "right", "up", "down"):
            player.play.cursor = here
            player.press(key)
            reached = player.play.cursor
            if reached not in seen:
                seen.add(reached)
                ahead.append(reached)
    assert seen == {spot.pile for spot in player.picture.spots}


def test_clicks_pick_drop_turn_and_send_home() -> None:
    player = Player(f"{HOMES};T1=9H;T2=8S;T3=2D;S=6C")
    picture = player.picture
    spots = {spot.pile: spot for spot in picture.spots}
    assert player.play.click(spots["T2"], is_double=False) == []
    assert player.play.click(spots["T1"], is_double=False) == [Wish(Do.PLAY, Move("T2", "T1"))]
    assert player.play.click(spots["S"], is_double=False) == [Wish(Do.PLAY, DRAW)]
    player.play.click(spots["T3"], is_double=False)
    assert player.play.click(spots["T3"], is_double=True) == [Wish(Do.PLAY, Move("T3", "F2"))]
    player.play.click(spots["T3"], is_double=False)
    assert player.play.click(None, is_double=False) == []
    assert player.play.hand.pile is None


def test_a_refusal_of_the_server_is_told_as_taken_back() -> None:
    player = Player(f"{HOMES};T1=9H;T2=8S")
    player.play.refused(Move("T2", "T1"), "the race is closed")
    assert player.play.sentence == "TAKEN BACK 2>1: the race is closed"


def test_what_rivals_did_last_is_kept() -> None:
    player = Player()
    model, play = player.play.race, player.play
    ivo = model.view.players[1].model_copy(update={"home": 3, "best": 3, "moves": 5})
    progress = say.Progress(race=model.view.id, ver=model.view.ver + 1, players=(ivo,))
    model.take_progress(progress)
    play.heard(progress)
    assert play.chronicle.last == {2: "+3 home"}


def test_a_phrase_of_others_is_kept_and_told_but_not_over_a_refusal() -> None:
    player = Player()
    said = say.Said(race=player.play.race.view.id, seat=2, phrase=Phrase.WELL_PLAYED)
    player.play.heard(said)
    assert player.play.chronicle.said == {2: "well played"}
    assert player.play.sentence == player.play.chronicle.log[-1] == "ivo says: well played"
    player.press("w")
    refusal = player.play.sentence
    player.play.heard(said)
    assert (player.play.sentence, player.play.chronicle.log[-1]) == (
        refusal,
        "ivo says: well played",
    )


def test_no_card_is_taken_back_that_is_not_home() -> None:
    player = Player(f"{HOMES};T1=9H;T2=9D;T3=KD;T4=KH;T5=QD;T6=QH;W=8S")
    player.press("w", "x")
    assert player.play.sentence == "no foundation card can go anywhere now"


@pytest.mark.parametrize("phase", [Phase.LOBBY, Phase.COUNTDOWN])
def test_keys_before_go_do_no_harm(phase: Phase) -> None:
    server = Seat()
    seated = server.seated().model_copy(update={"board": None, "race": server.view(phase)})
    from samedeal_client.model import RaceModel

    play = PlayModel(RaceModel(seated, itertools.count(1).__next__), Keys())
    for action in Action.PILE_1, Action.DRAW:
        assert play.press("1", action, Picture([]), 1.0) == []


def test_the_rows_say_nothing_that_the_model_does_not() -> None:
    player = Player(f"{HOMES};T1=9H")
    assert any("9♥" in text_of(row) for row in player.picture.rows)
