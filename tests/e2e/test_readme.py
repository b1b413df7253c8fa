"""The README's bot plays as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from samedeal_client import bot
from samedeal_client.connection import Client

README = Path(__file__).parents[2] / "README.md"


async def test_the_bot_of_the_readme_races(server_url: str, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
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
