"""Accounts: recognised by a token that the store does not know, forgotten when nobody uses them."""

import asyncio

import pytest
from redis.asyncio import Redis

from samedeal_server.errors import NameTaken
from samedeal_server.names import skeleton
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
    kept = [
        str(await (redis.hgetall(key) if await redis.type(key) == "hash" else redis.get(key)))
        async for key in redis.scan_iter()
    ]
    assert len(kept) == 2
    assert not any(secret in text for text in kept)


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


async def test_a_name_is_one_account_s_alone_however_it_is_written(redis: Redis) -> None:
    accounts = AccountStore(redis)
    await accounts.create("Ada-l", bot=False)
    with pytest.raises(NameTaken):
        await accounts.create("HouseBot", bot=True)
    for same in ("Ada-l", "ADA-L", "ada-1", "\u0430d\u0430-I"):
        with pytest.raises(NameTaken):
            await accounts.create(same, bot=False)
    await accounts.create("ada-2", bot=False)


@pytest.mark.parametrize("name", ["housebot", "HouseB0t", "h\u043eusebot"])
async def test_the_name_of_the_server_s_bot_is_nobody_s(redis: Redis, name: str) -> None:
    accounts = AccountStore(redis)
    with pytest.raises(NameTaken):
        await accounts.create(name, bot=True)
    ada, _ = await accounts.create("ada", bot=False)
    with pytest.raises(NameTaken):
        await accounts.rename(ada.player, name)


async def test_of_many_who_want_one_name_at_once_one_gets_it(redis: Redis) -> None:
    accounts = [AccountStore(redis) for _ in range(20)]
    wanted = (store.create("ada", bot=False) for store in accounts)
    made = await asyncio.gather(*wanted, return_exceptions=True)
    assert sum(isinstance(one, tuple) for one in made) == 1
    assert sum(isinstance(one, NameTaken) for one in made) == 19


async def test_a_name_whose_account_was_never_written_is_free_again_soon(redis: Redis) -> None:
    accounts = AccountStore(redis)
    assert await accounts.names.claim(skeleton("ada"), new_id())
    with pytest.raises(NameTaken):
        await accounts.create("ada", bot=False)
    assert 0 < await redis.pttl(keys.name(skeleton("ada"))) <= 60_000


async def test_a_name_that_its_account_does_not_have_any_more_can_be_had(redis: Redis) -> None:
    accounts = AccountStore(redis)
    assert await accounts.names.settle(skeleton("ada"), new_id(), LIFETIME_MS)
    account, token = await accounts.create("ada", bot=False)
    assert await accounts.names.owner(skeleton("ada")) == account.player
    assert await accounts.recognise(token) == account


async def test_accounts_from_before_names_were_held_keep_working(redis: Redis) -> None:
    accounts = AccountStore(redis)
    old = [await accounts.create(name, bot=False) for name in ("ada", "ivo")]
    for account, _ in old:
        await redis.hdel(keys.account(account.player), "skeleton")
        await redis.hset(keys.account(account.player), "name", "ada")
        await redis.delete(keys.name(skeleton(account.name)))
    for account, token in old:
        assert await accounts.recognise(token) == Account(account.player, "ada", False)
    assert await accounts.names.owner(skeleton("ada")) == old[0][0].player
    assert await redis.exists(keys.name("-")) == 0
    with pytest.raises(NameTaken):
        await accounts.create("ada", bot=False)


async def test_an_account_that_is_used_lives_on(redis: Redis) -> None:
    accounts = AccountStore(redis)
    account, token = await accounts.create("ada", bot=False)
    key = keys.account(account.player)
    assert await redis.pttl(key) > LIFETIME_MS - 60_000
    await redis.pexpire(key, 60_000)
    await redis.pexpire(keys.name(skeleton("ada")), 60_000)
    await accounts.recognise(token)
    assert await redis.pttl(key) > LIFETIME_MS - 60_000
    assert await redis.pttl(keys.name(skeleton("ada"))) > LIFETIME_MS - 60_000


async def test_asking_for_an_account_that_is_not_there_makes_none(redis: Redis) -> None:
    assert await AccountStore(redis).recognise("nobody0000000000.00") is None
    assert await redis.dbsize() == 0


def test_ids_are_16_letters_and_digits_and_differ() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(text) == 16 and text.isalnum() and text == text.lower() for text in ids)
