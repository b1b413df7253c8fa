"""The README's programs run as they stand there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from samedeal_client import bot
from samedeal_client.connection import Client

README = Path(__file__).parents[2] / "README.md"
REPLAY = Path(__file__).parents[1] / "replays" / "files" / "lanes.jsonl"


def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def test_the_replay_example_of_the_readme_runs(tmp_path: Path) -> None:
    (code,) = (code for code in examples() if "Replay.load" in code)
    shutil.copy(REPLAY, tmp_path / "race.jsonl")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    head, *lines = done.stdout.splitlines()
    assert head == "lanes ['Zoë', 'ada']"
    assert (len(lines), lines[0]) == (104 + 1, "5 ada T4>F3 1")


async def test_the_bot_of_the_readme_races(server_url: str, tmp_path: Path) -> None:
    code = examples()[0]
    script = tmp_path / "my_bot.py"
    script.write_text(code.replace("asyncio.sleep(0.2)", "asyncio.sleep(0.001)"), "utf-8")
    async with Client(server_url, name="host") as client:
        race = await client.create_race("lanes", countdown_s=0)
        await race.ready()
        process = subprocess.Popen(  # noqa: ASYNC220 - a moment; only its end is awaited
            [sys.executable, str(script), server_url, race.code], stdout=subprocess.PIPE, text=True
        )
        await bot.play(race, pace_s=0.001)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert {line.split()[1] for line in out.splitlines()} == {"host", "my-bot"}
