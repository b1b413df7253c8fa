"""Accounts: recognised by a token that the store does not know, forgotten when nobody uses them."""

import pytest
from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.accounts import LIFETIME_MS, Account, AccountStore, new_id

pytestmark = pytest.mark.usefixtures("every_key_expires")


@pytest.mark.parametrize("bot", [False, True])
async def test_a_token_leads_to_its_account(redis: Redis, bot: bool) -> None:
    accounts = AccountStore(redis)
    account, token = await accounts.create("ada", bot=bot)
    assert (account.name, account.bot) == ("ada", bot)
    assert await accounts.recognise(token) == account == Account(account.player, "ada", bot)


async def test_the_store_holds_no_token(redis: Redis) -> None:
    _, token = await AccountStore(redis).create("ada", bot=False)
    secret = token.partition(".")[2]
    assert len(secret) == 64
    async for key in redis.scan_iter():
        assert secret not in str(await redis.hgetall(key))


async def test_what_is_not_exactly_the_token_is_no_account(redis: Redis) -> None:
    accounts = AccountStore(redis)
    account, token = await accounts.create("ada", bot=False)
    other, theirs = await accounts.create("ivo", bot=False)
    secret, theirs = token.partition(".")[2], theirs.partition(".")[2]
    last = "0" if secret[-1] != "0" else "1"
    for wrong in (
        "",
        ".",
        account.player,
        f"{account.player}.",
        f".{secret}",
        f"{account.player}.{theirs}",
        f"{other.player}.{secret}",
        f"{account.player}.{secret[:-1]}{last}",
        f"{token}0",
        token.upper(),
    ):
        assert await accounts.recognise(wrong) is None, wrong


async def test_two_guests_of_one_name_are_two_accounts(redis: Redis) -> None:
    accounts = AccountStore(redis)
    first, one = await accounts.create("ada", bot=False)
    second, two = await accounts.create("ada", bot=False)
    assert first.player != second.player
    assert one != two


async def test_an_account_that_is_used_lives_on(redis: Redis) -> None:
    accounts = AccountStore(redis)
    account, token = await accounts.create("ada", bot=False)
    key = keys.account(account.player)
    assert await redis.pttl(key) > LIFETIME_MS - 60_000
    await redis.pexpire(key, 60_000)
    await accounts.recognise(token)
    assert await redis.pttl(key) > LIFETIME_MS - 60_000


async def test_asking_for_an_account_that_is_not_there_makes_none(redis: Redis) -> None:
    assert await AccountStore(redis).recognise("nobody0000000000.00") is None
    assert await redis.dbsize() == 0


def test_ids_are_16_letters_and_digits_and_differ() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(text) == 16 and text.isalnum() and text == text.lower() for text in ids)
