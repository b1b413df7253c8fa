"""Where a cursor on the board goes."""

from samedeal_client.model.board import Picture

__all__ = ["stepped"]


def stepped(picture: Picture, at: str | None, down: int, right: int) -> str:
    """Return the nearest pile in a direction; a first step only shows the cursor."""
    here = picture.place(at) if at else None
    if at is None or here is None:
        return "T1"
    best: tuple[int, str] | None = None
    for pile in dict.fromkeys(spot.pile for spot in picture.spots):
        place = picture.place(pile)
        assert place is not None
        rows, cells = place[0] - here[0], place[1] - here[1]
        ahead = rows * down + cells * right
        # A row away is farther than a cell away, and straight on comes first.
        far = ahead * (9 if down else 1) + 2 * (abs(cells) if down else 30 * abs(rows))
        if ahead > 0 and (best is None or far < best[0]):
            best = (far, pile)
    return at if best is None else best[1]
