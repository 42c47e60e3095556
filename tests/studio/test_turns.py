"""Whose turn it is: pages that ask for much wait for themselves, not others for them."""

import asyncio

import pytest

from marrow.studio.turns import Crowded, Turns


class Office:
    """Turns on a clock of their own: what is asked for takes as long as it says."""

    def __init__(self, **options):
        self.now, self.served = 0.0, []
        self.turns = Turns(clock=lambda: self.now, **options)

    async def ask(self, page, seconds=1.0):
        async with self.turns.turn(page):
            self.now += seconds
            self.served.append(page)
            await asyncio.sleep(0)

    def run(self, *asked):
        async def together():
            await asyncio.gather(*(self.ask(*a) if isinstance(a, tuple) else self.ask(a) for a in asked))

        asyncio.run(together())
        return "".join(self.served)


def test_who_asks_for_little_waits_for_one_turn_of_a_storm():
    assert Office().run(*"sssssssss", "g", "g")[:4] == "sgsg"


def test_pages_are_served_by_the_time_they_have_had_of_late():
    order = Office().run(*[("s", 0.4)] * 4, *[("g", 0.1)] * 12)
    assert order[:12] == "sggggsgggsgg", "as much time for one as for the other"


def test_nobody_pays_long_for_what_took_a_while():
    """Two pages ask for a tenth of a second again and again; a third has just had two seconds."""
    office = Office()
    office.run(("g", 2.0))
    office.now += 1.5  # three halves: 0.25 s are left, less than those who go on have had by then
    assert "g" in office.run(*[page for _ in range(12) for page in (("a", 0.1), ("b", 0.1))], ("g", 0.1))[1:8]


def test_nobody_saves_turns_up():
    office = Office()
    office.run(("old", 1.0), *["storm"] * 5)
    office.served.clear()
    assert office.run(*["storm"] * 3, *["old"] * 3) in ("stormold" * 3, "oldstorm" * 3)


def test_of_one_page_one_turn_is_under_way_of_all_two():
    turns, most = Turns(2), [0, 0]

    async def ask(page, running):
        async with turns.turn(page):
            running.append(page)
            most[0], most[1] = max(most[0], len(running)), max(most[1], running.count("a"))
            await asyncio.sleep(0)
            running.remove(page)

    async def together():
        running = []
        await asyncio.gather(*(ask(page, running) for page in "aaaabbcc"))

    asyncio.run(together())
    assert most == [2, 1]


def test_too_many_of_one_page_are_refused_in_words_and_others_are_not():
    async def together():
        turns = Turns(waiting=2)
        async with turns.turn("other"):
            asked = [asyncio.create_task(turns._come("s")) for _ in range(3)]
            await asyncio.sleep(0)
            with pytest.raises(Crowded, match="2 things"):
                await asked[2]
            good = asyncio.create_task(turns._come("g"))
            await asyncio.sleep(0)
            assert not good.done() and turns.waiting("s") == 2
        for task in (*asked[:2], good):
            task.cancel()
        await asyncio.gather(*asked, good, return_exceptions=True)

    asyncio.run(together())


def test_who_leaves_while_waiting_or_as_it_is_called_holds_nobody_up():
    async def together():
        turns = Turns()
        async with turns.turn("first"):
            waits, called = (asyncio.create_task(turns._come(page)) for page in "ab")
            await asyncio.sleep(0)
            waits.cancel()
            await asyncio.sleep(0)
        called.cancel()  # its turn has come, but it has not heard of it
        await asyncio.gather(waits, called, return_exceptions=True)
        async with turns.turn("next"):
            pass
        assert not turns._queues and not turns._running

    asyncio.run(together())


def test_half_of_the_time_is_left_to_everything_else():
    async def together():
        office = Office(rest=True)
        await office.ask("s", 0.01)
        second = asyncio.create_task(office.ask("s", 0.0))
        await asyncio.sleep(0)
        assert office.served == ["s"], "the next one waits as long as the first took"
        await second
        assert office.served == ["s", "s"]

    asyncio.run(together())
